"""A strip at the top of every page, shown while the server or its database does not answer.

The browser draws it, because no script runs during that time. When the connection is back, the strip
requests one run. In that run the shell states what was not saved, and the page shows the present data. The
message stays until the next click; a fragment run, which does not draw the shell, does not remove it.
"""

from __future__ import annotations

import streamlit as st

from web.forms.files import read_bundle

KEY = "overread-connection"  # one for all pages: it has no input, and carries nothing from page to page

_mount = st.components.v2.component(
    "overread.connection",
    css=read_bundle("connection.css"),
    js=read_bundle("connection.js"),
    isolate_styles=True,
)


def show_connection_strip(message: str | None) -> None:
    """Mount the strip. Call it outside of every fragment, so that its request runs the whole page.

    ``message`` is a sentence about a click during the interruption. It is passed in one run only.
    """
    with st.container(key=f"{KEY}-place"):
        _mount(key=KEY, data={"message": message}, on_back_change=_ignore_trigger)


def _ignore_trigger() -> None:
    """Do nothing: Streamlit makes a trigger of every name that has a callback."""
