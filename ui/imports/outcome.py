"""What the page Import shows of an import that runs, and of one that is done."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from domain.people import Person
from domain.problems import Refusal
from intake.service import ImportReport
from ui.behind.shown import is_going_on
from ui.behind.work import Work, forget
from ui.imports import runs
from ui.parts import act, notices, plain
from ui.tables import table

_SHOWN = 200


def watch(work: Work) -> None:
    """The import's progress, every second, until it is done."""
    st.subheader(f"Importing {plain(_wish(work).delivery.name)}")
    if not is_going_on(work.name):
        st.rerun()  # it was done just now
    st.caption("Until it is done nothing of it is to be seen.")


def outcome(work: Work, person: Person) -> None:
    """What came of an import, and what to do next."""
    wish = _wish(work)
    report = work.result if isinstance(work.result, ImportReport) else None
    if work.failure is not None:
        st.error(plain(work.failure))
    else:
        st.success(plain(work.said or ""))
    if report is not None and work.failure is None:
        found = [f"{check} {count:,}" for check, count in report.problems.items() if count]
        st.markdown(f"Structural checks found: {plain(', '.join(found) or 'nothing')}.")
    if report is not None and report.refused:
        _refusals(report)
    notices("import-run")
    again, rest, _ = st.columns([1, 1.4, 2])
    again.button(
        "Import another file",
        key=f"another-{wish.delivery.id}",
        on_click=act,
        args=(forget, work.name),
        kwargs={"place": "import-run"},
        type="secondary" if work.failure else "primary",
        width="stretch",
    )
    if report is not None and work.failure and report.refusals and report.refusals[0].record:
        rest.button(
            "Import the rest, without the refused",
            key=f"rest-{wish.delivery.id}",
            on_click=act,
            args=(_without_the_bad, wish, person),
            kwargs={"place": "import-run"},
            width="stretch",
        )


def _wish(work: Work) -> runs.Wish:
    if not isinstance(work.about, runs.Wish):
        raise TypeError(f"{work.name} is no import")
    return work.about


def _refusals(report: ImportReport) -> None:
    shown = report.refusals[:_SHOWN]
    table([_row(each) for each in shown])
    more = f"The first {len(shown):,} of {report.refused:,}. " if report.refused > len(shown) else ""
    if report.refusals_file is not None:
        # An own route that asks who is there; Streamlit's own store would serve it to anybody.
        st.markdown(f"{more}[Download all as CSV](/files/refusals/{report.refusals_file.name})")


def _row(refusal: Refusal) -> dict[str, object]:
    return {"Record": refusal.record, "Field": refusal.field, "Reason": refusal.reason}


def _without_the_bad(wish: runs.Wish, person: Person) -> None:
    forget(runs.name_of(wish))
    runs.start(replace(wish, skip_bad=True), person)
