"""What the page Import shows of an import that runs, and of one that is done."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from domain.people import Person
from domain.problems import Refusal
from intake.service import ImportReport
from ui.imports import runs
from ui.parts import act, notices, plain
from ui.tables import table

_SHOWN = 200


@st.fragment(run_every=1.0)
def watch(run: runs.Run) -> None:
    """The import's progress, every second, until it is done."""
    if run.done:
        st.rerun()  # the whole page: there is something else to show now
    progress = run.progress
    st.subheader(f"Importing {plain(run.wish.delivery.name)}")
    st.progress(progress.part, text=f"{progress.part:.0%}")
    st.markdown(
        f"{progress.records:,} records read · {progress.images:,} images read · {progress.refused:,} refused"
    )
    st.caption("It goes on when this page is closed. Until it is done nothing of it is to be seen.")


def outcome(run: runs.Run, person: Person) -> None:
    """What came of an import, and what to do next."""
    report = run.report
    if report is None:
        st.error(plain(run.failure or ""))
    elif run.landed:
        st.success(plain(_landed(report)))
        found = [f"{check} {count:,}" for check, count in report.problems.items() if count]
        st.markdown(f"Structural checks found: {plain(', '.join(found) or 'nothing')}.")
    else:
        st.error(plain(f"Nothing was imported from {report.file_name}: {report.refused:,} refused."))
    if report is not None and report.refused:
        _refusals(report)
    notices("import-run")
    again, rest, _ = st.columns([1, 1.4, 2])
    again.button(
        "Import another file",
        key=f"another-{run.wish.delivery.id}",
        on_click=act,
        args=(_forget, run),
        kwargs={"place": "import-run"},
        type="primary" if run.landed else "secondary",
        width="stretch",
    )
    if report is not None and not run.landed and report.refusals and report.refusals[0].record:
        rest.button(
            "Import the rest, without the refused",
            key=f"rest-{run.wish.delivery.id}",
            on_click=act,
            args=(_without_the_bad, run, person),
            kwargs={"place": "import-run"},
            width="stretch",
        )


def _landed(report: ImportReport) -> str:
    came = f"{report.questions:,} questions, {report.exams:,} new exams and {report.images:,} new images came"
    parts = [f"{came} into {report.dataset} from {report.file_name} ({report.file_format})."]
    if report.known:
        parts.append(f"{report.known:,} were there already and were left out.")
    if report.refused:
        parts.append(f"{report.refused:,} were refused and left out.")
    return " ".join(parts)


def _refusals(report: ImportReport) -> None:
    shown = report.refusals[:_SHOWN]
    table([_row(each) for each in shown])
    more = f"The first {len(shown):,} of {report.refused:,}. " if report.refused > len(shown) else ""
    if report.refusals_file is not None:
        # An own route that asks who is there; Streamlit's own store would serve it to anybody.
        st.markdown(f"{more}[Download all as CSV](/files/refusals/{report.refusals_file.name})")


def _row(refusal: Refusal) -> dict[str, object]:
    return {"Record": refusal.record, "Field": refusal.field, "Reason": refusal.reason}


def _forget(run: runs.Run) -> None:
    runs.forget(run)


def _without_the_bad(run: runs.Run, person: Person) -> None:
    runs.forget(run)
    runs.start(replace(run.wish, skip_bad=True), person)
