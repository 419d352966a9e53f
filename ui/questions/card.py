"""The part of a question that every page shows in the same way."""

from __future__ import annotations

import streamlit as st

from domain.questions import Question, format_answer
from ui.widgets import escape_markdown


def show_stem_options_key(question: Question) -> None:
    """Draw the stem and the options, the right ones ticked; the key in words if there are no options."""
    st.markdown(f"**{escape_markdown(question.stem)}**")
    for i, option in enumerate(question.options):
        is_right = isinstance(question.answer, tuple) and i in question.answer
        st.markdown(f"{'✓' if is_right else '·'} {escape_markdown(option)}")
    if not question.options:
        st.markdown(f"Key: {escape_markdown(format_answer(question.answer, question.options))}")
