"""The settling form as Streamlit mounts it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from web.forms.files import loader, markup

#: One key for all disputes, on purpose: the form goes from one to the next by itself. It takes over nothing:
#: each dispute comes whole, with its own number.
KEY = "settling-form"

_mount = st.components.v2.component(
    "overread.settling", html=markup("adjudication"), js=loader("adjudication"), isolate_styles=True
)


def settling_form(data: dict[str, Any], *, on_over: Callable[[], None]) -> None:
    """Mount the form on a dispute. ``on_over`` is called when it has no further one."""
    _mount(key=KEY, data=data, on_over_change=on_over)
