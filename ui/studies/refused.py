"""Lines of a file that were refused, with field and reason."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from domain.problems import Refusal
from ui.parts import plain

#: Lines on the page, and of them without a scroll bar of their own.
SHOWN, _WHOLE = 50, 8


def refused_lines(count: int) -> str:
    """How many lines were refused, in words."""
    return "1 line is refused" if count == 1 else f"{count:,} lines are refused"


def show_refused(refusals: Sequence[Refusal], *, of: int) -> None:
    """The first of ``of`` refusals, each reason as text: a cell of a table would cut it off."""
    if not refusals:
        return
    with st.container(border=True, gap="small", height=400 if len(refusals) > _WHOLE else "content"):
        for each in refusals[:SHOWN]:
            where = f"Line {each.record}" + (f", {each.field}" if each.field else "")
            st.markdown(f"**{plain(where)}**: {plain(each.reason)}")
        shown = min(SHOWN, len(refusals))
        if shown < of:
            st.caption(f"The first {shown:,} of {of:,}.")
