"""Shows the sentences of a report one after another, with their regions, to be marked."""

from __future__ import annotations

import streamlit as st

from domain.count_texts import count_text
from domain.people import Person
from domain.region_checks import SentenceId, SentenceMark
from generation import service as generation
from generation.region_checks import RegionSheet, RegionTask
from ui import state
from ui.context import clock, read_only_session, unit_of_work
from ui.layout import responsive_columns
from ui.marking.mark_buttons import show_mark_buttons, show_neighbour_buttons
from ui.questions.radiographs import show_radiographs
from ui.widgets import escape_markdown, run_action, show_notice

_NOTICE = "region-marking"


def show_region_marking(person: Person, check_id: int) -> None:
    """Show the chosen sentence in its report, or the first one without a mark."""
    requested_sentence = state.get_selection(_make_selection_name(check_id))
    with read_only_session() as db:
        sheet = generation.open_sentence(
            db,
            person=person,
            check_id=check_id,
            sentence=requested_sentence if isinstance(requested_sentence, SentenceId) else None,
        )
    task = sheet.task if isinstance(sheet, RegionSheet) else sheet
    st.progress(task.done / task.total if task.total else 0.0)
    st.caption(
        f"{escape_markdown(task.name)}: {task.done:,} of {count_text(task.total, 'sentence')} marked. "
        "Each sentence should have one region: where a reader would look for what the sentence states."
    )
    if isinstance(sheet, RegionSheet):
        # The text is first: a narrow window shows it without scrolling.
        text_column, image_column = responsive_columns(2, 3, name="region-marking", gap="medium")
        with text_column:
            _show_sentence(person, sheet)
            _show_undo(person, task)
            _show_report(sheet)
        with image_column:
            _show_radiographs(sheet)
        return
    with st.container(border=True):
        st.markdown(f"**{escape_markdown(task.name)}: every sentence is marked**")
        st.markdown("Undo opens the last one again.")
    _show_undo(person, task)


def _show_sentence(person: Person, sheet: RegionSheet) -> None:
    sentence, check_id = sheet.sentence, sheet.task.check_id
    with st.container(border=True):
        st.caption(
            f"Report {sheet.report_position:,} of {sheet.reports:,} · sentence {sheet.id.sentence:,} of "
            f"{len(sheet.report.checked):,}"
        )
        st.markdown(f"**{escape_markdown(sentence.text)}**")
        if sentence.region is None:
            st.markdown("No region")
            st.caption("Right: the sentence needs no region. Missed: it describes a region of the image.")
        else:
            st.markdown(f"Region: **{escape_markdown(sentence.region)}**")
            st.caption("Wrong sentence: it states something other, or more, than the report states.")
    labels = {mark: mark.label.capitalize() for mark in sentence.marks}
    present_mark = sheet.marks.get(sheet.id)
    key = f"region-{check_id}-{sheet.id.report}-{sheet.id.sentence}-{sheet.revision}"
    show_mark_buttons(
        labels,
        present=present_mark,
        key=key,
        on_click=run_action,
        args=(_save_mark, person, check_id, sheet.id, sheet.revision + 1),
        # After a first mark, the next unmarked sentence follows; after a corrected mark, the next one.
        kwargs={
            "following": sheet.next_unmarked if present_mark is None else sheet.next,
            "notice_key": _NOTICE,
        },
    )
    show_neighbour_buttons(
        _make_selection_name(check_id), previous=sheet.previous, following=sheet.next, key=key
    )


def _show_undo(person: Person, task: RegionTask) -> None:
    st.button(
        "Undo last mark",
        key=f"region-undo-{task.check_id}-{task.done}-{task.last_revision}",
        shortcut="u",
        disabled=task.last is None,
        on_click=run_action,
        args=(_undo_mark, person, task.check_id, task.last, task.last_revision),
        kwargs={"notice_key": _NOTICE},
    )
    show_notice(_NOTICE)


def _show_report(sheet: RegionSheet) -> None:
    """Show the sentences of the report. Those from which the sentence to mark was derived are bold."""
    with st.container(border=True):
        st.caption("Findings and impression")
        lines = []
        for number, text in enumerate(sheet.report.sentences, start=1):
            emphasis = "**" if number in sheet.sentence.sentences else ""
            lines.append(f"{number}. {emphasis}{escape_markdown(text)}{emphasis}")
        st.markdown("\n".join(lines))


def _show_radiographs(sheet: RegionSheet) -> None:
    """Show the radiographs with the boxes of the region, as far as the workspace has them."""
    exam, exam_row_id = sheet.exam, sheet.report.exam_row_id
    if exam is None or exam_row_id is None or not any(image.sha256 for image in exam.radiographs):
        st.caption("The images of this exam are not in the workspace.")
        return
    show_radiographs(exam_row_id, exam, boxes=sheet.boxes, max_height="62vh")
    if sheet.boxes:
        st.caption(f"Box: {escape_markdown(sheet.sentence.region or '')}")
    elif sheet.sentence.region:
        st.caption("No question of this exam has a box of this region.")


def _save_mark(
    person: Person,
    check_id: int,
    sentence: SentenceId,
    revision: int,
    *,
    mark: SentenceMark,
    following: SentenceId | None,
) -> None:
    with unit_of_work() as db:
        generation.mark_sentence(
            db,
            person=person,
            check_id=check_id,
            sentence=sentence,
            revision=revision,
            mark=mark,
            now=clock(),
        )
    state.set_selection(_make_selection_name(check_id), following)


def _undo_mark(person: Person, check_id: int, last_sentence: SentenceId, revision: int) -> None:
    with unit_of_work() as db:
        generation.mark_sentence(
            db,
            person=person,
            check_id=check_id,
            sentence=last_sentence,
            revision=revision + 1,
            mark=None,
            now=clock(),
        )
    state.set_selection(_make_selection_name(check_id), last_sentence)


def _make_selection_name(check_id: int) -> str:
    return f"region-marking-{check_id}"
