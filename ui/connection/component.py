"""A strip at the top of every page, shown while the server or its database does not answer.

The browser draws the strip, because no script runs while the server is away. When the connection is back,
the strip requests one run. In that run the shell states which click was not saved, and the page shows the
present data. That message stays until the next click. A run of a fragment does not remove it, because it does
not draw the shell.
"""

from __future__ import annotations

import streamlit as st

from web.forms.files import read_bundle

#: All pages share one key, because the strip is the same on every page.
KEY = "overread-connection"

_mount = st.components.v2.component(
    "overread.connection",
    css=read_bundle("connection.css"),
    js=read_bundle("connection.js"),
    isolate_styles=True,
)


def show_connection_strip(message: str | None) -> None:
    """Mount the strip.

    Call this outside of every fragment, so that the strip's request reruns the whole page.

    Args:
        message: a sentence about a click that was not saved during the interruption; None if there was none.
            Pass it in one run only.
    """
    with st.container(key=f"{KEY}-place"):
        _mount(key=KEY, data={"message": message}, on_back_change=_ignore_trigger)


def _ignore_trigger() -> None:
    """Do nothing. Streamlit registers a component's trigger only if it has a callback."""
