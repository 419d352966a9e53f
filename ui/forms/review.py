"""The review form as a Streamlit component."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from web.forms.files import form_html, form_script

#: All questions share one key, because one instance avoids flicker and keeps the keyboard focus. The form
#: recognises a new question by the id in its data and then discards its state.
KEY = "review-form"

_mount = st.components.v2.component(
    "overread.review", html=form_html("review"), js=form_script("review"), isolate_styles=True
)


def mount_review_form(data: dict[str, Any], *, on_navigate: Callable[[], None]) -> bool:
    """Mount the form, or pass the next question to it.

    Args:
        data: the content of the form.
        on_navigate: called when the form requests another question; ``ui.state.get_review_request`` returns
            the request.

    Returns:
        Whether the reviewer requested the guideline in this run.
    """
    result = _mount(key=KEY, data=data, on_go_change=on_navigate, on_guideline_change=_ignore_trigger)
    return bool(result.get("guideline"))


def _ignore_trigger() -> None:
    """Do nothing. Streamlit registers a component's trigger only if it has a callback."""
