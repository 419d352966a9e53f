"""The form that reports a problem in a released question."""

from __future__ import annotations

import streamlit as st

from domain.errata import MAX_TEXT_LENGTH
from domain.errors import DomainError
from domain.people import Person
from domain.questions import format_answer, option_letter
from domain.verdicts import ErrorKind
from release import service as release
from ui import state
from ui.address import parse_id
from ui.context import clock, current_person, read_only_session, unit_of_work
from ui.widgets import escape_markdown, run_action, show_notice

RELEASE_PARAMETER, QUESTION_PARAMETER = "release", "question"
_NOTICE = "erratum"


def show_report_form(person: Person, releases: list[release.ReleaseRecord]) -> None:
    """Show the choice of a question, the question as released, and the fields of the report."""
    st.subheader("Report a problem")
    labels = {record.id: f"{record.dataset} · {record.name}" for record in releases}
    requested_id = parse_id(st.query_params.get(RELEASE_PARAMETER))
    left, middle, right = st.columns([1, 1, 2])
    release_id = left.selectbox(
        "Release",
        list(labels),
        index=list(labels).index(requested_id) if requested_id in labels else 0,
        format_func=labels.__getitem__,
        key=f"erratum-release-{'-'.join(map(str, labels))}",
    )
    search_text = middle.text_input(
        "Search",
        st.query_params.get(QUESTION_PARAMETER, ""),
        key=f"erratum-search-{release_id}",
        help="A part of the id or of the text of the question.",
    )
    with read_only_session() as db:
        matches = release.search_reportable_questions(db, by=person, release_id=release_id, text=search_text)
    stems = {match.question_id: match.stem for match in matches}
    question_id = right.selectbox(
        "Question",
        list(stems),
        index=0 if len(stems) == 1 else None,
        format_func=lambda key: f"{key}: {stems[key]}",
        placeholder="Choose a question" if stems else "No question found",
        key=f"erratum-question-{release_id}-{search_text}",
        help=f"The first {release.MAX_MATCHES} matches.",
    )
    if question_id is not None:
        _show_question(person, release_id, question_id)
    show_notice(_NOTICE)


def _show_question(person: Person, release_id: int, question_id: str) -> None:
    try:
        with read_only_session() as db:
            reportable = release.open_reportable_question(
                db, by=person, release_id=release_id, question_id=question_id
            )
    except DomainError as error:
        st.error(escape_markdown(str(error)))
        return
    question = reportable.question
    form_key = f"{release_id}-{question_id}"
    with st.container(border=True):
        lines = [f"**{escape_markdown(question.stem)}**"]
        lines += [f"{option_letter(i)}. {escape_markdown(text)}" for i, text in enumerate(question.options)]
        if reportable.shows_key:
            lines.append(f"Answer key: {escape_markdown(format_answer(question.answer, question.options))}")
            if question.explanation:
                lines.append(f"Explanation: {escape_markdown(question.explanation)}")
        st.markdown("  \n".join(lines))
        kind = st.selectbox(
            "Problem",
            list(ErrorKind),
            index=None,
            format_func=lambda value: value.label,
            placeholder="Choose the kind of problem",
            key=f"erratum-kind-{form_key}",
        )
        st.text_area(
            "Description",
            key=f"erratum-text-{form_key}",
            max_chars=MAX_TEXT_LENGTH,
            help="A corrected release publishes the description with the decision, without your name. Do not "
            "include patient data.",
        )
        st.button(
            "Report problem",
            key=f"erratum-send-{form_key}",
            type="primary",
            disabled=kind is None,
            on_click=run_action,
            args=(_report_problem, release_id, question_id, form_key),
            kwargs={"notice_key": _NOTICE},
        )


def _report_problem(release_id: int, question_id: str, form_key: str) -> str:
    kind = state.get_widget_value(f"erratum-kind-{form_key}")
    if not isinstance(kind, ErrorKind):
        raise DomainError("Choose the kind of problem.")
    person = current_person()
    with read_only_session() as db:
        reportable = release.open_reportable_question(
            db, by=person, release_id=release_id, question_id=question_id
        )
    with unit_of_work() as db:
        release.report_problem(
            db,
            by=person,
            reported=reportable,
            kind=kind,
            text=str(state.get_widget_value(f"erratum-text-{form_key}") or ""),
            now=clock(),
        )
    return f"Reported: {kind.label} in question {question_id}. An adjudicator of its batch decides."
