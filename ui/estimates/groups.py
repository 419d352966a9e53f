"""Error rates side by side, by batch, prompt version, task, category or generator; with examples."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.people import Person
from domain.verdicts import ErrorKind
from review.estimates import KEY_ERROR, Estimate
from review.progress import interval, percent
from review.service import BATCH, GROUPS, Part, counted_version, estimate_groups
from ui.chart import chart
from ui.context import current_workspace, reading
from ui.estimates.charts import intervals
from ui.estimates.sample import sample_of
from ui.parts import plain
from ui.tables import table

_CALLED = {"prompt_version": "Prompt version", BATCH: "Batch"}
_SHOWN = 12  # groups in a table; nobody compares more


def side_by_side(person: Person, dataset: str, batches: Sequence[str]) -> None:
    """Draw the choice of grouping and error, the rate in each group, and examples of each kind of error."""
    st.subheader("Side by side")
    first, second = st.columns(2)
    group = first.selectbox(
        "By",
        [BATCH, *reversed(GROUPS)],
        format_func=lambda name: _CALLED.get(name, name.capitalize()),
        key=f"estimate-by-{dataset}",
    )
    what = second.selectbox(
        "Rate of", [KEY_ERROR, *(kind.value for kind in ErrorKind)], key=f"estimate-of-{dataset}"
    )
    with reading() as db:
        version = counted_version(db, by=person)
    home = str(current_workspace().home)
    found = _estimated(dataset, tuple(batches), group, (home, *version), person)
    shown = found[:_SHOWN]
    if not shown:
        st.caption("Nothing was judged yet.")
        return
    named = [(each.name, _rate(each, what)) for each in shown]
    chart(intervals(named, title=f"{what}: percent of the whole, 95 % interval"))
    table([_row(name, each) for name, each in named])
    if len(found) > _SHOWN:
        st.caption(f"The {_SHOWN} largest of {len(found):,}; the file has all of them.")
    if group == BATCH:
        st.caption("Each batch on its own, in the order in which they were drawn.")
    else:
        st.caption("Many groups are compared here: of twenty intervals one misses its truth by chance alone.")
    with st.expander("Examples of each kind of error"):
        _examples(shown)


@st.cache_data(max_entries=20, ttl=60, show_spinner="Estimating each group …")
def _estimated(
    dataset: str, batches: tuple[str, ...], group: str, version: tuple[object, ...], _person: Person
) -> tuple[Part, ...]:
    """Return the estimates, cached until somebody judges, at most a minute: an import may add questions."""
    read = sample_of(dataset, batches, version, _person)
    with reading() as db:
        return estimate_groups(
            db, by=_person, dataset=dataset, group=group, batches=batches or None, examples=True, read=read
        )


def _rate(each: Part, what: str) -> Estimate:
    return next(rate for rate in each.estimates.every if rate.name == what)


def _row(name: str, each: Estimate) -> dict[str, object]:
    return {
        "Group": name,
        "Estimate": percent(each.rate.estimate),
        "95 % interval": interval(each.rate.low, each.rate.high),
        "Found": each.count,
        "Judged": each.rate.reviewed,
        "Questions": each.whole,
        "Covered": percent(each.covered / each.whole) if each.whole else "",
    }


def _examples(groups: Sequence[Part]) -> None:
    kinds = [kind for kind in ErrorKind if any(kind in each.examples for each in groups)]
    if not kinds:
        st.caption("No error was found.")
    for kind in kinds:
        st.markdown(f"**{kind.value.capitalize()}**")
        for each in groups:
            for question in each.examples.get(kind, ()):
                st.markdown(
                    f"- {plain(each.name)}: [{plain(question.id)}](/browse?question={question.number}) "
                    f"{plain(question.stem)}"
                )
