"""Shows the studies of a reader, each with its progress and a button to continue."""

from __future__ import annotations

import streamlit as st

from domain.count_texts import count_text
from domain.people import Person
from domain.studies import StudyState
from reader_study.service import list_studies_for_reader
from reader_study.sheet import StudyForReader
from ui.context import read_only_session
from ui.work_box import show_work_box


def show_own_studies(person: Person) -> None:
    """Show one box per study, those with open cases first."""
    with read_only_session() as db:
        own_studies = list_studies_for_reader(db, person=person)
    st.subheader("Your studies")
    if not own_studies:
        st.write("No studies yet. A study appears here when a coordinator adds you as a reader.")
        return
    for own_study in sorted(
        own_studies, key=lambda own_study: (not _has_open_cases(own_study), own_study.study.id)
    ):
        _show_study(own_study)


def _show_study(own_study: StudyForReader) -> None:
    progress = own_study.progress
    details = [f"{progress.done:,} of {progress.total:,} cases read"]
    if progress.training_done < progress.training:
        details.append(f"{count_text(progress.training - progress.training_done, 'training case')} first")
    show_work_box(
        own_study.study.name,
        done=progress.done,
        total=progress.total,
        details=details,
        has_work=_has_open_cases(own_study),
        is_begun=bool(progress.done or progress.training_done),
        is_closed=own_study.study.state is StudyState.CLOSED,
        key=f"own-study-{own_study.study.id}",
        page="pages/read.py",
        study=own_study.study.id,
    )


def _has_open_cases(own_study: StudyForReader) -> bool:
    return own_study.study.state is StudyState.OPEN and own_study.progress.remaining > 0
