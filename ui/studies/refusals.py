"""Shows the refused lines of a file, with field and reason."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.count_texts import count_text
from domain.problems import Refusal
from ui.widgets import escape_markdown

#: The maximum number of refusals on the page.
MAX_REFUSALS_SHOWN = 50
#: The maximum number of refusals without a scroll bar.
_MAX_UNSCROLLED = 8


def describe_refused_lines(count: int) -> str:
    """Return a text such as "3 lines are invalid"."""
    return f"{count_text(count, 'line')} {'is' if count == 1 else 'are'} invalid"


def show_refused(refusals: Sequence[Refusal], *, total: int) -> None:
    """Draw the first of ``total`` refusals as text, because the cells of a table would truncate reasons."""
    if not refusals:
        return
    with st.container(border=True, gap="small", height=400 if len(refusals) > _MAX_UNSCROLLED else "content"):
        for refusal in refusals[:MAX_REFUSALS_SHOWN]:
            location = f"Line {refusal.record}" + (f", {refusal.field}" if refusal.field else "")
            st.markdown(f"**{escape_markdown(location)}**: {escape_markdown(refusal.reason)}")
        shown_count = min(MAX_REFUSALS_SHOWN, len(refusals))
        if shown_count < total:
            st.caption(f"Showing the first {shown_count:,} of {total:,}.")
