"""The layout of a page's parts: side by side on a wide page, one below the other on a narrow one."""

from __future__ import annotations

from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def responsive_columns(
    *shares: float, name: str, gap: Literal["small", "medium", "large"] = "large"
) -> list[DeltaGenerator]:
    """Return columns with these shares of the width.

    If the window is narrower than 1,100 pixels, each column takes the full width. Streamlit stacks columns
    only below 640 pixels. A table of half the width loses its last columns before that.

    Args:
        shares: of the width.
        name: of this group of columns; unique on a page.
        gap: between the columns.
    """
    return st.container(key=f"overread-beside-{name}").columns(shares, gap=gap)


def grid_columns(count: int, *, name: str) -> list[DeltaGenerator]:
    """Return columns of equal width, of which a window below 1,300 pixels has two in a row."""
    return st.container(key=f"overread-grid-{name}").columns(count)


def show_metrics(*metrics: tuple[str, str, str]) -> None:
    """Draw numbers in a row, each as (label, value, help). Each is as wide as its text, and the row wraps."""
    with st.container(horizontal=True, gap="large"):
        for label, value, help_text in metrics:
            st.metric(label, value, help=help_text, width="content")
