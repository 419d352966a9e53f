"""A strip at the top of every page, shown while the server or its database does not answer.

The browser draws it, because no script runs during that time. When the connection is back, the strip
requests one run. In that run the shell states what was not saved, and the page shows the present data. The
message stays until the next click; a fragment run, which does not draw the shell, does not remove it.
"""

from __future__ import annotations

import streamlit as st

from web.forms.files import bundle

KEY = "overread-connection"  # one for all pages: it has no input, and carries nothing from page to page

_mount = st.components.v2.component(
    "overread.connection",
    css=bundle("connection.css"),
    js=bundle("connection.js"),
    isolate_styles=True,
)


def connection_strip(told: str | None) -> None:
    """Mount the strip. Call it outside of every fragment, so that its request runs the whole page.

    ``told`` is a sentence about a click during the interruption. It is passed in one run only.
    """
    with st.container(key=f"{KEY}-place"):
        _mount(key=KEY, data={"told": told}, on_back_change=_nothing)


def _nothing() -> None:
    """Do nothing: Streamlit makes a trigger of every name that has a callback."""
