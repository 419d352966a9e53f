"""Compares error rates by batch, prompt version, task, category or generator, with examples."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.language_models import mark_test_model
from domain.people import Person
from domain.verdicts import ErrorKind, judgement_label
from review.estimates import KEY_ERROR, Estimate
from review.progress import format_interval, format_percent
from review.service import BATCH_GROUP, GROUPS, GroupEstimates, estimate_groups, load_counts_version
from ui.chart import show_chart
from ui.context import current_workspace, read_only_session
from ui.estimates.charts import build_estimate_chart
from ui.estimates.sample import load_cached_sample
from ui.tables import show_table
from ui.widgets import escape_markdown

_GROUP_LABELS = {"prompt_version": "Prompt version", "generator": "Model or generator", BATCH_GROUP: "Batch"}
_MAX_GROUPS = 12  # groups in the chart and the table


def show_group_comparison(person: Person, dataset: str, batches: Sequence[str]) -> None:
    """Show the choice of grouping and rate, the rate of each group, and examples of each kind of error."""
    st.subheader("Comparison of groups")
    group_column, error_column = st.columns(2)
    group = group_column.selectbox(
        "Group by",
        [BATCH_GROUP, *reversed(GROUPS)],
        format_func=lambda name: _GROUP_LABELS.get(name, name.replace("_", " ").capitalize()),
        key=f"estimate-by-{dataset}",
    )
    rate_name = error_column.selectbox(
        "Rate",
        [KEY_ERROR, *(kind.value for kind in ErrorKind)],
        format_func=judgement_label,
        key=f"estimate-of-{dataset}",
    )
    with read_only_session() as db:
        version = load_counts_version(db, by=person)
    home = str(current_workspace().home)
    all_groups = _load_estimates(dataset, tuple(batches), group, (home, *version), person)
    shown_groups = all_groups[:_MAX_GROUPS]
    if not shown_groups:
        st.caption("No verdicts yet.")
        return
    named_rates = [
        (mark_test_model(group_estimates.name), _find_rate(group_estimates, rate_name))
        for group_estimates in shown_groups
    ]
    title = f"{judgement_label(rate_name)}: % of the dataset, with 95 % interval"
    show_chart(build_estimate_chart(named_rates, title=title))
    show_table([_build_rate_row(name, estimate) for name, estimate in named_rates])
    if len(all_groups) > _MAX_GROUPS:
        st.caption(
            f"Showing the {_MAX_GROUPS} largest of {len(all_groups):,} groups. The file contains all groups."
        )
    if group == BATCH_GROUP:
        st.caption("Batches in the order in which they were drawn.")
    else:
        st.caption(
            "Multiple comparisons: about one of twenty 95 % intervals misses the true value by chance."
        )
    with st.expander("Examples by kind of error"):
        _show_examples(shown_groups)


@st.cache_data(max_entries=20, ttl=60, show_spinner="Estimating groups …")
def _load_estimates(
    dataset: str, batches: tuple[str, ...], group: str, version: tuple[object, ...], _person: Person
) -> tuple[GroupEstimates, ...]:
    """Return the estimates of all groups.

    They are cached until a verdict changes ``version``, but for at most a minute, because imports change them
    without changing ``version``.
    """
    sample = load_cached_sample(dataset, batches, version, _person)
    with read_only_session() as db:
        return estimate_groups(
            db,
            by=_person,
            dataset=dataset,
            group=group,
            batches=batches or None,
            examples=True,
            sample_data=sample,
        )


def _find_rate(group_estimates: GroupEstimates, rate_name: str) -> Estimate:
    return next(rate for rate in group_estimates.estimates.all_estimates if rate.name == rate_name)


def _build_rate_row(name: str, estimate: Estimate) -> dict[str, object]:
    return {
        "Group": name,
        "Estimate": format_percent(estimate.rate.estimate),
        "95 % interval": format_interval(estimate.rate.low, estimate.rate.high),
        "Count": estimate.count,
        "Judged": estimate.rate.reviewed,
        "Questions": estimate.dataset_size,
        "Covered": format_percent(estimate.covered / estimate.dataset_size) if estimate.dataset_size else "",
    }


def _show_examples(groups: Sequence[GroupEstimates]) -> None:
    kinds = [
        kind for kind in ErrorKind if any(kind in group_estimates.examples for group_estimates in groups)
    ]
    if not kinds:
        st.caption("No errors.")
    for kind in kinds:
        st.markdown(f"**{kind.label.capitalize()}**")
        for group_estimates in groups:
            for question in group_estimates.examples.get(kind, ()):
                st.markdown(
                    f"- {escape_markdown(group_estimates.name)}:"
                    f" [{escape_markdown(question.id)}](/browse?question={question.number})"
                    f" {escape_markdown(question.stem)}"
                )
