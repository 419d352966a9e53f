"""Coloured cells on the page as a table: the names of its rows stay in sight when it is scrolled sideways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from reader_study.report.shades import GREY, ON_GREY, colour, ink
from reader_study.report.svg import Square
from ui.ground import ground


def show_squares(
    cells: Mapping[tuple[str, str], Square], *, rows: Sequence[str], columns: Sequence[str], of: str
) -> None:
    """Cells with up to three lines of text, in the colours of the files; one that is not there stays empty.

    Args:
        cells: by row and column.
        rows, columns: in their order.
        of: what they are, for whoever listens to the page.
    """
    st.html(squares(cells, rows=rows, columns=columns, of=of, paper=ground()))


def squares(
    cells: Mapping[tuple[str, str], Square],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    of: str,
    paper: str,
) -> str:
    """The table as HTML; ``paper`` is the colour under the names, which cells are scrolled below."""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    lines = [
        f'<tr><th scope="row" style="background:{paper}">{escape(row)}</th>'
        + "".join(_cell(cells.get((row, column))) for column in columns)
        + "</tr>"
        for row in rows
    ]
    return (
        f'<div class="overread-squares" tabindex="0" role="region" aria-label="{escape(of)}"><table>'
        f'<tr><td style="background:{paper}"></td>{heads}</tr>{"".join(lines)}</table></div>'
    )


def _cell(square: Square | None) -> str:
    if square is None:
        return "<td></td>"
    fill, dark = (GREY, ON_GREY) if square.shade is None else (colour(square.shade), ink(square.shade))
    first, *others = square.lines
    more = "".join(f"<br><small>{escape(line)}</small>" for line in others)
    return (
        f'<td style="background:{fill};color:{dark}" title="{escape(square.hint)}">'
        f"<b>{escape(first)}</b>{more}</td>"
    )
