"""Plain tables of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import streamlit as st

#: Rows of a table that are shown at once; of more of them Streamlit shows ten, and they scroll within it.
_WHOLE = 20
_ROW_HEIGHT = 35  # pixels, Streamlit's
#: Columns that fit into a narrow window.
_NARROW = 6
#: Rows at most whose numbers are written one by one.
_STYLED = 1_000


def table(
    rows: Sequence[Mapping[str, object]], *, empty: str = "Nothing yet.", at_once: int | None = None
) -> None:
    """A plain table; the columns are the keys of the rows, and whole numbers have their thousands apart.

    ``at_once`` rows are in sight, where what is done with them stands below and should be too.

    Where the columns are many, the first stays while the others are scrolled in a narrow window (Streamlit
    writes it paler then). A column without a heading is for remarks, and is left out where there are none.
    """
    if not rows:
        st.caption(empty)
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    shown = [name for name in names if name or any(row.get(name) for row in rows)]
    shown_rows = [{name: row.get(name) for name in shown} for row in rows]
    frame = pd.DataFrame(shown_rows)
    # By a style: Streamlit's own formats write numbers in the browser's language, unlike the text around.
    is_plain = all(_is_written(value) for row in shown_rows for value in row.values())
    st.dataframe(
        frame.style.format(_said, na_rep="") if is_plain and len(rows) <= _STYLED else frame,
        hide_index=True,
        width="stretch",
        height=_height(len(rows), at_once),
        column_config={names[0]: st.column_config.Column(pinned=len(shown) > _NARROW)},
    )


def _height(rows: int, at_once: int | None) -> Literal["content", "auto"] | int:
    if at_once is None:
        return "content" if rows <= _WHOLE else "auto"
    # Half a row more, so that it is seen that there are others.
    return "content" if rows <= at_once + 1 else round((at_once + 1.5) * _ROW_HEIGHT)


def _is_written(value: object) -> bool:
    """Whether it is written here; all else (a time, a tick, a list) is drawn by Streamlit."""
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))


def _said(value: object) -> str:
    if isinstance(value, float):  # of a count too, in a column in which another is missing
        return f"{value:,.4f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int | np.integer) else str(value)
