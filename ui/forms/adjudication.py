"""The adjudication form as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from web.forms.files import form_html, form_script

#: All disputes share one key, because the form itself proceeds from one dispute to the next. Each dispute is
#: sent in full with its id, so no state is left from the previous one.
KEY = "adjudication-form"

_mount = st.components.v2.component(
    "overread.adjudication",
    html=form_html("adjudication"),
    js=form_script("adjudication"),
    isolate_styles=True,
)


def mount_adjudication_form(data: dict[str, Any], *, on_completed: Callable[[], None]) -> None:
    """Mount the form with a dispute. ``on_completed`` is called when there is no further dispute."""
    _mount(key=KEY, data=data, on_over_change=on_completed)
