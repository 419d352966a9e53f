"""How tables format the values of their cells."""

from __future__ import annotations

import streamlit as st
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from ui import tables


def _page(rows, decimals):
    from ui.tables import show_table

    show_table(rows, decimals=decimals)


def render_cells(*rows, decimals=None):
    """The texts of the cells, column by column."""
    page = AppTest.from_function(_page, kwargs={"rows": rows, "decimals": decimals}).run()
    assert not page.exception
    [table] = page.dataframe
    cells = convert_arrow_bytes_to_pandas_df(table.proto.arrow_data.styler.display_values)
    return {name: list(cells[name]) for name in cells}


def test_numbers_have_thousands_separators_and_no_trailing_zeros():
    assert render_cells(
        {"who": "rosa", "done": 60_000, "power": 0.312, "left": None},
        {"who": "ravi", "done": 5, "power": 1.0, "left": 1_234},
    ) == {
        "who": ["rosa", "ravi"],
        "done": ["60,000", "5"],
        "power": ["0.312", "1"],
        "left": ["", "1,234"],
    }


def test_column_of_notes_is_omitted_if_it_is_empty():
    assert list(render_cells({"who": "rosa", "Note": ""})) == ["who"]
    assert render_cells({"who": "rosa", "Note": "simulated"})["Note"] == ["simulated"]


def test_column_with_decimals_keeps_trailing_zeros():
    cells = render_cells({"power": 0.63, "other": 0.5}, {"power": None, "other": 1.0}, decimals={"power": 3})
    assert cells == {"power": ["0.630", ""], "other": ["0.5", "1"]}


def test_column_missing_in_the_first_row_is_shown():
    assert render_cells({"kind": "a"}, {"kind": "b", "if skipped": "1 to 2"})["if skipped"] == ["", "1 to 2"]


def test_long_table_shows_the_requested_rows_and_half_of_the_next_one(monkeypatch):
    heights = []
    monkeypatch.setattr(st, "dataframe", lambda _rows, **options: heights.append(options["height"]))
    for count in (7, 8):
        tables.show_table([{"batch": f"b-{number}"} for number in range(count)], visible_rows=6)
    # A heading and six and a half rows of 35 pixels each.
    assert heights == ["content", 262]
