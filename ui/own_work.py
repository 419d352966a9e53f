"""A box for one person's work: its progress, and the button to continue."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ui.parts import go_to, plain


def work_box(
    name: str,
    *,
    done: int,
    total: int,
    said: Sequence[str],
    to_do: bool,
    is_begun: bool,
    is_closed: bool,
    key: str,
    page: str,
    **query: object,
) -> None:
    """Draw the name, a bar of ``done`` of ``total``, the lines ``said``; link to ``page`` if work is left."""
    with st.container(border=True):
        words, button = st.columns([4, 1], vertical_alignment="center")
        with words:
            st.markdown(f"**{plain(name)}**")
            st.progress(done / total if total else 0.0)
            st.caption(plain(" · ".join(said)))
        with button:
            if to_do:
                label = "Continue" if is_begun else "Start"
                if st.button(label, key=key, type="primary", width="stretch"):
                    go_to(page, **query)
            else:
                st.caption("Closed" if is_closed else "Done")
