"""Coloured cells of a report on its page, as a table."""

from __future__ import annotations

from ui.figures.squares import squares

CELL = {"shade": 0.5, "first": "0.62", "second": "0.5 to 0.7", "third": "n 9", "hint": "said <b>"}


def table(*cells: dict) -> str:
    return squares(cells, rows=["a<", "b"], columns=["a<", "b"], of="kappa", paper="#123456")


def test_each_row_begins_with_its_name_on_the_page_s_own_ground():
    assert '<th scope="row" style="background:#123456">a&lt;</th>' in table()


def test_a_cell_has_its_lines_and_nothing_of_it_is_markup():
    made = table(CELL | {"row": "a<", "column": "b"})
    assert "<b>0.62</b><br><small>0.5 to 0.7</small><br><small>n 9</small>" in made
    assert 'title="said &lt;b&gt;"' in made


def test_a_cell_that_is_not_there_stays_empty():
    assert table(CELL | {"row": "a<", "column": "b"}).count("<td></td>") == 3
