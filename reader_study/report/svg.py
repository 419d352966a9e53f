"""Draws the figures of a report as SVG: forest plots, grids of cells, flow diagrams, bars, small panels.

Each figure is a complete file for the light and the dark theme, without scripts, fonts or images from other
files. The same rows give the same bytes.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from reader_study.report.rows import ForestRow
from reader_study.report.shades import GREY, ON_GREY, cell_colour, text_colour

_STYLE = """\
<style>
svg{--ink:#1b1f24;--soft:#5b6570;--line:#c9d0d8;--bar:#1f5fa8;--reader:#b3541e;--paper:#fff;
font-family:system-ui,sans-serif;font-size:12px}
@media (prefers-color-scheme:dark){svg{--ink:#e8ebef;--soft:#9aa5b1;--line:#3c4550;--bar:#7db3f0;
--reader:#f0a070;--paper:#14181d}}
text{fill:var(--ink)}.soft{fill:var(--soft)}.axis{stroke:var(--line);fill:none}.zero{stroke:var(--soft);
stroke-dasharray:3 3}.model{stroke:var(--bar);fill:var(--bar)}.reader{stroke:var(--reader);fill:var(--reader)}
.mean{stroke:var(--ink);fill:var(--ink)}.box{stroke:var(--soft);fill:none}
.whisker{stroke:var(--ink);fill:none}
.line{stroke:var(--reader);fill:none;stroke-width:1.5}.paper{fill:var(--paper)}
</style>"""
_LIGHT, _DARK = (dict(re.findall(r"--(\w+):(#\w+)", part)) for part in _STYLE.split("@media"))
_PAGE_COLOURS = ";".join(
    f"--{name}:{'var(--st-background-color)' if name == 'paper' else f'light-dark({colour},{_DARK[name]})'}"
    for name, colour in _LIGHT.items()
)
_DARK_STYLE = re.compile(r"@media \(prefers-color-scheme:dark\)\{svg\{[^}]*\}\}")
_LABEL_WIDTH, _PLOT_WIDTH, _ROW_HEIGHT, _HEADER_HEIGHT = 190, 380, 22, 54
#: The group element around the row names of a grid, by which :func:`add_sticky_names` locates them.
_NAMES = '<g class="names" data-left="{left}" data-top="{top}" data-bottom="{bottom}">'
_NAMES_PATTERN = (
    r'viewBox="0 0 (\d+) (\d+)".*' + _NAMES.format(left=r"(\d+)", top=r"(\d+)", bottom=r"(\d+)") + "(.*?)</g>"
)
#: The pixels that are reserved per letter. Text in a wider font would be cut off.
_LETTER_WIDTH = 6.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis from ``low`` to ``high``.

    Tick labels are multiplied by ``factor``; ``zero`` has a dashed line.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    factor: float = 100.0
    zero: float | None = None

    def position(self, value: float) -> float:
        """Return the position of a value on the axis, 0 to 1."""
        return (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True, kw_only=True)
class GridCell:
    """One cell: lines of text (the first one is larger), shade from -1 to 1 (None: grey), and tooltip."""

    lines: tuple[str, ...]
    shade: float | None
    tooltip: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar of a rater: its height and limits, 0 to 1, and its tooltip."""

    rater: str
    estimate: float | None
    low: float | None
    high: float | None
    tooltip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelPoint:
    """A point of a small plot: its label, the smaller ``lines`` below the label, and a share, 0 to 1.

    ``expected`` is a share for comparison, drawn as a short line. If it is None, no line is drawn.
    """

    label: str
    lines: tuple[str, ...]
    estimate: float | None
    low: float | None
    high: float | None
    expected: float | None = None


def draw_forest(rows: Sequence[ForestRow[Any]], *, title: str, caption: str, axis: Axis) -> str:
    """Draw a forest plot: one row per estimate, with its interval.

    Args:
        rows: the rows from top to bottom; a row without an estimate shows its label and ``words`` (the result
            as text) only.
        title: the text above the plot.
        caption: the text below the plot, which explains the intervals.
        axis: the axis of the estimates.
    """
    longest = max((len(row.words) for row in rows), default=0)
    width = _LABEL_WIDTH + _PLOT_WIDTH + 20 + _LETTER_WIDTH * longest
    bottom = _HEADER_HEIGHT + _ROW_HEIGHT * len(rows)

    def x(value: float) -> float:
        return _LABEL_WIDTH + _PLOT_WIDTH * axis.position(value)

    parts = []
    for tick in axis.ticks:
        parts.append(f'<path class="axis" d="M{x(tick):.1f} {_HEADER_HEIGHT - 8}V{bottom}"/>')
        label_attributes = f'x="{x(tick):.1f}" y="{bottom + 16}" text-anchor="middle"'
        parts.append(f'<text class="soft" {label_attributes}>{tick * axis.factor:g}</text>')
    if axis.zero is not None:
        parts.append(f'<path class="zero" d="M{x(axis.zero):.1f} {_HEADER_HEIGHT - 8}V{bottom}"/>')
    for index, row in enumerate(rows):
        y = _HEADER_HEIGHT + _ROW_HEIGHT * index + _ROW_HEIGHT / 2 - 4
        kind = row.kind if row.kind in ("reader", "mean") else "model"
        parts.append(
            f'<text x="{_LABEL_WIDTH - 8}" y="{y + 4:.1f}" text-anchor="end">{_shorten(row.label)}</text>'
        )
        if row.estimate is not None:
            if kind == "mean" and row.low is not None and row.high is not None:
                mean_path = _wide_diamond_path(x(row.low), x(row.estimate), x(row.high), y)
                parts.append(f'<path class="mean" d="{mean_path}"/>')
            elif row.low is not None and row.high is not None:
                interval_path = f"M{x(row.low):.1f} {y:.1f}H{x(row.high):.1f}"
                parts.append(f'<path class="{kind}" stroke-width="2" d="{interval_path}"/>')
            if kind != "mean" or row.low is None:
                mark = _square_path if kind == "model" else _diamond_path
                parts.append(f'<path class="{kind}" d="{mark(x(row.estimate), y)}"/>')
        text_attributes = f'class="soft" x="{_LABEL_WIDTH + _PLOT_WIDTH + 10}" y="{y + 4:.1f}"'
        parts.append(f"<text {text_attributes}>{escape(row.words)}</text>")
    return _build_svg(parts, width=width, bottom=bottom + 26, title=title, caption=caption)


def draw_grid(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: dict[tuple[str, str], GridCell],
    *,
    title: str,
    caption: str,
    legend: Sequence[tuple[float, str]] = (),
) -> str:
    """Draw a grid of coloured cells with numbers. A missing cell is empty.

    Args:
        rows: the names of the rows.
        columns: the names of the columns.
        cells: the cells by row and column.
        title: the text above the grid.
        caption: the text below the grid.
        legend: shades with the values that they stand for, drawn below the grid.
    """
    cell_width, cell_height = 76, 58
    left, top = 190, 54 + _header_height(columns)
    parts, row_names = [], []
    for index, name in enumerate(columns):
        middle = left + cell_width * index + cell_width / 2
        if len(name) <= 10:
            parts.append(f'<text x="{middle:.1f}" y="{top - 8}" text-anchor="middle">{_shorten(name)}</text>')
        else:
            transform = f"translate({middle:.1f} {top - 8}) rotate(-40)"
            parts.append(f'<text transform="{transform}">{_shorten(name)}</text>')
    for row, name in enumerate(rows):
        y = top + cell_height * row
        middle = y + cell_height / 2 + 4
        row_names.append(f'<text x="{left - 8}" y="{middle:.1f}" text-anchor="end">{_shorten(name)}</text>')
        for column, column_name in enumerate(columns):
            parts += _draw_cell(
                cells.get((name, column_name)), left + cell_width * column, y, cell_width, cell_height
            )
    width = max(left + cell_width * len(columns) + (130 if _header_height(columns) else 20), 620)
    bottom = top + cell_height * len(rows)
    parts += [_NAMES.format(left=left - 2, top=top, bottom=bottom), *row_names, "</g>"]
    for index, (shade, text) in enumerate(legend):
        x = left + 60 * index
        parts.append(
            f'<rect fill="{cell_colour(shade)}" x="{x}" y="{bottom + 10}" width="60" height="12"/>'
            f'<text class="soft" x="{x + 30}" y="{bottom + 36}" text-anchor="middle">{escape(text)}</text>'
        )
    bottom += 42 if legend else 0
    return _build_svg(parts, width=width, bottom=bottom, title=title, caption=caption)


def draw_flow(columns: Sequence[Sequence[Sequence[str]]], *, title: str, caption: str) -> str:
    """Draw a flow diagram of columns of boxes.

    The first column is on top. The other columns are side by side below its last box.

    Args:
        columns: the boxes of each column; a box is a list of lines of text, and the first line is bold.
        title: the text above the diagram.
        caption: the text below the diagram.
    """
    box_width, gap, parts = 300, 26, []
    lower_columns = [column for column in columns[1:] if column]
    width = max(1, len(lower_columns)) * (box_width + 40) + 20
    bottom = 40.0

    def draw_column(
        boxes: Sequence[Sequence[str]], x: float, top: float, start: tuple[float, float] | None
    ) -> float:
        for lines in boxes:
            middle, height = x + box_width / 2, 16 + 16 * len(lines)
            if start is not None:
                path = f"M{start[0]:.1f} {start[1]:.1f}V{top - gap / 2:.1f}H{middle:.1f}V{top:.1f}"
                parts.append(f'<path class="box" d="{path}"/>')
            parts.append(
                f'<rect class="box" x="{x:.1f}" y="{top:.1f}" width="{box_width}" height="{height}" rx="4"/>'
            )
            for index, line in enumerate(lines):
                weight = ' font-weight="600"' if index == 0 else ' class="soft"'
                parts.append(
                    f'<text x="{x + 12:.1f}" y="{top + 20 + 16 * index:.1f}"{weight}>{escape(line)}</text>'
                )
            start, top = (middle, top + height), top + height + gap
        return top

    first_x = (width - box_width) / 2
    top = draw_column(columns[0], first_x, bottom, None)
    start = (width / 2, top - gap)
    for index, boxes in enumerate(lower_columns):
        bottom = max(bottom, draw_column(boxes, 20 + index * (box_width + 40), top, start))
    return _build_svg(
        parts, width=max(width, 620), bottom=max(bottom, top) - gap + 8, title=title, caption=caption
    )


def add_sticky_names(svg: str) -> str:
    """Return the figure for a page that scrolls horizontally, with row names that stay visible.

    The names are drawn a second time on top of the figure, with their own background.
    """
    match = re.search(_NAMES_PATTERN, svg, re.DOTALL)
    if match is None:
        return svg
    width, height, left, top, bottom = (int(number) for number in match.groups()[:5])
    overlay = (
        f'<svg class="sticky-names" aria-hidden="true" viewBox="0 0 {left} {height}" '
        f'style="width:{100 * left / width:.4f}%"><rect class="paper" y="{top}" width="{left}" '
        f'height="{bottom - top}"/>{match.group(6)}</svg>'
    )
    return (
        '<div class="sticky-figure" '
        f'style="min-width:{width * 0.8:.0f}px;max-width:{width}px">{svg}{overlay}</div>'
    )


def apply_theme(svg: str) -> str:
    """Return the figure for a page with its own theme, which may differ from the theme of the system.

    The browser chooses the colours by the page's ``color-scheme``, also when the theme changes, and takes the
    background from Streamlit's ``--st-background-color``. Screen readers read all texts of the figure instead
    of its title only.
    """
    return _DARK_STYLE.sub(f"svg{{{_PAGE_COLOURS}}}", svg, count=1).replace('role="img"', 'role="group"', 1)


def draw_bars(
    groups: Mapping[str, Sequence[Bar]], shade_by_rater: Mapping[str, float], *, title: str, caption: str
) -> str:
    """Draw grouped bars from 0 to 100 % with intervals: a group per task, a bar per rater.

    A rater has the same position in each group; the position is empty if the rater has no result.

    Args:
        groups: the bars of each group.
        shade_by_rater: the shade of each rater, from -1 to 1.
        title: the text above the bars.
        caption: the text below the bars.
    """
    bar_width, gap, height, left = 16, 24, 240, 48
    positions = {name: index for index, name in enumerate(shade_by_rater)}
    group_width = max(90, bar_width * len(shade_by_rater))
    width = max(620.0, left + (group_width + gap) * len(groups) + 20.0)
    parts: list[str] = []

    def y(share: float) -> float:
        return _HEADER_HEIGHT + height * (1 - share)

    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(f'<path class="axis" d="M{left} {y(tick):.1f}H{width - 12:.1f}"/>')
        label_attributes = f'x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end"'
        parts.append(f'<text class="soft" {label_attributes}>{tick * 100:g}</text>')
    x: float = left + gap / 2
    for name, bars in groups.items():
        middle, start = x + group_width / 2, x + (group_width - bar_width * len(shade_by_rater)) / 2
        for bar in bars:
            bar_x = start + bar_width * positions[bar.rater]
            parts += _draw_bar(bar, bar_x, bar_width, y, cell_colour(shade_by_rater[bar.rater]))
        parts.append(
            f'<text x="{middle:.1f}" y="{y(0) + 18:.1f}" text-anchor="middle">{_shorten(name)}</text>'
        )
        x += group_width + gap
    names_per_line = max(1, int((width - left) // 190))
    for index, (name, shade) in enumerate(shade_by_rater.items()):
        legend_x, legend_y = left + 190 * (index % names_per_line), y(0) + 34 + 18 * (index // names_per_line)
        parts.append(
            f'<rect fill="{cell_colour(shade)}" x="{legend_x}" y="{legend_y:.1f}" width="12" height="12"/>'
            f'<text x="{legend_x + 18}" y="{legend_y + 10:.1f}">{_shorten(name)}</text>'
        )
    bottom = y(0) + 34 + 18 * -(-len(shade_by_rater) // names_per_line)
    return _build_svg(parts, width=width, bottom=bottom, title=title, caption=caption)


def _draw_bar(bar: Bar, x: float, width: float, y: Callable[[float], float], colour: str) -> list[str]:
    """Return a bar with its interval and its title; an empty list if there is no estimate."""
    if bar.estimate is None:
        return []
    top, middle = y(bar.estimate), x + width / 2
    rect_attributes = f'x="{x + 1:.1f}" y="{top:.1f}" width="{width - 2:.1f}" height="{y(0) - top:.1f}"'
    parts = [
        "<g>",
        f"<title>{escape(bar.tooltip)}</title>",
        f'<rect fill="{colour}" {rect_attributes}/>',
    ]
    if bar.low is not None and bar.high is not None:
        whisker = f"M{middle:.1f} {y(bar.low):.1f}V{y(bar.high):.1f}"
        ends = "".join(f"M{middle - 3:.1f} {y(limit):.1f}h6" for limit in (bar.low, bar.high))
        parts.append(f'<path class="whisker" d="{whisker}{ends}"/>')
    return [*parts, "</g>"]


def convert_to_pdf(svg: str) -> bytes:
    """Return the figure as a PDF file in the colours of the light theme, with its fonts embedded.

    The converter ignores rules with CSS variables, so these are replaced by their values.
    """
    import vl_convert  # noqa: PLC0415 - loads 80 MB

    plain = re.sub(r"--\w+:#\w+;", "", _DARK_STYLE.sub("", svg, count=1))
    plain = re.sub(r"var\(--(\w+)\)", lambda match: _LIGHT[match[1]], plain)
    pdf: bytes = vl_convert.svg_to_pdf(plain)
    return pdf


def draw_panels(
    series: Mapping[str, Sequence[PanelPoint]],
    *,
    title: str,
    caption: str,
    notes: Mapping[str, str] | None = None,
    kind: str = "reader",
) -> str:
    """Draw one small plot per rater: accuracies with intervals, and texts below.

    Args:
        series: the points of each rater, by name.
        title: the text above the plots.
        caption: the text below the plots.
        notes: a short text for each rater, which is drawn under the name.
        kind: the kind of all raters, "reader" or "model"; points of readers are connected by a line.
    """
    panel_width, panel_height, panels_per_row = 200, 130, 4
    parts = []
    for index, (name, points) in enumerate(series.items()):
        left, top = (
            48 + (panel_width + 40) * (index % panels_per_row),
            70 + (panel_height + 86) * (index // panels_per_row),
        )
        note = "" if notes is None else notes[name]
        parts.append(
            f'<text x="{left}" y="{top - (20 if note else 12)}" font-weight="600">{_shorten(name)}</text>'
        )
        if note:
            parts.append(f'<text class="soft" x="{left}" y="{top - 6}" font-size="10">{escape(note)}</text>')
        for share in (0.0, 0.5, 1.0):
            y = top + panel_height * (1 - share)
            parts.append(f'<path class="axis" d="M{left} {y:.1f}h{panel_width}"/>')
            parts.append(
                f'<text class="soft" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{share * 100:g}</text>'
            )
        parts += _draw_points(points, left, top, panel_width, panel_height, kind=kind)
    n_panel_rows = -(-len(series) // panels_per_row)
    width = 48 + (panel_width + 40) * min(panels_per_row, max(3, len(series)))
    return _build_svg(
        parts, width=width, bottom=70 + (panel_height + 86) * n_panel_rows - 20, title=title, caption=caption
    )


def _draw_points(
    points: Sequence[PanelPoint], left: int, top: int, panel_width: int, panel_height: int, *, kind: str
) -> list[str]:
    parts, path = [], []
    for index, point in enumerate(points):
        x = left + panel_width * (index + 0.5) / len(points)
        text_attributes = f'class="soft" x="{x:.1f}" text-anchor="middle"'
        parts.append(f'<text {text_attributes} y="{top + panel_height + 16}">{point.label}</text>')
        for line_index, text in enumerate(point.lines):
            parts.append(
                f'<text {text_attributes} y="{top + panel_height + 32 + 14 * line_index}"'
                f' font-size="10">{text}</text>'
            )
        if point.expected is not None:
            half_width = panel_width / len(points) * 0.4
            expected_y = top + panel_height * (1 - point.expected)
            segment = f"M{x - half_width:.1f} {expected_y:.1f}h{2 * half_width:.1f}"
            parts.append(f'<path class="mean" stroke-width="1.5" d="{segment}"/>')
        if point.estimate is None or point.low is None or point.high is None:
            continue
        low_y, high_y, y = (
            top + panel_height * (1 - value) for value in (point.low, point.high, point.estimate)
        )
        path.append(f"{x:.1f} {y:.1f}")
        mark = _square_path if kind == "model" else _diamond_path
        parts.append(f'<path class="{kind}" stroke-width="1.5" d="M{x:.1f} {low_y:.1f}V{high_y:.1f}"/>')
        parts.append(f'<path class="{kind}" d="{mark(x, y)}"/>')
    has_line = path and kind == "reader"
    return [*([f'<path class="line" d="M{"L".join(path)}"/>'] if has_line else []), *parts]


def _draw_cell(cell: GridCell | None, x: int, y: int, width: int, height: int) -> list[str]:
    if cell is None:
        return []
    rect_attributes = f'x="{x}" y="{y}" width="{width - 2}" height="{height - 2}"'
    fill, text_fill = (
        (GREY, ON_GREY) if cell.shade is None else (cell_colour(cell.shade), text_colour(cell.shade))
    )
    rect = f'<rect fill="{fill}" {rect_attributes}/>'
    first_y = y + (height - 2 - 15 * len(cell.lines)) / 2 + 12
    lines = [
        f'<text style="fill:{text_fill}" x="{x + width / 2:.1f}" y="{first_y + 15 * index:.1f}"'
        ' text-anchor="middle"'
        f' font-size="{13 if index == 0 and len(text) < 9 else 10}">{escape(text)}</text>'
        for index, text in enumerate(cell.lines)
    ]
    return ["<g>", f"<title>{escape(cell.tooltip)}</title>", rect, *lines, "</g>"]


def _header_height(columns: Sequence[str]) -> int:
    """Return the height of the slanted column names, in pixels; 0 if the names are short and not slanted."""
    longest = max((min(len(name), 26) for name in columns), default=0)
    return 0 if longest <= 10 else 10 + 4 * longest


def _build_svg(parts: list[str], *, width: float, bottom: float, title: str, caption: str) -> str:
    lines = textwrap.wrap(caption, int((width - 16) / 6.1))
    height = bottom + 14 + 15 * len(lines)
    caption_lines = [
        f'<text class="soft" x="8" y="{bottom + 14 + 15 * index:.0f}" font-size="11">{escape(line)}</text>'
        for index, line in enumerate(lines)
    ]
    # On a narrow page the figure shrinks to 80 % and then scrolls, so that the text stays readable.
    opening_tag = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{escape(title)}" '
        f'style="max-width:100%;min-width:{width * 0.8:.0f}px;height:auto">'
    )
    title_text = f'<text x="8" y="20" font-size="14" font-weight="600">{escape(title)}</text>'
    paper = '<rect class="paper" width="100%" height="100%"/>'
    return "\n".join([opening_tag, _STYLE, paper, title_text, *parts, *caption_lines, "</svg>"]) + "\n"


def _shorten(name: str) -> str:
    return escape(name if len(name) <= 26 else name[:25] + "…")


def _wide_diamond_path(low: float, middle: float, high: float, y: float) -> str:
    return f"M{low:.1f} {y:.1f}L{middle:.1f} {y - 6:.1f}L{high:.1f} {y:.1f}L{middle:.1f} {y + 6:.1f}z"


def _square_path(x: float, y: float) -> str:
    return f"M{x - 4:.1f} {y - 4:.1f}h8v8h-8z"


def _diamond_path(x: float, y: float) -> str:
    return f"M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"
