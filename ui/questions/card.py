"""The part of a question that every page shows in the same way."""

from __future__ import annotations

import streamlit as st

from domain.questions import Question, answer_text
from ui.parts import plain


def stem_options_key(question: Question) -> None:
    """Draw the stem and the options, the right ones ticked; the key in words if there are no options."""
    st.markdown(f"**{plain(question.stem)}**")
    for place, option in enumerate(question.options):
        right = isinstance(question.answer, tuple) and place in question.answer
        st.markdown(f"{'✓' if right else '·'} {plain(option)}")
    if not question.options:
        st.markdown(f"Key: {plain(answer_text(question.answer, question.options))}")
