"""How tables format the values of their cells."""

from __future__ import annotations

import streamlit as st
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from ui import tables


def _page(rows):
    from ui.tables import show_table

    show_table(rows)


def written(*rows):
    """The texts of the cells, column by column."""
    page = AppTest.from_function(_page, kwargs={"rows": rows}).run()
    assert not page.exception
    [found] = page.dataframe
    shown = convert_arrow_bytes_to_pandas_df(found.proto.arrow_data.styler.display_values)
    return {name: list(shown[name]) for name in shown}


def test_thousands_stand_apart_and_no_number_has_zeros_at_its_end():
    assert written(
        {"who": "rosa", "done": 60_000, "power": 0.312, "left": None},
        {"who": "ravi", "done": 5, "power": 1.0, "left": 1_234},
    ) == {
        "who": ["rosa", "ravi"],
        "done": ["60,000", "5"],
        "power": ["0.312", "1"],
        "left": ["", "1,234"],
    }


def test_a_column_without_a_heading_is_left_out_where_it_is_empty():
    assert list(written({"who": "rosa", "": ""})) == ["who"]
    assert written({"who": "rosa", "": "simulated"})[""] == ["simulated"]


def test_a_column_that_the_first_row_has_not_is_there():
    assert written({"kind": "a"}, {"kind": "b", "if skipped": "1 to 2"})["if skipped"] == ["", "1 to 2"]


def test_of_a_long_table_so_many_rows_are_in_sight_as_asked_for_and_half_a_row(monkeypatch):
    heights = []
    monkeypatch.setattr(st, "dataframe", lambda _shown, **how: heights.append(how["height"]))
    for count in (7, 8):
        tables.show_table([{"batch": f"b-{number}"} for number in range(count)], visible_rows=6)
    # A heading and six and a half rows of 35 pixels each.
    assert heights == ["content", 262]
