"""The estimates of a whole dataset: figures, chart and table."""

from __future__ import annotations

import streamlit as st

from domain.count_texts import count_text
from domain.people import Person
from review.estimates import Estimate
from review.progress import format_interval, format_percent
from review.service import DatasetEstimates, estimate_dataset
from ui.chart import show_chart
from ui.context import read_only_session
from ui.estimates.charts import build_estimate_chart, property_label
from ui.estimates.sample import load_cached_sample
from ui.tables import show_table
from ui.widgets import escape_markdown


@st.cache_data(max_entries=20, ttl=60, show_spinner="Estimating …")
def load_cached_estimates(
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


def show_dataset_estimates(whole_estimates: DatasetEstimates) -> None:
    """Draw the estimates. Each has n and an interval."""
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
