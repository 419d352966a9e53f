"""Shows an open answer to a marker, with the buttons to mark it by mouse or keyboard."""

from __future__ import annotations

from urllib.parse import quote

import streamlit as st

from domain.count_texts import count_text
from domain.marks import AnswerId, AnswerMark, MarkRevision
from domain.people import Person
from domain.vocabulary import View
from reader_study import service as studies
from reader_study.marking_sheet import MarkingSheet, MarkingTask
from reader_study.open_answers import OpenAnswer
from ui import state
from ui.context import clock, read_only_session, unit_of_work
from ui.layout import responsive_columns
from ui.marking.mark_buttons import show_mark_buttons, show_neighbour_buttons
from ui.widgets import escape_markdown, run_action, show_notice

_NOTICE = "marking"


def show_marking(person: Person, study_id: int) -> None:
    """Show the chosen answer, or the first one that is not marked."""
    requested_answer = state.get_selection(_make_selection_name(study_id))
    with read_only_session() as db:
        sheet = studies.load_marking_sheet(
            db,
            person=person,
            study_id=study_id,
            answer=requested_answer if isinstance(requested_answer, AnswerId) else None,
        )
    task = sheet.task if isinstance(sheet, MarkingSheet) else sheet
    st.progress(task.done / task.total if task.total else 0.0)
    st.caption(
        f"{escape_markdown(task.study.name)}: {task.done:,} of {count_text(task.total, 'answer')} marked. "
        "Equal answers are marked once; who answered is not shown."
    )
    if isinstance(sheet, MarkingSheet):
        _show_answer(person, sheet)
    else:
        _show_end(task)
    st.button(
        "Undo last mark",
        key=f"marking-undo-{study_id}-{_make_mark_key(task.last)}",
        shortcut="u",
        disabled=task.last is None,
        on_click=run_action,
        args=(_undo_mark, person, study_id, task.last),
        kwargs={"notice_key": _NOTICE},
    )
    show_notice(_NOTICE)


def _show_answer(person: Person, sheet: MarkingSheet) -> None:
    question, answer = sheet.question, sheet.answer
    # The text is first: a narrow window shows it without scrolling.
    text_column, image_column = responsive_columns(2, 3, name="marking", gap="medium")
    with image_column:
        _show_radiographs(sheet)
    with text_column:
        with st.container(border=True):
            st.caption(f"Answer {sheet.number:,} of {sheet.task.total:,} · case {sheet.case_number:,}")
            st.markdown(escape_markdown(question.stem))
            left, right = st.columns(2)
            left.caption("Answer key")
            left.markdown(escape_markdown(str(question.answer)))
            right.caption("Answer to mark")
            right.markdown(f"**{escape_markdown(answer.text)}**")
            if question.explanation:
                with st.expander("Explanation of the key"):
                    st.markdown(escape_markdown(question.explanation))
        _show_buttons(person, sheet)


def _show_radiographs(sheet: MarkingSheet) -> None:
    """Show the radiographs of the exam; a click opens one at full size."""
    images = [radiograph for radiograph in sheet.radiographs if radiograph.sha256]
    if not images:
        st.caption("The images of this exam are not in the workspace.")
        return
    for column, radiograph in zip(st.columns(len(images)), images, strict=True):
        source = f"/radiographs/{sheet.exam_row_id}/{quote(radiograph.id, safe='')}"
        view = "" if radiograph.view is View.UNKNOWN else f" {radiograph.view}"
        column.html(
            f'<a href="{source}?longest=3000" target="_blank">'
            f'<img src="{source}?longest=1200" alt="radiograph{view}" '
            'style="width:100%;max-height:70vh;object-fit:contain;background:#000"></a>'
        )
    st.caption("Click an image to open it at full size.")


def _show_buttons(person: Person, sheet: MarkingSheet) -> None:
    """Show the buttons for the marks, and for the previous and the next answer."""
    study_id, answer = sheet.task.study.id, sheet.answer
    key = f"marking-{study_id}-{answer.id.case_id}-{answer.id.text_sha256}-{sheet.revision}"
    # After a first mark, the next unmarked answer follows; after a corrected mark, the next answer.
    following = sheet.next_unmarked if sheet.mark is None else sheet.next
    show_mark_buttons(
        {mark: mark.label.capitalize() for mark in AnswerMark},
        present=sheet.mark,
        key=key,
        on_click=run_action,
        args=(_save_mark, person, study_id, answer.id, sheet.revision + 1),
        kwargs={"following": following, "notice_key": _NOTICE},
    )
    show_neighbour_buttons(
        _make_selection_name(study_id),
        previous=None if sheet.previous is None else sheet.previous.id,
        following=None if sheet.next is None else sheet.next.id,
        key=key,
    )


def _show_end(task: MarkingTask) -> None:
    with st.container(border=True):
        if task.total:
            st.markdown(f"**{escape_markdown(task.study.name)}: every answer is marked**")
            st.markdown("Answers that are given later appear here. Undo opens the last marked answer again.")
        else:
            st.markdown(f"**{escape_markdown(task.study.name)}: no answers to mark**")
            st.markdown("Answers appear here as soon as readers or models have given them.")


def _save_mark(
    person: Person,
    study_id: int,
    answer: AnswerId,
    revision: int,
    *,
    mark: AnswerMark,
    following: OpenAnswer | None,
) -> None:
    with unit_of_work() as db:
        studies.mark_answer(
            db,
            person=person,
            study_id=study_id,
            answer=answer,
            revision=revision,
            mark=mark,
            now=clock(),
        )
    state.set_selection(_make_selection_name(study_id), None if following is None else following.id)


def _undo_mark(person: Person, study_id: int, last_mark: MarkRevision) -> None:
    with unit_of_work() as db:
        studies.mark_answer(
            db,
            person=person,
            study_id=study_id,
            answer=last_mark.answer,
            revision=last_mark.revision + 1,
            mark=None,
            now=clock(),
        )
    state.set_selection(_make_selection_name(study_id), last_mark.answer)


def _make_mark_key(last_mark: MarkRevision | None) -> str:
    """Return a part of a widget key that identifies a mark."""
    return (
        "none"
        if last_mark is None
        else f"{last_mark.answer.case_id}-{last_mark.answer.text_sha256}-{last_mark.revision}"
    )


def _make_selection_name(study_id: int) -> str:
    return f"marking-{study_id}"
