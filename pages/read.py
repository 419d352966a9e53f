"""Read: the cases of a reader study, one by one, answered by keyboard; nothing shown reveals the answer."""

from __future__ import annotations

import streamlit as st

from domain.count_texts import count_text
from domain.errors import DomainError
from domain.people import Action, Person
from reader_study.service import list_studies_for_reader, open_case, record_guideline_read
from reader_study.sheet import ReadingSheet, ReadingStop, StudyForReader
from ui.address import parse_id
from ui.context import clock, read_only_session, require_page, unit_of_work
from ui.forms.preferences import add_preferences
from ui.forms.reading import mount_reading_form
from ui.widgets import (
    escape_markdown,
    format_relative_time,
    page_fragment,
    run_action,
    show_empty_state,
    show_notice,
)
from web.reading.sheet import reading_sheet_to_json
from web.review.guideline import replace_images_by_links

STUDY_PARAMETER = "study"


@page_fragment
def main() -> None:
    """Show the form with its data. The form saves through its own routes, not through this page."""
    person = require_page(Action.READ)  # checked again at each run of the fragment
    with read_only_session() as db:
        own_studies = list_studies_for_reader(db, person=person)
    if not own_studies:
        show_empty_state(
            "No studies yet",
            "A study appears here when a coordinator adds you as a reader.",
        )
        return
    own_study = _choose_study(own_studies)
    st.query_params.from_dict({STUDY_PARAMETER: str(own_study.study.id)})
    try:
        with read_only_session() as db:
            case_or_stop = open_case(db, person=person, study_id=own_study.study.id, now=clock())
    except DomainError as error:
        st.warning(escape_markdown(str(error)))
        return
    if isinstance(case_or_stop, ReadingSheet):
        data = reading_sheet_to_json(case_or_stop, person=person.id)
        mount_reading_form(add_preferences(data, person), on_completed=_ignore_event)
        return
    _show_stop(person, case_or_stop)
    for other_study in own_studies:
        if other_study.study.id != own_study.study.id and other_study.progress.remaining:
            label = (
                f"Continue with study “{escape_markdown(other_study.study.name)}” "
                f"({count_text(other_study.progress.remaining, 'case')} left)"
            )
            st.button(
                label,
                key=f"read-study-{other_study.study.id}",
                on_click=_go_to_study,
                args=(other_study.study.id,),
            )


def _show_stop(person: Person, stop: ReadingStop) -> None:
    """Show why there is no case now, and what the reader can do."""
    progress = stop.progress
    with st.container(border=True):
        if stop.closed:
            st.markdown(f"**{escape_markdown(stop.study.name)} is closed.** A coordinator can reopen it.")
        elif stop.guideline is not None:
            st.markdown(f"**{escape_markdown(stop.study.name)}: guideline**")
            st.markdown(replace_images_by_links(stop.guideline))
            text = f"{count_text(progress.total, 'case')} to read"
            if progress.training:
                text = f"{count_text(progress.training, 'training case')} with feedback, then {text}"
            st.caption(f"{text}. You can stop at any time and continue later.")
            st.button(
                "Start reading",
                type="primary",
                key=f"read-guideline-{stop.study.id}",
                on_click=run_action,
                args=(_confirm_guideline, person, stop.study.id),
                kwargs={"notice_key": "reading"},
            )
        elif stop.opens_at is not None:
            st.markdown(f"**{escape_markdown(stop.study.name)}: first part complete**")
            st.markdown(
                f"The second part opens {format_relative_time(stop.opens_at, now=clock())} "
                f"({stop.opens_at:%Y-%m-%d %H:%M} UTC), after the wash-out period."
            )
        elif stop.progress.total:
            _show_completed(stop)
        else:
            st.markdown(f"**{escape_markdown(stop.study.name)} has no cases for you.** Ask a coordinator.")
    show_notice("reading")


def _show_completed(stop: ReadingStop) -> None:
    st.markdown(f"**{escape_markdown(stop.study.name)}: study complete**")
    st.markdown(f"You have read {stop.progress.done} of {stop.progress.total} cases. All answers are saved.")
    if stop.result is not None:
        result = stop.result
        st.markdown(
            f"Your result: {result.count} of {result.n} correct, {result.estimate:.1%} (95 % interval "
            f"{result.low:.1%} to {result.high:.1%}). The result excludes training cases, repeated cases "
            "and unmarked open answers."
        )


def _confirm_guideline(person: Person, study_id: int) -> str | None:
    with unit_of_work() as db:
        record_guideline_read(db, person=person, study_id=study_id, now=clock())
    return None


def _choose_study(own_studies: list[StudyForReader]) -> StudyForReader:
    """Return the study in the URL; otherwise the first study with unread cases, otherwise the first study."""
    requested_id = parse_id(st.query_params.get(STUDY_PARAMETER))
    studies_by_id = {own_study.study.id: own_study for own_study in own_studies}
    if requested_id in studies_by_id:
        return studies_by_id[requested_id]
    return next((own_study for own_study in own_studies if own_study.progress.remaining), own_studies[0])


def _go_to_study(study_id: int) -> None:
    st.query_params.from_dict({STUDY_PARAMETER: str(study_id)})


def _ignore_event() -> None:
    """Do nothing. The form's event starts a script run, which finds no case and shows the reason."""


require_page(Action.READ)
main()
