"""Dataset estimates: rates of the whole dataset from its reviewed sample, sample sizes, group comparison."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from domain.errors import Refused
from domain.people import Action, Person
from review.estimates import Estimate
from review.progress import interval, percent
from review.service import Whole, counted_version, estimable, estimate_whole
from ui import state
from ui.chart import chart
from ui.context import current_workspace, reading, require_page
from ui.estimates.charts import intervals
from ui.estimates.groups import side_by_side
from ui.estimates.sample import sample_of
from ui.parts import empty_state, plain, screen
from ui.tables import table


@screen
def main() -> None:
    """One dataset at a time; every figure with its n and its interval."""
    person = require_page(Action.SEE_PROGRESS)
    st.title("Dataset estimates")
    with reading() as db:
        batches = estimable(db, by=person)
    if not batches:
        empty_state(
            "No random sample yet",
            "Draw a batch at random and have it judged; what it says of the whole dataset is shown here.",
            page="pages/sampling.py",
            label="Draw a batch",
        )
        return
    first, second, third = st.columns([2, 3, 1], vertical_alignment="bottom")
    names = list(batches)
    before = state.chosen("dataset")
    dataset = first.selectbox(
        "Dataset",
        names,
        index=names.index(before) if before in names else 0,
        key="dataset-to-estimate",  # allow fixed-widget-key: the widget selects the dataset
    )
    state.set_chosen("dataset", dataset)
    chosen = second.multiselect(
        "Batches", batches[dataset], key=f"estimate-batches-{dataset}", placeholder="All random ones"
    )
    goal = third.number_input(
        "Plan for ± points",
        min_value=0.1,
        max_value=20.0,
        value=2.0,
        step=0.5,
        key=f"estimate-goal-{dataset}",
    )
    try:
        with reading() as db:
            version = counted_version(db, by=person)
        home = str(current_workspace().home)
        found = _estimated(dataset, tuple(chosen), float(goal) / 100, (home, *version), person)
    except Refused as error:
        st.info(plain(str(error)))
        return
    if not found.estimates.reviewed:
        empty_state(
            "Nothing is judged yet",
            f"{found.estimates.whole:,} questions are in {dataset}; their sample waits for its reviewers.",
            page="pages/assign.py",
            label="Assign questions",
        )
        return
    _whole(found)
    side_by_side(person, dataset, chosen)
    address = urlencode([("dataset", dataset), *(("batch", name) for name in chosen)])
    st.markdown(f"[All figures as CSV](/files/estimates.csv?{address})")


@st.cache_data(max_entries=20, ttl=60, show_spinner="Estimating …")
def _estimated(
    dataset: str, chosen: tuple[str, ...], goal: float, version: tuple[object, ...], _person: Person
) -> Whole:
    """The estimates, cached until there is a new verdict.

    At most for a minute, since questions may be imported in the meantime.
    """
    read = sample_of(dataset, chosen, version, _person)
    with reading() as db:
        return estimate_whole(db, by=_person, dataset=dataset, batches=chosen or None, goal=goal, read=read)


def _whole(found: Whole) -> None:
    said = found.estimates
    st.markdown(
        f"**{said.reviewed:,} judged questions stand for {said.covered:,} of {said.whole:,}.**  \n"
        f":small[Batches: {plain(', '.join(found.batches))}. Each stratum counts by its size.]"
    )
    columns = st.columns(4)
    for column, each in zip(columns, (*said.outcomes, said.key_errors), strict=True):
        column.metric(each.name.capitalize(), percent(each.rate.estimate))
        column.caption(
            f"95 % {interval(each.rate.low, each.rate.high)}, {each.count:,} of {each.rate.reviewed:,} judged"
        )
    for plan in found.plans:
        st.info(plain(plan.sentence), icon=":material/flag:")
    for note in found.notes:
        st.caption(plain(note))
    # Chart and table are not side by side: the chart's scale and the table's last columns would not fit.
    chart(
        intervals(
            [(each.name, each) for each in (said.key_errors, *said.errors)],
            title="percent of the whole, 95 % interval",
        )
    )
    table([_row(each) for each in said.every])
    st.caption(
        "Intervals by Jeffreys' posterior of each stratum with the finite population, questions of one "
        "exam counted together. “Worst”: the upper limit, were all that is not covered or skipped so."
    )


def _row(each: Estimate) -> dict[str, object]:
    bounds = {"If skipped": interval(*each.rate.bounds)} if each.rate.bounds else {}
    return {
        "Of the whole": each.name,
        "Estimate": percent(each.rate.estimate),
        "95 % interval": interval(each.rate.low, each.rate.high),
        "Found": each.count,
        "Judged": each.rate.reviewed,
        "Worst": percent(each.worst),
        **bounds,
    }


main()
