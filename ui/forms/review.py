"""The review form as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from web.forms.files import loader, markup

#: One key for all questions, on purpose: one instance avoids flicker and keeps the keyboard focus. The form
#: recognises a new question by the number in its data, and carries nothing over.
KEY = "judging-form"

_mount = st.components.v2.component(
    "overread.judging", html=markup("review"), js=loader("review"), isolate_styles=True
)


def judging_form(data: dict[str, Any], *, on_go: Callable[[], None]) -> bool:
    """Mount the form, or pass it the next question.

    ``on_go`` is called when the form requests another question; ``ui.state.judging_request`` returns which.

    Returns:
        Whether the reviewer requested the guideline in this run.
    """
    result = _mount(key=KEY, data=data, on_go_change=on_go, on_guideline_change=_nothing)
    return bool(result.get("guideline"))


def _nothing() -> None:
    """Do nothing: Streamlit makes a trigger of every name that has a callback."""
