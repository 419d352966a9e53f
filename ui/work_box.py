"""A box for one person's work: its progress, and the button to continue."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ui.widgets import escape_markdown, go_to


def show_work_box(
    name: str,
    *,
    done: int,
    total: int,
    details: Sequence[str],
    has_work: bool,
    is_begun: bool,
    is_closed: bool,
    key: str,
    page: str,
    **query: object,
) -> None:
    """Draw the name, a progress bar and the lines ``details``; link to ``page`` if work is left."""
    with st.container(border=True):
        text_column, button_column = st.columns([4, 1], vertical_alignment="center")
        with text_column:
            st.markdown(f"**{escape_markdown(name)}**")
            st.progress(done / total if total else 0.0)
            st.caption(escape_markdown(" · ".join(details)))
        with button_column:
            if has_work:
                label = "Continue" if is_begun else "Start"
                if st.button(label, key=key, type="primary", width="stretch"):
                    go_to(page, **query)
            else:
                st.caption("Closed" if is_closed else "Done")
