"""Read: the cases of a reader study, one by one, answered by keyboard; nothing shown reveals the answer."""

from __future__ import annotations

import streamlit as st

from domain.errors import DomainError
from domain.people import Action, Person
from reader_study.service import open_case, read_guideline, studies_for
from reader_study.sheet import ReadingSheet, ReadingStop, StudyForReader
from ui.address import number_in
from ui.context import clock, reading, require_page, unit_of_work
from ui.forms.reading import reading_form
from ui.parts import act, empty_state, human_time, notices, plain, screen
from web.reading.sheet import reading_data
from web.review.guideline import without_images

STUDY = "study"


@screen
def read() -> None:
    """The form with its data. It saves by its own routes, not through this page."""
    person = require_page(Action.READ)  # checked again at each run of the fragment
    with reading() as db:
        mine = studies_for(db, person=person)
    if not mine:
        empty_state(
            "Nothing is yours to read yet",
            "A coordinator names you as a reader of a study. It appears here; there is nothing to set up.",
        )
        return
    chosen = _chosen(mine)
    st.query_params.from_dict({STUDY: str(chosen.study.id)})
    try:
        with reading() as db:
            found = open_case(db, person=person, study_id=chosen.study.id, now=clock())
    except DomainError as error:
        st.warning(plain(str(error)))
        return
    if isinstance(found, ReadingSheet):
        reading_form(reading_data(found, person=person.id), on_over=_nothing)
        return
    _stopped(person, found)
    for other in mine:
        if other.study.id != chosen.study.id and other.place.left:
            label = f"Go on with {plain(other.study.name)} ({other.place.left} left)"
            st.button(label, key=f"read-study-{other.study.id}", on_click=_to, args=(other.study.id,))


def _stopped(person: Person, stop: ReadingStop) -> None:
    """The reason why there is no case now, and what the reader can do."""
    place = stop.place
    notices("reading")
    with st.container(border=True):
        if stop.closed:
            st.markdown(f"**{plain(stop.study.name)} is closed.** A coordinator can open it again.")
        elif stop.guideline is not None:
            st.markdown(f"**{plain(stop.study.name)}: the guideline, before the first case**")
            st.markdown(without_images(stop.guideline))
            words = f"{place.total} cases to read"
            if place.training:
                words = f"{place.training} training cases with feedback come first; then {words}"
            st.caption(f"{words}. You may stop at any time and go on later.")
            st.button(
                "I have read it: begin",
                type="primary",
                key=f"read-guideline-{stop.study.id}",
                on_click=act,
                args=(_read_guideline, person, stop.study.id),
                kwargs={"place": "reading"},
            )
        elif stop.opens_at is not None:
            st.markdown(f"**{plain(stop.study.name)}: the first part is done. Thank you.**")
            st.markdown(
                f"The second part opens {human_time(stop.opens_at, now=clock())} "
                f"({stop.opens_at:%Y-%m-%d %H:%M} UTC), when the days of wash-out are over."
            )
        elif stop.place.total:
            _through(stop)
        else:
            st.markdown(f"**{plain(stop.study.name)} has no case for you.** Ask its coordinator.")


def _through(stop: ReadingStop) -> None:
    st.markdown(f"**{plain(stop.study.name)}: you are through. Thank you.**")
    st.markdown(f"{stop.place.done} of {stop.place.total} cases are read and saved.")
    if stop.result is not None:
        result = stop.result
        st.markdown(
            f"Your own result: {result.count} of {result.n} right, {result.estimate:.1%} "
            f"(95 % interval {result.low:.1%} to {result.high:.1%}). "
            "Training cases and cases that came twice are not counted in."
        )


def _read_guideline(person: Person, study_id: int) -> str | None:
    with unit_of_work() as db:
        read_guideline(db, person=person, study_id=study_id, now=clock())
    return None


def _chosen(mine: list[StudyForReader]) -> StudyForReader:
    """The study in the URL; otherwise the first with unread cases, otherwise the first."""
    asked = number_in(st.query_params.get(STUDY))
    by_id = {each.study.id: each for each in mine}
    if asked in by_id:
        return by_id[asked]
    return next((each for each in mine if each.place.left), mine[0])


def _to(study_id: int) -> None:
    st.query_params.from_dict({STUDY: str(study_id)})


def _nothing() -> None:
    """Does nothing: the script run that the form's event starts finds no case and shows the reason."""


require_page(Action.READ)
read()
