"""Lines of a file that were refused, with field and reason."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.problems import Refusal
from ui.parts import plain

#: The number of lines on the page, and how many of them need no scroll bar of their own.
SHOWN, _WHOLE = 50, 8


def refused_lines(count: int) -> str:
    """Return how many lines were refused, in words."""
    return "1 line is refused" if count == 1 else f"{count:,} lines are refused"


def show_refused(refusals: Sequence[Refusal], *, of: int) -> None:
    """Draw the first of ``of`` refusals, each reason as text, because a table cell would truncate it."""
    if not refusals:
        return
    with st.container(border=True, gap="small", height=400 if len(refusals) > _WHOLE else "content"):
        for each in refusals[:SHOWN]:
            where = f"Line {each.record}" + (f", {each.field}" if each.field else "")
            st.markdown(f"**{plain(where)}**: {plain(each.reason)}")
        shown = min(SHOWN, len(refusals))
        if shown < of:
            st.caption(f"The first {shown:,} of {of:,}.")
