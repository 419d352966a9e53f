"""The figures of a study's report: legible colours, uncut text, and everything labelled."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from reader_study.report.rows import ForestRow
from reader_study.report.shades import GREY, ON_GREY, cell_colour, text_colour
from reader_study.report.svg import Axis, GridCell, add_sticky_names, apply_theme, draw_forest, draw_grid

AXIS = Axis(low=0.0, high=1.0, ticks=(0.0, 1.0))


def contrast(one: str, other: str) -> float:
    """The contrast ratio as WCAG 2.2 defines it."""

    def light(name: str) -> float:
        shares = [int(name[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        return (
            sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True)) + 0.05
        )

    low, high = sorted((light(one), light(other)))
    return high / low


@pytest.mark.parametrize("shade", [each / 20 for each in range(-20, 21)])
def test_the_numbers_of_every_cell_stand_out_from_its_colour(shade):
    assert contrast(cell_colour(shade), text_colour(shade)) >= 4.5


def test_the_numbers_of_a_grey_cell_stand_out_too():
    assert contrast(GREY, ON_GREY) >= 4.5


def test_a_shade_beyond_the_scale_has_the_colour_of_its_end():
    assert (cell_colour(3.0), cell_colour(-3.0)) == (cell_colour(1.0), cell_colour(-1.0))
    assert len({cell_colour(-1.0), cell_colour(0.0), cell_colour(1.0)}) == 3


def row(**changes: Any) -> ForestRow[None]:
    usual: dict[str, Any] = {
        "label": "a", "kind": "reader", "estimate": 0.5, "low": 0.4, "high": 0.6, "words": "50 n 8",
    }  # fmt: skip
    return ForestRow(**usual | changes, details=None)


def test_a_forest_plot_is_as_wide_as_its_longest_words():
    words = "not defined: no question with this rater's answer and a truth, 0/0"
    svg = draw_forest([row(), row(estimate=None, words=words)], title="t", caption="c", axis=AXIS)
    (width,) = re.findall(r'viewBox="0 0 (\d+) ', svg)
    (place,) = re.findall(r'x="(\d+)"[^>]*>not defined', svg)
    assert int(width) - int(place) > 6 * len(words)


def test_a_cell_that_is_not_there_is_left_empty_and_an_undefined_one_is_grey():
    cells = {("a", "b"): GridCell(lines=("not defined", "n 0"), shade=None, hint="one category")}
    svg = draw_grid(["a", "b"], ["a", "b"], cells, title="t", caption="c")
    assert svg.count("<rect") == 2  # the paper and the one cell
    assert f'fill="{GREY}"' in svg
    assert "one category" in svg


def test_a_drawing_has_paper_of_its_own_under_it_in_both_themes():
    svg = draw_forest([row()], title="t", caption="c", axis=AXIS)
    assert svg.index('class="paper"') < svg.index("<text")
    assert svg.count("--paper:#") == 2  # light by default, dark where the screen prefers it
    fromstring(svg)  # noqa: S314 - text of our own making


def test_the_names_of_rows_are_held_over_a_grid_on_a_page():
    made = draw_grid(
        ["one", "two"], ["a"], {("one", "a"): GridCell(lines=("1",), shade=0.5)}, title="t", caption="c"
    )
    over = add_sticky_names(made).removeprefix(add_sticky_names(made).partition("</svg>")[0])
    assert made in add_sticky_names(made)
    assert over.count("<text") == 2
    assert "one" in over
    assert "two" in over


def test_a_figure_without_a_grid_is_held_as_it_is():
    made = draw_forest([], title="t", caption="c", axis=AXIS)
    assert add_sticky_names(made) == made


@pytest.mark.parametrize(("dark", "asked"), [(True, "@media all{"), (False, "@media not all{")])
def test_a_page_has_the_figure_in_its_own_theme_and_on_its_own_paper(dark, asked):
    made = apply_theme(draw_forest([row()], title="t", caption="c", axis=AXIS), dark=dark, paper="#123456")
    assert asked in made
    assert "prefers-color-scheme" not in made
    assert set(re.findall(r"--paper:(#\w+)", made)) == {"#123456"}


def test_the_words_of_a_figure_on_a_page_are_not_hidden_behind_its_title():
    made = draw_forest([row()], title="t", caption="c", axis=AXIS)
    assert 'role="img"' in made
    assert 'role="img"' not in apply_theme(made, dark=False, paper="#ffffff")
