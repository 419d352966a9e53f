"""A box for a person's batch or study: its progress, and the button to continue."""

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
    """Show the box.

    Args:
        name: the name of the batch or study.
        done: the number of finished questions or cases.
        total: the number of all questions or cases.
        details: texts that are shown below the progress bar.
        has_work: whether there is work left; if so, a button opens ``page``.
        is_begun: whether the person has begun, so that the button says "Continue" and not "Start".
        is_closed: whether the batch or study is closed.
        key: the key of the button.
        page: the file of the page, such as ``"pages/review.py"``.
        query: the values in the address of the page.
    """
    with st.container(border=True):
        text_column, button_column = st.columns([4, 1], vertical_alignment="center")
        with text_column:
            st.markdown(f"**{escape_markdown(name)}**")
            st.progress(done / total if total else 0.0)
            st.caption(escape_markdown(" · ".join(details)))
        with button_column:
            if has_work:
                button_label = "Continue" if is_begun else "Start"
                if st.button(button_label, key=key, type="primary", width="stretch"):
                    go_to(page, **query)
            else:
                st.caption("Closed" if is_closed else "Done")
