"""The figures of a study's report: legible colours, uncut text, and everything labelled."""

from __future__ import annotations

import re
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from reader_study.report.figures import _build_place_cells
from reader_study.report.rows import ForestRow, PlaceRow
from reader_study.report.shades import GREY, ON_GREY, cell_colour, text_colour
from reader_study.report.svg import (
    Axis,
    Bar,
    GridCell,
    add_sticky_names,
    apply_theme,
    draw_bars,
    draw_forest,
    draw_grid,
)

AXIS = Axis(low=0.0, high=1.0, ticks=(0.0, 1.0))


def contrast_ratio(first_colour: str, second_colour: str) -> float:
    """The contrast ratio as WCAG 2.2 defines it."""

    def relative_luminance(name: str) -> float:
        shares = [int(name[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        return (
            sum(weight * channel for weight, channel in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
            + 0.05
        )

    darker, lighter = sorted((relative_luminance(first_colour), relative_luminance(second_colour)))
    return lighter / darker


@pytest.mark.parametrize("shade", [step / 20 for step in range(-20, 21)])
def test_cell_text_has_sufficient_contrast(shade):
    assert contrast_ratio(cell_colour(shade), text_colour(shade)) >= 4.5


def test_text_in_a_grey_cell_has_sufficient_contrast():
    assert contrast_ratio(GREY, ON_GREY) >= 4.5


def test_a_shade_beyond_the_scale_is_clamped():
    assert (cell_colour(3.0), cell_colour(-3.0)) == (cell_colour(1.0), cell_colour(-1.0))
    assert len({cell_colour(-1.0), cell_colour(0.0), cell_colour(1.0)}) == 3


def test_the_cell_of_a_position_states_the_difference_of_its_shares():
    """12 of 38 replies with one option are 31.6 %; 10 of the 40 keys are 25.0 %; the difference is 6.6."""
    row = PlaceRow(
        rater="a", place=1, chosen=12, chosen_share=12 / 38, key_here=10, key_share=10 / 40, n=40,
        accuracy=None, low=None, high=None, more=12 / 38 - 10 / 40,
    )  # fmt: skip
    assert _build_place_cells([row])["a", "position 1"].lines == ("+6.6", "32% / 25%", "n 40")


def make_row(**changes: Any) -> ForestRow[None]:
    defaults: dict[str, Any] = {
        "label": "a", "kind": "reader", "estimate": 0.5, "low": 0.4, "high": 0.6, "words": "50 n 8",
    }  # fmt: skip
    return ForestRow(**defaults | changes, details=None)


def test_a_forest_plot_is_as_wide_as_its_longest_text():
    long_text = "not defined: no question has both this rater's answer and a reference answer, 0/0"
    svg = draw_forest(
        [make_row(), make_row(estimate=None, words=long_text)], title="t", caption="c", axis=AXIS
    )
    (width,) = re.findall(r'viewBox="0 0 (\d+) ', svg)
    (text_x,) = re.findall(r'x="(\d+)"[^>]*>not defined', svg)
    assert int(width) - int(text_x) > 6 * len(long_text)


def test_a_missing_cell_is_empty_and_an_undefined_one_grey():
    cells = {("a", "b"): GridCell(lines=("not defined", "n 0"), shade=None, tooltip="one category")}
    svg = draw_grid(["a", "b"], ["a", "b"], cells, title="t", caption="c")
    assert svg.count("<rect") == 2  # the background and the one cell
    assert f'fill="{GREY}"' in svg
    assert "one category" in svg


def test_a_figure_has_its_own_background_in_both_themes():
    svg = draw_forest([make_row()], title="t", caption="c", axis=AXIS)
    assert svg.index('class="paper"') < svg.index("<text")
    assert svg.count("--paper:#") == 2  # light by default, dark where the screen prefers it
    fromstring(svg)  # noqa: S314 - text of our own making


def test_row_names_are_sticky_over_a_grid():
    figure = draw_grid(
        ["one", "two"], ["a"], {("one", "a"): GridCell(lines=("1",), shade=0.5)}, title="t", caption="c"
    )
    overlay = add_sticky_names(figure).removeprefix(add_sticky_names(figure).partition("</svg>")[0])
    assert figure in add_sticky_names(figure)
    assert overlay.count("<text") == 2
    assert "one" in overlay
    assert "two" in overlay


def test_a_figure_without_a_grid_is_unchanged():
    figure = draw_forest([], title="t", caption="c", axis=AXIS)
    assert add_sticky_names(figure) == figure


def test_a_figure_on_a_page_follows_the_pages_theme():
    figure = apply_theme(draw_forest([make_row()], title="t", caption="c", axis=AXIS))
    assert "prefers-color-scheme" not in figure
    assert "--ink:light-dark(#1b1f24,#e8ebef)" in figure
    assert "--paper:var(--st-background-color)" in figure


def test_the_text_of_a_figure_on_a_page_is_accessible():
    figure = draw_forest([make_row()], title="t", caption="c", axis=AXIS)
    assert 'role="img"' in figure
    assert 'role="img"' not in apply_theme(figure)


def test_a_rater_has_the_same_position_in_each_group_of_bars():
    def make_bar(rater):
        return Bar(rater=rater, estimate=0.5, low=None, high=None, tooltip=rater)

    groups = {"Presence": [make_bar(name) for name in "abc"], "Location": [make_bar("a"), make_bar("c")]}
    svg = draw_bars(groups, {"a": 0.1, "b": 0.4, "c": 0.7}, title="", caption="")
    bars = re.findall(r'<title>(.)</title><rect [^>]*x="([\d.]+)"', svg.replace("\n", ""))
    assert [rater for rater, _ in bars] == ["a", "b", "c", "a", "c"]
    x = [float(position) for _, position in bars]
    assert x[4] - x[3] == x[2] - x[0]
