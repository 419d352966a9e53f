"""Lines of a file that were refused, with field and reason."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.count_texts import count_text
from domain.problems import Refusal
from ui.widgets import escape_markdown

#: The number of lines on the page, and how many of them need no scroll bar of their own.
MAX_REFUSALS_SHOWN, _MAX_UNSCROLLED = 50, 8


def describe_refused_lines(count: int) -> str:
    """Return how many lines were refused, in words."""
    return f"{count_text(count, 'line')} {'is' if count == 1 else 'are'} invalid"


def show_refused(refusals: Sequence[Refusal], *, total: int) -> None:
    """Draw the first of ``total`` refusals, each reason as text, because a table cell would truncate it."""
    if not refusals:
        return
    with st.container(border=True, gap="small", height=400 if len(refusals) > _MAX_UNSCROLLED else "content"):
        for refusal in refusals[:MAX_REFUSALS_SHOWN]:
            location = f"Line {refusal.record}" + (f", {refusal.field}" if refusal.field else "")
            st.markdown(f"**{escape_markdown(location)}**: {escape_markdown(refusal.reason)}")
        shown_count = min(MAX_REFUSALS_SHOWN, len(refusals))
        if shown_count < total:
            st.caption(f"Showing the first {shown_count:,} of {total:,}.")
