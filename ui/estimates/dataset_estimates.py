"""The estimates of a whole dataset: figures, chart and table."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.count_texts import count_text
from domain.people import Person
from domain.verdicts import judgement_label
from review.estimates import Estimate
from review.estimates_text import METHOD, METHOD_BY_RISK
from review.progress import format_interval, format_percent
from review.service import DatasetEstimates, StoppingRule, estimate_dataset
from ui.chart import show_chart
from ui.context import read_only_session
from ui.estimates.charts import build_estimate_chart
from ui.estimates.sample import load_cached_risks, load_cached_sample
from ui.tables import show_table
from ui.widgets import escape_markdown


@st.cache_data(max_entries=20, ttl=60, show_spinner="Estimating …")
def load_cached_estimates(
    dataset: str, chosen_batches: tuple[str, ...], goal: float, version: tuple[object, ...], _person: Person
) -> DatasetEstimates:
    """Compute the estimates, cached until there is a new verdict, but for at most a minute.

    The limit is needed because questions may be imported in the meantime.
    """
    sample = load_cached_sample(dataset, chosen_batches, version, _person)
    risks = load_cached_risks(dataset, sample.frame_key, str(version[0]), sample, _person)
    with read_only_session() as db:
        return estimate_dataset(
            db,
            by=_person,
            dataset=dataset,
            batches=chosen_batches or None,
            target_half_width=goal,
            sample_data=sample,
            dataset_risks=risks,
        )


def show_dataset_estimates(whole_estimates: DatasetEstimates) -> None:
    """Show the estimates. Each has n and an interval."""
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
            f"95 % interval {format_interval(estimate.rate.low, estimate.rate.high)}, {estimate.count:,} of"
            f" {estimate.rate.reviewed:,} judged"
        )
    if whole_estimates.stopping is not None:
        _show_stopping_rule(whole_estimates.stopping)
    for plan in whole_estimates.plans:
        st.info(escape_markdown(plan.description), icon=":material/flag:")
    for note in whole_estimates.notes:
        st.caption(escape_markdown(note))
    # Chart and table are not side by side: the chart's scale and the table's last columns would not fit.
    show_chart(
        build_estimate_chart(
            [
                (judgement_label(estimate.name), estimate)
                for estimate in (estimates.key_errors, *estimates.errors)
            ],
            title="% of the dataset, with 95 % interval",
        )
    )
    show_table([_build_estimate_row(estimate) for estimate in estimates.all_estimates], wide=("Property",))
    st.caption(
        f"{METHOD_BY_RISK if estimates.is_weighted else METHOD} “Worst case”: the upper limit if all "
        "questions that are skipped or not covered had this property."
    )
    _show_both_estimates(estimates.all_estimates)


def _show_stopping_rule(stopping: StoppingRule) -> None:
    """Show whether review can stop, by an interval that stays valid if it is checked after every verdict."""
    rate, target = stopping.estimate.rate, f"± {100 * stopping.target_half_width:g} points"
    half_width = stopping.estimate.half_width
    if rate.estimate is None or half_width is None:
        return
    text = (
        f"Key errors are {format_percent(rate.estimate)} "
        f"({format_interval(rate.low, rate.high)}, ± {100 * half_width:.1f} points). This interval is "
        f"valid however often it is checked, so review may stop as soon as it is within {target}."
    )
    if stopping.is_reached:
        st.success(f"The stopping rule is reached. {text}", icon=":material/check_circle:")
    else:
        st.info(f"The stopping rule is not reached yet. {text}", icon=":material/hourglass_empty:")


def _show_both_estimates(estimates: Sequence[Estimate]) -> None:
    """Show the estimates by probability beside the prediction-powered estimates."""
    st.subheader("Estimates with predictions")
    rows = [_build_powered_row(estimate) for estimate in estimates if estimate.powered and estimate.count]
    if not rows:
        st.caption(
            "A second estimate uses the risk of every question: problems of checks and answers of models. "
            "There is none yet. Run the checks, import predictions or evaluate a model."
        )
        return
    show_table(rows, wide=("Property",))
    st.caption(
        "“By probability”: Horvitz-Thompson, from the judged questions only. “With predictions”: "
        "prediction-powered inference (PPI++), which adds the risk of all questions. It is empty if fewer "
        "than five questions have the property, or if the risk does not predict it. The effective n is the "
        "size of a simple random sample with the same precision."
    )


def _build_powered_row(estimate: Estimate) -> dict[str, object]:
    powered = estimate.powered
    assert powered is not None  # noqa: S101 - the caller passes no other estimates
    is_tuned = powered.tuning > 0
    return {
        "Property": judgement_label(estimate.name),
        "By probability": format_percent(estimate.rate.estimate),
        "95 % interval": format_interval(estimate.rate.low, estimate.rate.high),
        "Effective n": _format_size(estimate.effective_size),
        "With predictions": format_percent(powered.estimate) if is_tuned else "",
        "95 % interval (predictions)": format_interval(powered.low, powered.high) if is_tuned else "",
        "Effective n (predictions)": _format_size(powered.effective_size) if is_tuned else "",
    }


def _format_size(size: float | None) -> str:
    return "" if size is None else f"{size:,.0f}"


def _build_estimate_row(estimate: Estimate) -> dict[str, object]:
    bounds = {"If skipped": format_interval(*estimate.rate.bounds)} if estimate.rate.bounds else {}
    return {
        "Property": judgement_label(estimate.name),
        "Estimate": format_percent(estimate.rate.estimate),
        "95 % interval": format_interval(estimate.rate.low, estimate.rate.high),
        "Count": estimate.count,
        "Judged": estimate.rate.reviewed,
        "Worst case": format_percent(estimate.worst_limit),
        **bounds,
    }
