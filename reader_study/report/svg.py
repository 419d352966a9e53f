"""Draws the figures of a report as SVG: forest plots, coloured cells, small panels.

Each is a complete file that follows the light or dark theme and needs no script, font or image from
elsewhere. The same rows give the same bytes.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from reader_study.report.rows import ForestRow
from reader_study.report.shades import GREY, ON_GREY, colour, ink
from reader_study.report.tables import LearningQuarter

_STYLE = """\
<style>
svg{--ink:#1b1f24;--soft:#5b6570;--line:#c9d0d8;--bar:#1f5fa8;--reader:#b3541e;--paper:#fff;
font-family:system-ui,sans-serif;font-size:12px}
@media (prefers-color-scheme:dark){svg{--ink:#e8ebef;--soft:#9aa5b1;--line:#3c4550;--bar:#7db3f0;
--reader:#f0a070;--paper:#14181d}}
text{fill:var(--ink)}.soft{fill:var(--soft)}.axis{stroke:var(--line);fill:none}.zero{stroke:var(--soft);
stroke-dasharray:3 3}.model{stroke:var(--bar);fill:var(--bar)}.reader{stroke:var(--reader);fill:var(--reader)}
.line{stroke:var(--reader);fill:none;stroke-width:1.5}.paper{fill:var(--paper)}
</style>"""
_LEFT, _PLOT, _ROW, _TOP = 190, 380, 22, 54
#: The group element around the row names of a grid, by which :func:`held` locates them.
_NAMES = '<g class="names" data-left="{left}" data-top="{top}" data-bottom="{bottom}">'
_HELD = (
    r'viewBox="0 0 (\d+) (\d+)".*' + _NAMES.format(left=r"(\d+)", top=r"(\d+)", bottom=r"(\d+)") + "(.*?)</g>"
)
_LETTER = 6.6  # average width of a letter, in pixels, that is reserved; text in a wider font would be cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis from ``low`` to ``high``; tick labels are multiplied by ``factor``; a line is at ``zero``."""

    low: float
    high: float
    ticks: tuple[float, ...]
    factor: float = 100.0
    zero: float | None = None

    def at(self, value: float) -> float:
        """The position of a value on the axis, 0 to 1."""
        return (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True, kw_only=True)
class Square:
    """One cell: lines of text, the first one larger; ``shade`` is -1 to 1, None for grey."""

    lines: tuple[str, ...]
    shade: float | None
    hint: str = ""


def forest(rows: Sequence[ForestRow[Any]], *, title: str, caption: str, axis: Axis) -> str:
    """A forest plot: one row per estimate, with its interval.

    Args:
        rows: from top to bottom; only the ``words`` are drawn of a row without an estimate.
        title: above the plot.
        caption: below the plot; explains the intervals.
        axis: of the estimates.
    """
    longest = max((len(row.words) for row in rows), default=0)
    width = _LEFT + _PLOT + 20 + _LETTER * longest
    bottom = _TOP + _ROW * len(rows)

    def x(value: float) -> float:
        return _LEFT + _PLOT * axis.at(value)

    parts = []
    for tick in axis.ticks:
        parts.append(f'<path class="axis" d="M{x(tick):.1f} {_TOP - 8}V{bottom}"/>')
        place = f'x="{x(tick):.1f}" y="{bottom + 16}" text-anchor="middle"'
        parts.append(f'<text class="soft" {place}>{tick * axis.factor:g}</text>')
    if axis.zero is not None:
        parts.append(f'<path class="zero" d="M{x(axis.zero):.1f} {_TOP - 8}V{bottom}"/>')
    for at, row in enumerate(rows):
        y = _TOP + _ROW * at + _ROW / 2 - 4
        kind = "reader" if row.kind == "reader" else "model"
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_short(row.label)}</text>')
        if row.estimate is not None:
            if row.low is not None and row.high is not None:
                ends = f"M{x(row.low):.1f} {y:.1f}H{x(row.high):.1f}"
                parts.append(f'<path class="{kind}" stroke-width="2" d="{ends}"/>')
            mark = _diamond if kind == "reader" else _square
            parts.append(f'<path class="{kind}" d="{mark(x(row.estimate), y)}"/>')
        parts.append(
            f'<text class="soft" x="{_LEFT + _PLOT + 10}" y="{y + 4:.1f}">{escape(row.words)}</text>'
        )
    return _whole(parts, width=width, bottom=bottom + 26, title=title, caption=caption)


def grid(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: dict[tuple[str, str], Square],
    *,
    title: str,
    caption: str,
) -> str:
    """Coloured cells with numbers; a missing cell stays empty."""
    size, left, top = 76, 190, 54 + _head(columns)
    height = 58
    parts, names = [], []
    for at, name in enumerate(columns):
        middle = left + size * at + size / 2
        if len(name) <= 10:
            parts.append(f'<text x="{middle:.1f}" y="{top - 8}" text-anchor="middle">{_short(name)}</text>')
        else:
            turned = f"translate({middle:.1f} {top - 8}) rotate(-40)"
            parts.append(f'<text transform="{turned}">{_short(name)}</text>')
    for row, name in enumerate(rows):
        y = top + height * row
        middle = y + height / 2 + 4
        names.append(f'<text x="{left - 8}" y="{middle:.1f}" text-anchor="end">{_short(name)}</text>')
        for column, other in enumerate(columns):
            parts += _cell(cells.get((name, other)), left + size * column, y, size, height)
    width = max(left + size * len(columns) + (130 if _head(columns) else 20), 620)
    bottom = top + height * len(rows)
    parts += [_NAMES.format(left=left - 2, top=top, bottom=bottom), *names, "</g>"]
    return _whole(parts, width=width, bottom=bottom, title=title, caption=caption)


def held(svg: str) -> str:
    """The figure for a page that scrolls horizontally, with row names that stay visible.

    The names are drawn a second time on top of the figure, with their own background.
    """
    found = re.search(_HELD, svg, re.DOTALL)
    if found is None:
        return svg
    width, height, left, top, bottom = (int(each) for each in found.groups()[:5])
    over = (
        f'<svg class="held" aria-hidden="true" viewBox="0 0 {left} {height}" '
        f'style="width:{100 * left / width:.4f}%"><rect class="paper" y="{top}" width="{left}" '
        f'height="{bottom - top}"/>{found.group(6)}</svg>'
    )
    return f'<div class="holding" style="min-width:{width * 0.8:.0f}px;max-width:{width}px">{svg}{over}</div>'


def in_theme(svg: str, *, dark: bool, paper: str) -> str:
    """The figure for a page with its own theme, independent of the system's theme.

    A screen reader reads a file as one image with a title; here it reads all texts.

    Args:
        svg: a figure as in its file.
        dark: whether the page is dark.
        paper: the page's background, as a CSS colour.
    """
    svg = svg.replace("(prefers-color-scheme:dark)", "all" if dark else "not all", 1)
    svg = re.sub(r"--paper:#\w+", f"--paper:{paper}", svg)
    return svg.replace('role="img"', 'role="group"', 1)


def panels(series: dict[str, list[LearningQuarter]], *, title: str, caption: str) -> str:
    """One small plot per reader: accuracies with intervals over the quarters, times below.

    Args:
        series: the quarters of each reader, by name.
        title: above the plots.
        caption: below the plots.
    """
    wide, high, across = 200, 130, 4
    parts = []
    for place, (name, rows) in enumerate(series.items()):
        left, top = 48 + (wide + 40) * (place % across), 70 + (high + 86) * (place // across)
        parts.append(f'<text x="{left}" y="{top - 12}" font-weight="600">{_short(name)}</text>')
        for share in (0.0, 0.5, 1.0):
            y = top + high * (1 - share)
            parts.append(f'<path class="axis" d="M{left} {y:.1f}h{wide}"/>')
            parts.append(
                f'<text class="soft" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{share * 100:g}</text>'
            )
        parts += _points(rows, left, top, wide, high)
    lines = -(-len(series) // across)
    width = 48 + (wide + 40) * min(across, max(3, len(series)))
    return _whole(parts, width=width, bottom=70 + (high + 86) * lines - 20, title=title, caption=caption)


def _points(rows: list[LearningQuarter], left: int, top: int, wide: int, high: int) -> list[str]:
    parts, path = [], []
    for at, row in enumerate(rows):
        x = left + wide * (at + 0.5) / len(rows)
        below = f'class="soft" x="{x:.1f}" text-anchor="middle"'
        parts.append(f'<text {below} y="{top + high + 16}">{row.quarter}</text>')
        seconds = row.median_seconds
        for line, word in enumerate((f"n {row.n}", "" if seconds is None else f"{seconds:.1f} s")):
            parts.append(f'<text {below} y="{top + high + 32 + 14 * line}" font-size="10">{word}</text>')
        if row.estimate is None or row.low is None or row.high is None:
            continue
        low, up, y = (top + high * (1 - value) for value in (row.low, row.high, row.estimate))
        path.append(f"{x:.1f} {y:.1f}")
        parts.append(f'<path class="reader" stroke-width="1.5" d="M{x:.1f} {low:.1f}V{up:.1f}"/>')
        parts.append(f'<path class="reader" d="{_diamond(x, y)}"/>')
    return [*([f'<path class="line" d="M{"L".join(path)}"/>'] if path else []), *parts]


def _cell(found: Square | None, x: int, y: int, size: int, height: int) -> list[str]:
    if found is None:
        return []
    box = f'x="{x}" y="{y}" width="{size - 2}" height="{height - 2}"'
    fill, dark = (GREY, ON_GREY) if found.shade is None else (colour(found.shade), ink(found.shade))
    rect = f'<rect fill="{fill}" {box}/>'
    first = y + (height - 2 - 15 * len(found.lines)) / 2 + 12
    lines = [
        f'<text style="fill:{dark}" x="{x + size / 2:.1f}" y="{first + 15 * at:.1f}" text-anchor="middle" '
        f'font-size="{13 if at == 0 and len(word) < 9 else 10}">{escape(word)}</text>'
        for at, word in enumerate(found.lines)
    ]
    return ["<g>", f"<title>{escape(found.hint)}</title>", rect, *lines, "</g>"]


def _head(columns: Sequence[str]) -> int:
    """The height of the slanted column names, in pixels."""
    longest = max((min(len(name), 26) for name in columns), default=0)
    return 0 if longest <= 10 else 10 + 4 * longest


def _whole(parts: list[str], *, width: float, bottom: float, title: str, caption: str) -> str:
    lines = textwrap.wrap(caption, int((width - 16) / 5.6))
    height = bottom + 14 + 15 * len(lines)
    told = [
        f'<text class="soft" x="8" y="{bottom + 14 + 15 * at:.0f}" font-size="11">{escape(line)}</text>'
        for at, line in enumerate(lines)
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{escape(title)}" '
        # on a narrow page it shrinks to 80 % and then scrolls, so that the text stays readable
        f'style="max-width:100%;min-width:{width * 0.8:.0f}px;height:auto">'
    )
    above = f'<text x="8" y="20" font-size="14" font-weight="600">{escape(title)}</text>'
    paper = '<rect class="paper" width="100%" height="100%"/>'
    return "\n".join([head, _STYLE, paper, above, *parts, *told, "</svg>"]) + "\n"


def _short(name: str) -> str:
    return escape(name if len(name) <= 26 else name[:25] + "…")


def _square(x: float, y: float) -> str:
    return f"M{x - 4:.1f} {y - 4:.1f}h8v8h-8z"


def _diamond(x: float, y: float) -> str:
    return f"M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"
