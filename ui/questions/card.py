"""Shows the stem, the options and the key of a question in the same way on all pages."""

from __future__ import annotations

import streamlit as st

from domain.questions import Question, format_answer
from ui.widgets import escape_markdown


def show_stem_options_key(question: Question) -> None:
    """Show the stem and the options, with the correct ones ticked; without options, show the key as text."""
    st.markdown(f"**{escape_markdown(question.stem)}**")
    for i, option in enumerate(question.options):
        is_correct = isinstance(question.answer, tuple) and i in question.answer
        st.markdown(f"{'✓' if is_correct else '·'} {escape_markdown(option)}")
    if not question.options:
        st.markdown(f"Answer key: {escape_markdown(format_answer(question.answer, question.options))}")
