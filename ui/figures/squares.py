"""Coloured cells on the page as a table: the names of its rows stay in sight when it is scrolled sideways."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from reader_study.report.shades import GREY, ON_GREY, colour, ink
from ui.ground import ground

Record = dict[str, Any]


def show_squares(cells: Sequence[Record], *, rows: Sequence[str], columns: Sequence[str], of: str) -> None:
    """Cells with up to three lines of text, in the colours of the files; one that is not there stays empty.

    Args:
        cells: ``row, column, shade, first, second, third, hint``; shades from -1 to 1, None is grey.
        rows, columns: in their order.
        of: what they are, for whoever listens to the page.
    """
    st.html(squares(cells, rows=rows, columns=columns, of=of, paper=ground()))


def squares(
    cells: Sequence[Record], *, rows: Sequence[str], columns: Sequence[str], of: str, paper: str
) -> str:
    """The table as HTML; ``paper`` is the colour under the names, which cells are scrolled below."""
    found = {(each["row"], each["column"]): each for each in cells}
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    lines = [
        f'<tr><th scope="row" style="background:{paper}">{escape(row)}</th>'
        + "".join(_cell(found.get((row, column))) for column in columns)
        + "</tr>"
        for row in rows
    ]
    return (
        f'<div class="overread-squares" tabindex="0" role="region" aria-label="{escape(of)}"><table>'
        f'<tr><td style="background:{paper}"></td>{heads}</tr>{"".join(lines)}</table></div>'
    )


def _cell(each: Record | None) -> str:
    if each is None:
        return "<td></td>"
    shade = each["shade"]
    fill, dark = (GREY, ON_GREY) if shade is None else (colour(shade), ink(shade))
    more = "".join(f"<br><small>{escape(each[name])}</small>" for name in ("second", "third") if each[name])
    return (
        f'<td style="background:{fill};color:{dark}" title="{escape(each["hint"])}">'
        f"<b>{escape(each['first'])}</b>{more}</td>"
    )
