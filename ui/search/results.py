"""Shows the questions that match a search, page by page, with thumbnails."""

from __future__ import annotations

from urllib.parse import quote

import streamlit as st

from browsing.service import Search, SearchPage, SearchResult, count_matches, search_questions
from domain.count_texts import count_text
from domain.people import Person
from domain.verdicts import judgement_label
from ui import state
from ui.context import read_only_session
from ui.widgets import escape_markdown

_PAGE_SIZE = 20


def show_results(person: Person, search: Search) -> None:
    """Show the current page of the list. A new search starts at its first page."""
    position = state.get_browse_position(search)
    with read_only_session() as db:
        matches = search_questions(
            db, by=person, search=search, after=position if position >= 0 else 0,
            before=-position if position < 0 else None, most=_PAGE_SIZE,
        )  # fmt: skip
        count, is_exact = count_matches(db, by=person, search=search)
    if not matches.questions:
        st.info("No questions match. Remove a filter or a search word.")
        return
    _show_pager(search, matches, count_text(count, "question") if is_exact else f"{count:,} or more")
    for question in matches.questions:
        _show_question(question)


def _show_pager(search: Search, matches: SearchPage, count_label: str) -> None:
    first_id, last_id = matches.questions[0].number, matches.questions[-1].number
    # A horizontal container instead of columns, which would truncate the labels in a narrow window.
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{count_label}**, in import order", width="stretch")
        _show_pager_button(
            "Previous page", "arrow_back", "Left", search, -first_id, has_page=matches.has_previous
        )
        _show_pager_button("Next page", "arrow_forward", "Right", search, last_id, has_page=matches.has_next)


def _show_pager_button(
    label: str, icon: str, arrow: str, search: Search, position: int, *, has_page: bool
) -> None:
    st.button(
        label,
        icon=f":material/{icon}:",
        shortcut=f"Shift+Arrow{arrow}",
        key=f"browse-{label}-{abs(position)}",
        disabled=not has_page,
        on_click=state.set_browse_position,
        args=(search, position),
    )


def _show_question(question: SearchResult) -> None:
    with st.container(border=True):
        image_column, text_column = st.columns([1, 9], vertical_alignment="center")
        if question.radiograph is not None:
            address = f"/radiographs/{question.exam_row_id}/{quote(question.radiograph, safe='')}?longest=300"
            image_column.markdown(f"![]({address})")
        properties = [
            f"answer format: {question.format.label}",
            question.difficulty and f"difficulty: {question.difficulty}",
            question.task and f"task: {question.task}",
            question.category and f"category: {question.category}",
            *_describe_decisions(question),
        ]
        text_column.markdown(
            f"[{escape_markdown(question.id)}](/browse?question={question.number})"
            f" {escape_markdown(question.stem)} "
            f" \n:small[{escape_markdown(' · '.join(str(value) for value in properties if value))}]"
        )


def _describe_decisions(question: SearchResult) -> list[str]:
    decisions = sorted(question.decisions)
    if not decisions:
        return []
    texts = ", ".join(judgement_label(decision) for decision in decisions)
    return [f"{count_text(len(decisions), 'verdict')}: {texts}"]
