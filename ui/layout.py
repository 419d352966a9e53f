"""Columns that adapt to the width of the window."""

from __future__ import annotations

from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def responsive_columns(
    *shares: float, name: str, gap: Literal["small", "medium", "large"] = "large"
) -> list[DeltaGenerator]:
    """Return columns side by side, or one below the other if the window is narrower than 1,100 pixels.

    Streamlit itself stacks columns only below 640 pixels. At that width, a table in half the window no longer
    shows its last columns.

    Args:
        shares: the relative widths of the columns.
        name: the name of the group of columns, unique on the page.
        gap: the space between the columns.
    """
    return st.container(key=f"overread-beside-{name}").columns(shares, gap=gap)


def grid_columns(count: int, *, name: str) -> list[DeltaGenerator]:
    """Return columns of equal width. In a window narrower than 1,300 pixels, a row has two columns."""
    return st.container(key=f"overread-grid-{name}").columns(count)


def show_metrics(*metrics: tuple[str, str, str]) -> None:
    """Show metrics, given as (label, value, help), in a row that wraps. A metric is as wide as its text."""
    with st.container(horizontal=True, gap="large"):
        for label, value, help_text in metrics:
            st.metric(label, value, help=help_text, width="content")
