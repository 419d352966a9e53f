"""The reading form as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from web.forms.files import form_html, form_script

#: All cases share one key, because the form itself proceeds from case to case, and one instance keeps the
#: keyboard focus. Each case is sent in full with its id, so no state is left from the previous one.
KEY = "reading-form"

_mount = st.components.v2.component(
    "overread.reading", html=form_html("reading"), js=form_script("reading"), isolate_styles=True
)


def mount_reading_form(data: dict[str, Any], *, on_completed: Callable[[], None]) -> None:
    """Mount the form with a case.

    ``on_completed`` is called when there is no further case; the page then shows why.
    """
    _mount(key=KEY, data=data, on_over_change=on_completed)
