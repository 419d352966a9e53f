"""Readings that were given elsewhere come into a study by file, behind the page."""

from __future__ import annotations

import streamlit as st

from domain.errors import Refused
from domain.people import Person
from reader_study import service as studies
from reader_study.service import OutsideReadings
from ui import state
from ui.behind.shown import is_going_on, what_came_of
from ui.behind.work import Work, work_of
from ui.context import clock, unit_of_work
from ui.imports.deliveries import Delivery
from ui.parts import act, notices
from ui.studies.by_file import begin_with_file, clear_when_in
from ui.studies.refused import show_refused


def show_readings(person: Person, study: str, study_id: int) -> None:
    """The form; while a file comes in, how far it is; then how many came in, or what was refused."""
    st.subheader("Readings from outside")
    work = f"readings-{study_id}"
    clear_when_in(work)
    form = state.form(work)
    st.file_uploader("CSV or JSON Lines, overread.reading/1", key=f"{form}-file")
    if not is_going_on(work):
        st.button(
            "Bring in the readings",
            key=f"{form}-go",
            on_click=act,
            args=(_take, person, study, work, form),
            kwargs={"place": "readings"},
        )
        what_came_of(work)
        came = work_of(work)
        if came is not None and isinstance(came.result, OutsideReadings):
            show_refused(came.result.refusals)
    notices("readings")
    st.caption(
        "Columns: study, reader, question_id, answer, confidence, seconds, read_at. For readers without an "
        "account; the file lands whole or not at all."
    )


def _take(person: Person, study: str, work: str, form: str) -> None:
    def take(delivery: Delivery, begun: Work) -> str:  # allow write-without-act: a thread of its own
        with unit_of_work() as db:
            found = studies.import_readings(
                db,
                by=person,
                study=study,
                content=delivery.path,
                file=delivery.name,
                now=clock(),
                progress=lambda done, of: begun.tell(done, of, f"readings of {delivery.name} written"),
            )
        begun.result = found
        if found.refusals:
            raise Refused(f"Nothing came in: {len(found.refusals):,} refused.")
        readers = "1 reader" if len(found.readers) == 1 else f"{len(found.readers):,} readers"
        return f"{found.readings:,} readings of {readers} came in."

    begin_with_file(person, work, form, take)  # allow write-without-act: a thread of its own
