"""Dataset estimates: rates of the whole dataset from its reviewed sample, sample sizes, group comparison."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from domain.count_texts import count_text
from domain.errors import Refused
from domain.people import Action, Person
from review.estimates import Estimate
from review.progress import format_interval, format_percent
from review.service import DatasetEstimates, estimate_dataset, list_estimable_batches, load_counts_version
from ui.chart import show_chart
from ui.context import current_workspace, read_only_session, require_page
from ui.dataset_choice import choose_dataset
from ui.estimates.charts import build_estimate_chart, property_label
from ui.estimates.groups import show_group_comparison
from ui.estimates.sample import load_cached_sample
from ui.tables import show_table
from ui.widgets import escape_markdown, screen, show_empty_state


@screen
def main() -> None:
    """Show one dataset. Every estimate has n and an interval."""
    person = require_page(Action.SEE_PROGRESS)
    st.title("Dataset estimates")
    with read_only_session() as db:
        batches = list_estimable_batches(db, by=person)
    if not batches:
        show_empty_state(
            "No random sample yet",
            "Draw a random batch and have it reviewed. Estimates for the whole dataset are shown here.",
            page="pages/sampling.py",
            label="Draw a batch",
        )
        return
    dataset_column, batches_column, goal_column = st.columns([2, 3, 1], vertical_alignment="bottom")
    dataset = choose_dataset(person, list(batches), key="dataset-to-estimate", container=dataset_column)
    chosen_batches = batches_column.multiselect(
        "Batches", batches[dataset], key=f"estimate-batches-{dataset}", placeholder="All random batches"
    )
    goal = goal_column.number_input(
        "Target (± points)",
        min_value=0.1,
        max_value=20.0,
        value=2.0,
        step=0.5,
        key=f"estimate-goal-{dataset}",
    )
    try:
        with read_only_session() as db:
            version = load_counts_version(db, by=person)
        home = str(current_workspace().home)
        whole_estimates = _load_estimates(
            dataset, tuple(chosen_batches), float(goal) / 100, (home, *version), person
        )
    except Refused as error:
        st.info(escape_markdown(str(error)))
        return
    if not whole_estimates.estimates.reviewed:
        show_empty_state(
            "No verdicts yet",
            f"The sample of {dataset} ({count_text(whole_estimates.estimates.dataset_size, 'question')}) "
            "has not been reviewed yet.",
            page="pages/assign.py",
            label="Assign questions",
        )
        return
    _show_estimates(whole_estimates)
    show_group_comparison(person, dataset, chosen_batches)
    address = urlencode([("dataset", dataset), *(("batch", name) for name in chosen_batches)])
    st.markdown(f"[All figures as CSV](/files/estimates.csv?{address})")


@st.cache_data(max_entries=20, ttl=60, show_spinner="Estimating …")
def _load_estimates(
    dataset: str, chosen_batches: tuple[str, ...], goal: float, version: tuple[object, ...], _person: Person
) -> DatasetEstimates:
    """Compute the estimates, cached until there is a new verdict.

    They are cached for at most a minute, because questions may be imported in the meantime.
    """
    sample = load_cached_sample(dataset, chosen_batches, version, _person)
    with read_only_session() as db:
        return estimate_dataset(
            db,
            by=_person,
            dataset=dataset,
            batches=chosen_batches or None,
            target_half_width=goal,
            sample_data=sample,
        )


def _show_estimates(whole_estimates: DatasetEstimates) -> None:
    estimates = whole_estimates.estimates
    st.markdown(
        f"**{count_text(estimates.reviewed, 'judged question')} represent {estimates.covered:,} of "
        f"{count_text(estimates.dataset_size, 'question')}.**  \n:small[Batches: "
        f"{escape_markdown(', '.join(whole_estimates.batches))}. Strata are weighted by size.]"
    )
    columns = st.columns(4)
    for column, estimate in zip(columns, (*estimates.outcomes, estimates.key_errors), strict=True):
        column.metric(estimate.name.capitalize(), format_percent(estimate.rate.estimate))
        column.caption(
            f"95 % {format_interval(estimate.rate.low, estimate.rate.high)}, {estimate.count:,} of"
            f" {estimate.rate.reviewed:,} judged"
        )
    for plan in whole_estimates.plans:
        st.info(escape_markdown(plan.description), icon=":material/flag:")
    for note in whole_estimates.notes:
        st.caption(escape_markdown(note))
    # Chart and table are not side by side: the chart's scale and the table's last columns would not fit.
    show_chart(
        build_estimate_chart(
            [
                (property_label(estimate.name), estimate)
                for estimate in (estimates.key_errors, *estimates.errors)
            ],
            title="% of the dataset, with 95 % interval",
        )
    )
    show_table([_estimate_row(estimate) for estimate in estimates.all_estimates])
    st.caption(
        "Intervals are Clopper and Pearson's at the effective sample size (Korn and Graubard) with a "
        "finite-population correction; questions of one exam are counted as a cluster. “Worst case”: the "
        "upper limit if all questions that are skipped or not covered had this property."
    )


def _estimate_row(estimate: Estimate) -> dict[str, object]:
    bounds = {"If skipped": format_interval(*estimate.rate.bounds)} if estimate.rate.bounds else {}
    return {
        "Property": property_label(estimate.name),
        "Estimate": format_percent(estimate.rate.estimate),
        "95 % interval": format_interval(estimate.rate.low, estimate.rate.high),
        "Count": estimate.count,
        "Judged": estimate.rate.reviewed,
        "Worst case": format_percent(estimate.worst_limit),
        **bounds,
    }


main()
