"""The reader studies of one person, each with how far it is and the way to go on."""

from __future__ import annotations

import streamlit as st

from domain.people import Person
from domain.studies import StudyState
from reader_study.service import studies_for
from reader_study.sheet import StudyForReader
from ui.context import reading
from ui.parts import go_to, plain


def show_own_studies(person: Person) -> None:
    """One box a study, those with something left first."""
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
    with st.container(border=True):
        words, button = st.columns([4, 1], vertical_alignment="center")
        with words:
            st.markdown(f"**{plain(each.study.name)}**")
            st.progress(place.done / place.total if place.total else 0.0)
            said = [f"{place.done:,} of {place.total:,} cases read"]
            if place.training_done < place.training:
                said.append(f"{place.training - place.training_done} training cases come first")
            st.caption(plain(" · ".join(said)))
        with button:
            if _to_do(each):
                label = "Continue" if place.done or place.training_done else "Start"
                if st.button(label, key=f"own-study-{each.study.id}", type="primary", width="stretch"):
                    go_to("pages/read.py", study=each.study.id)
            else:
                st.caption("Closed" if each.study.state is StudyState.CLOSED else "Done")


def _to_do(each: StudyForReader) -> bool:
    return each.study.state is StudyState.OPEN and each.place.left > 0
