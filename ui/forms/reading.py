"""The reading form as Streamlit mounts it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from web.forms.files import loader, markup

#: One key for all cases, on purpose: the form goes from case to case by itself, and one instance keeps the
#: keyboard. It takes over nothing: each case comes whole, with its own number.
KEY = "reading-form"

_mount = st.components.v2.component(
    "overread.reading", html=markup("reading"), js=loader("reading"), isolate_styles=True
)


def reading_form(data: dict[str, Any], *, on_over: Callable[[], None]) -> None:
    """Mount the form on a case. ``on_over`` is called when it has no further one: the page says why."""
    _mount(key=KEY, data=data, on_over_change=on_over)
