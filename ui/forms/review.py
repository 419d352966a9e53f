"""The review form as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from web.forms.files import form_html, form_script

#: One key for all questions, on purpose: one instance avoids flicker and keeps the keyboard focus. The form
#: recognises a new question by the number in its data, and carries nothing over.
KEY = "judging-form"

_mount = st.components.v2.component(
    "overread.judging", html=form_html("review"), js=form_script("review"), isolate_styles=True
)


def mount_review_form(data: dict[str, Any], *, on_navigate: Callable[[], None]) -> bool:
    """Mount the form, or pass it the next question.

    ``on_navigate`` is called when the form requests another question; ``ui.state.get_review_request`` returns
    which.

    Returns:
        Whether the reviewer requested the guideline in this run.
    """
    result = _mount(key=KEY, data=data, on_go_change=on_navigate, on_guideline_change=_ignore_trigger)
    return bool(result.get("guideline"))


def _ignore_trigger() -> None:
    """Do nothing: Streamlit makes a trigger of every name that has a callback."""
