"""Readings that were given elsewhere come into a study by file, behind the page."""

from __future__ import annotations

import streamlit as st

from domain.errors import Refused
from domain.people import Person
from reader_study import service as studies
from reader_study.service import OutsideReadings
from ui.behind.work import Work
from ui.context import clock, unit_of_work
from ui.imports.deliveries import Delivery
from ui.studies.by_file import FileForm, Typed, draw
from ui.studies.refused import refused_lines, show_refused


def show_readings(person: Person, study: str, study_id: int) -> None:
    """The form; while a file comes in, how far it is; then how many came in, or what was refused."""
    st.subheader("Readings from outside")
    asked = FileForm(
        person=person,
        study=study,
        work=f"readings-{study_id}",
        file="CSV or JSON Lines, overread.reading/1",
        go="Bring in the readings",
        take=_take,  # allow write-without-act: the form begins it by act
        outcome=_outcome,
    )
    draw(asked)
    st.caption(
        "Columns: study, reader, question_id, answer, confidence, seconds, read_at. For readers without an "
        "account; the file lands whole or not at all."
    )


def _take(person: Person, study: str, _: Typed, delivery: Delivery, work: Work) -> str:
    with unit_of_work() as db:
        found = studies.import_readings(
            db,
            by=person,
            study=study,
            content=delivery.path,
            file=delivery.name,
            now=clock(),
            progress=lambda done, of: work.tell(done, of, f"readings of {delivery.name} written"),
        )
    work.result = found
    if found.refusals:
        raise Refused(f"Nothing of {delivery.name} came in: {refused_lines(len(found.refusals))}.")
    readers = "1 reader" if len(found.readers) == 1 else f"{len(found.readers):,} readers"
    return f"{found.readings:,} readings of {readers} came in from {delivery.name}."


def _outcome(found: OutsideReadings) -> None:
    show_refused(found.refusals, of=len(found.refusals))
