"""Shows plain tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

import numpy as np
import pandas as pd
import streamlit as st

#: The maximum number of rows that are all visible. Of a longer table, Streamlit shows ten rows at a time.
_MAX_UNSCROLLED_ROWS = 20
#: The heading of a column that is shown only if a row has a note.
_NOTE = "Note"
_ROW_HEIGHT = 35  # pixels, in Streamlit
#: This many columns fit into a narrow window. A table with more columns pins the first one.
_MAX_COLUMNS_UNPINNED = 6
#: The maximum number of rows whose numbers this module formats.
_MAX_STYLED_ROWS = 1_000
#: The width of a first column with long texts in pixels: the longest label of a kind of error fits.
FIRST_COLUMN_WIDTH = 240


def show_table(
    rows: Sequence[Mapping[str, object]],
    *,
    empty: str = "Nothing yet.",
    visible_rows: int | None = None,
    wide: Collection[str] = (),
    decimals: Mapping[str, int] | None = None,
) -> None:
    """Show a plain table. The columns are the keys of the rows; integers have thousands separators.

    If there are many columns, the first one stays in place while a narrow window scrolls the others;
    Streamlit shows it paler. The column "Note" is omitted if there are no notes.

    Args:
        rows: the cells of each row, by the heading of the column.
        empty: the text that is shown if there are no rows.
        visible_rows: the number of rows that are visible without scrolling, for a table with controls below
            it; None to choose by the number of rows.
        wide: the headings of columns with long texts, which get 200 pixels in a table of many columns, or 240
            pixels if it is the first column.
        decimals: the number of decimals of columns with floats, by heading. Other columns show up to four,
            without trailing zeros.
    """
    if not rows:
        st.caption(empty)
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [name for name in names if name != _NOTE or any(row.get(name) for row in rows)]
    visible_cells = [{name: row.get(name) for name in columns} for row in rows]
    frame = pd.DataFrame(visible_cells)
    # A pandas style formats the numbers, because Streamlit's formats depend on the browser's language.
    is_formatted_here = all(_is_formatted_here(value) for row in visible_cells for value in row.values())
    st.dataframe(
        frame.style.format(_build_formatters(columns, decimals or {}), na_rep="")
        if is_formatted_here and len(rows) <= _MAX_STYLED_ROWS
        else frame,
        hide_index=True,
        width="stretch",
        height=_choose_height(len(rows), visible_rows),
        column_config={
            **{name: st.column_config.Column(width="medium") for name in wide},
            names[0]: st.column_config.Column(
                pinned=len(columns) > _MAX_COLUMNS_UNPINNED,
                width=FIRST_COLUMN_WIDTH if names[0] in wide else None,
            ),
        },
    )


def _choose_height(row_count: int, visible_rows: int | None) -> Literal["content", "auto"] | int:
    if visible_rows is None:
        return "content" if row_count <= _MAX_UNSCROLLED_ROWS else "auto"
    # Half of another row shows that the table continues.
    return "content" if row_count <= visible_rows + 1 else round((visible_rows + 1.5) * _ROW_HEIGHT)


def _is_formatted_here(value: object) -> bool:
    """Whether this module formats the value; Streamlit formats all others (a time, a tick, a list)."""
    return value is None or (isinstance(value, str | int | float) and not isinstance(value, bool))


def _build_formatters(
    columns: Sequence[str], decimals: Mapping[str, int]
) -> dict[str, str | Callable[[object], str] | None]:
    return {name: f"{{:,.{decimals[name]}f}}" if name in decimals else _format_cell for name in columns}


def _format_cell(value: object) -> str:
    if isinstance(value, float):  # pandas converts integers to floats in a column with missing values
        return f"{value:,.4f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int | np.integer) else str(value)
