"""Plain tables of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import streamlit as st

#: The number of rows up to which all are shown; of a longer table Streamlit shows ten, which scroll.
_MAX_UNSCROLLED_ROWS = 20
_ROW_HEIGHT = 35  # pixels, in Streamlit
#: The number of columns that fit into a narrow window.
_MAX_COLUMNS_UNPINNED = 6
#: The number of rows up to which numbers are formatted here.
_MAX_STYLED_ROWS = 1_000


def show_table(
    rows: Sequence[Mapping[str, object]], *, empty: str = "Nothing yet.", visible_rows: int | None = None
) -> None:
    """Draw a plain table; the columns are the keys of the rows, and whole numbers have thousands separators.

    ``visible_rows`` is the number of rows in sight, for a table with controls below it that should be in
    sight
    too.

    If there are many columns, the first stays in place while a narrow window scrolls the others (Streamlit
    then draws it paler). A column without a heading is for remarks, and is omitted if there are none.
    """
    if not rows:
        st.caption(empty)
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [name for name in names if name or any(row.get(name) for row in rows)]
    visible_cells = [{name: row.get(name) for name in columns} for row in rows]
    frame = pd.DataFrame(visible_cells)
    # With a pandas style: Streamlit's own formats use the browser's language, unlike the text of the page.
    is_formatted_here = all(_is_formatted_here(value) for row in visible_cells for value in row.values())
    st.dataframe(
        frame.style.format(_format_cell, na_rep="")
        if is_formatted_here and len(rows) <= _MAX_STYLED_ROWS
        else frame,
        hide_index=True,
        width="stretch",
        height=_table_height(len(rows), visible_rows),
        column_config={names[0]: st.column_config.Column(pinned=len(columns) > _MAX_COLUMNS_UNPINNED)},
    )


def _table_height(rows: int, visible_rows: int | None) -> Literal["content", "auto"] | int:
    if visible_rows is None:
        return "content" if rows <= _MAX_UNSCROLLED_ROWS else "auto"
    # Half a row more, to show that there are others.
    return "content" if rows <= visible_rows + 1 else round((visible_rows + 1.5) * _ROW_HEIGHT)


def _is_formatted_here(value: object) -> bool:
    """Whether this module formats the value; Streamlit draws all others (a time, a tick, a list)."""
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))


def _format_cell(value: object) -> str:
    if isinstance(value, float):  # also a count, in a column with a missing value
        return f"{value:,.4f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int | np.integer) else str(value)
