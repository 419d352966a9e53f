"""A strip at the top of every page, shown while the server or its database does not answer.

It is drawn by the browser alone, since no run of a script comes then. When the line is back it asks for one
run: the shell then says what was not saved, and the page shows what the database has now. What is said stays
until the next click: a run of a fragment, which draws no shell, would not take it away.
"""

from __future__ import annotations

import streamlit as st

from web.forms.files import bundle

KEY = "overread-connection"  # one for all pages: it asks nothing, and takes nothing over

_mount = st.components.v2.component(
    "overread.connection",
    css=bundle("connection.css"),
    js=bundle("connection.js"),
    isolate_styles=True,
)


def connection_strip(told: str | None) -> None:
    """Mount it outside of every fragment, so that its asking runs the whole page.

    ``told`` is what became of a click while the line was cut, in a sentence that comes once.
    """
    with st.container(key=f"{KEY}-place"):
        _mount(key=KEY, data={"told": told}, on_back_change=_nothing)


def _nothing() -> None:
    """Streamlit makes a trigger of every name that has a callback."""
