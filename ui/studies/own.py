"""The reader studies of one person, each with its progress and a link to continue."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from domain.studies import StudyState
from reader_study.service import studies_for
from reader_study.sheet import StudyForReader
from ui.context import reading
from ui.own_work import work_box


def show_own_studies(person: Person) -> None:
    """Draw one box per study, those with open cases first."""
    with reading() as db:
        mine = studies_for(db, person=person)
    st.subheader("Your studies")
    if not mine:
        st.write("Nothing is yours to read yet. A coordinator names you as a reader; it appears here.")
        return
    for each in sorted(mine, key=lambda found: (not _to_do(found), found.study.id)):
        _study(each)


def _study(each: StudyForReader) -> None:
    place = each.place
    said = [f"{place.done:,} of {place.total:,} cases read"]
    if place.training_done < place.training:
        said.append(f"{place.training - place.training_done:,} training cases come first")
    work_box(
        each.study.name,
        done=place.done,
        total=place.total,
        said=said,
        to_do=_to_do(each),
        is_begun=bool(place.done or place.training_done),
        is_closed=each.study.state is StudyState.CLOSED,
        key=f"own-study-{each.study.id}",
        page="pages/read.py",
        study=each.study.id,
    )


def _to_do(each: StudyForReader) -> bool:
    return each.study.state is StudyState.OPEN and each.place.left > 0
