"""Shows two questions side by side."""

from __future__ import annotations

import streamlit as st

from domain.duplicates import ComparedQuestion
from domain.questions import format_answer, option_letter
from quality.service import ComparedPair
from ui.widgets import escape_markdown


def show_pair(pair: ComparedPair) -> None:
    """Show both questions with options and answer key."""
    columns = st.columns(2, border=True)
    for column, question, key in zip(
        columns, (pair.first, pair.second), (pair.first_key, pair.second_key), strict=True
    ):
        with column:
            _show_question(question, key)


def _show_question(question: ComparedQuestion, key: str) -> None:
    st.caption(escape_markdown(f"Question {key}"))
    st.markdown(f"**{escape_markdown(question.stem)}**")
    for index, option in enumerate(question.options):
        st.markdown(escape_markdown(f"{option_letter(index)}. {option}"))
    answer = format_answer(question.answer, question.options)
    st.markdown(f"Answer key: {escape_markdown(answer)}")
