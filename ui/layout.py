"""How parts stand on a page: beside each other where it is wide, one below the other where it is not."""

from __future__ import annotations

from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def beside(
    *shares: float, name: str, gap: Literal["small", "medium", "large"] = "large"
) -> list[DeltaGenerator]:
    """Columns of these shares of the width; under 1,000 pixels of window each has the whole of it.

    Streamlit does that under 640 only, where a table of half the width has long lost its last columns.

    Args:
        shares: of the width.
        name: of the pair, once on a page.
        gap: between them.
    """
    return st.container(key=f"overread-beside-{name}").columns(shares, gap=gap)


def figures(*shown: tuple[str, str, str]) -> None:
    """Numbers in a row, each with its label and its help, as wide as they are: none is cut, the row wraps."""
    with st.container(horizontal=True, gap="large"):
        for label, value, told in shown:
            st.metric(label, value, help=told, width="content")
