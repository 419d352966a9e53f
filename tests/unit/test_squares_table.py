"""Coloured cells of a report on its page, as a table."""

from __future__ import annotations

from reader_study.report.svg import Square
from ui.figures.squares import squares

CELL = Square(lines=("0.62", "0.5 to 0.7", "n 9"), shade=0.5, hint="said <b>")


def table(cells: dict[tuple[str, str], Square]) -> str:
    return squares(cells, rows=["a<", "b"], columns=["a<", "b"], of="kappa", paper="#123456")


def test_each_row_begins_with_its_name_on_the_page_s_own_ground():
    assert '<th scope="row" style="background:#123456">a&lt;</th>' in table({})


def test_a_cell_has_its_lines_and_nothing_of_it_is_markup():
    made = table({("a<", "b"): CELL})
    assert "<b>0.62</b><br><small>0.5 to 0.7</small><br><small>n 9</small>" in made
    assert 'title="said &lt;b&gt;"' in made


def test_a_cell_that_is_not_there_stays_empty():
    assert table({("a<", "b"): CELL}).count("<td></td>") == 3
