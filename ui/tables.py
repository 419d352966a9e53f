"""Plain tables of a page."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

#: Rows of a table that are shown at once; more of them scroll within it.
_WHOLE = 20
#: Columns that fit into a narrow window.
_NARROW = 6
#: Rows at most whose numbers are written one by one.
_STYLED = 1_000


def table(rows: Sequence[dict[str, object]], *, empty: str = "Nothing yet.") -> None:
    """A plain table; the columns are the keys of the rows, and whole numbers have their thousands apart.

    Where the columns are many, the first stays while the others are scrolled in a narrow window (Streamlit
    writes it paler then). A column without a heading is for remarks, and is left out where there are none.
    """
    if not rows:
        st.caption(empty)
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    shown = [name for name in names if name or any(row.get(name) for row in rows)]
    frame = pd.DataFrame([{name: row.get(name) for name in shown} for row in rows])
    counts = [name for name in shown if all(type(row.get(name)) is int for row in rows)]
    # By a style: Streamlit's own formats write numbers in the browser's language, unlike the text around.
    is_styled = bool(counts) and len(rows) <= _STYLED
    st.dataframe(
        frame.style.format("{:,}", subset=counts) if is_styled else frame,
        hide_index=True,
        width="stretch",
        height="content" if len(rows) <= _WHOLE else "auto",
        column_config={names[0]: st.column_config.Column(pinned=len(shown) > _NARROW)},
    )
