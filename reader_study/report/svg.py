"""The figures of a report as SVG: forest plots and heatmaps of kappa, drawn from the records alone.

Each is a whole file of its own: light, and dark where the reader's screen is. The same records give the
same bytes. No script, no font and no image from elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

Record = dict[str, Any]
_STYLE = """\
<style>
svg{--ink:#1b1f24;--soft:#5b6570;--line:#c9d0d8;--bar:#1f5fa8;--reader:#b3541e;--grey:#e3e7ec;--paper:#fff;
font-family:system-ui,sans-serif;font-size:12px}
@media (prefers-color-scheme:dark){svg{--ink:#e8ebef;--soft:#9aa5b1;--line:#3c4550;--bar:#7db3f0;
--reader:#f0a070;--grey:#2b323a;--paper:#14181d}}
text{fill:var(--ink)}.soft{fill:var(--soft)}.axis{stroke:var(--line);fill:none}.zero{stroke:var(--soft);
stroke-dasharray:3 3}.model{stroke:var(--bar);fill:var(--bar)}.reader{stroke:var(--reader);fill:var(--reader)}
.none{fill:var(--grey)}.paper{fill:var(--paper)}
</style>"""
_LEFT, _PLOT, _RIGHT, _ROW, _TOP = 190, 380, 230, 22, 54


def forest(
    rows: Sequence[Record], *, title: str, caption: str, low: float, high: float, zero: float | None = None
) -> str:
    """Estimates with their intervals, one row each.

    Args:
        rows: ``label, kind, estimate, low, high, words``; an estimate of None is said in ``words`` alone.
        title: above.
        caption: below: what the intervals are.
        low, high: the ends of the axis, as shares.
        zero: where the line of no difference stands.
    """
    height = _TOP + _ROW * len(rows) + 56
    width = _LEFT + _PLOT + _RIGHT

    def x(share: float) -> str:
        return f"{_LEFT + _PLOT * (min(max(share, low), high) - low) / (high - low):.1f}"

    bottom = _TOP + _ROW * len(rows)
    parts = [f'<text x="8" y="20" font-size="14" font-weight="600">{escape(title)}</text>']
    steps = 5 if zero is None else 4
    for step in range(steps + 1):
        share = low + (high - low) * step / steps
        parts.append(f'<path class="axis" d="M{x(share)} {_TOP - 8}V{bottom}"/>')
        place = f'x="{x(share)}" y="{bottom + 16}" text-anchor="middle"'
        parts.append(f'<text class="soft" {place}>{share * 100:.0f}</text>')
    if zero is not None:
        parts.append(f'<path class="zero" d="M{x(zero)} {_TOP - 8}V{bottom}"/>')
    for at, row in enumerate(rows):
        y = _TOP + _ROW * at + _ROW / 2 - 4
        kind = "reader" if row["kind"] == "reader" else "model"
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_short(row["label"])}</text>')
        if row["estimate"] is not None:
            if row["low"] is not None and row["high"] is not None:
                parts.append(
                    f'<path class="{kind}" stroke-width="2" d="M{x(row["low"])} {y:.1f}H{x(row["high"])}"/>'
                )
            shape = (
                _diamond(float(x(row["estimate"])), y)
                if kind == "reader"
                else _square(float(x(row["estimate"])), y)
            )
            parts.append(f'<path class="{kind}" d="{shape}"/>')
        parts.append(
            f'<text class="soft" x="{_LEFT + _PLOT + 10}" y="{y + 4:.1f}">{escape(row["words"])}</text>'
        )
    parts.append(f'<text class="soft" x="8" y="{height - 12}" font-size="11">{escape(caption)}</text>')
    return _whole(parts, width=width, height=height, title=title)


def heatmap(names: Sequence[str], cells: dict[tuple[str, str], Record], *, title: str, caption: str) -> str:
    """Kappa of every two raters with its interval and n; grey where it is not defined or n is small."""
    cell, left, top = 76, 170, 150
    width, height = left + cell * len(names) + 130, top + cell * len(names) + 40
    parts = [f'<text x="8" y="20" font-size="14" font-weight="600">{escape(title)}</text>']
    for at, name in enumerate(names):
        middle = left + cell * at + cell / 2
        line = top + cell * at + cell / 2 + 4
        parts += [
            f'<text transform="translate({middle:.1f} {top - 8}) rotate(-40)">{_short(name)}</text>',
            f'<text x="{left - 8}" y="{line:.1f}" text-anchor="end">{_short(name)}</text>',
        ]
    for row, a in enumerate(names):
        for column, b in enumerate(names):
            found = cells.get((a, b)) or cells.get((b, a))
            x, y = left + cell * column, top + cell * row
            parts += _cell(found, x, y, cell, same=a == b)
    parts.append(f'<text class="soft" x="8" y="{height - 12}" font-size="11">{escape(caption)}</text>')
    return _whole(parts, width=max(width, 620), height=height, title=title)


def _cell(found: Record | None, x: int, y: int, size: int, *, same: bool) -> list[str]:
    middle = x + size / 2
    if same or found is None:
        return [f'<rect class="none" x="{x}" y="{y}" width="{size - 2}" height="{size - 2}"/>']
    if found["kappa"] is None or found["few"]:
        words = [f"{found['kappa']:.2f}"] if found["kappa"] is not None else ["not defined"]
        box = f'<rect class="none" x="{x}" y="{y}" width="{size - 2}" height="{size - 2}"/>'
        ink = ""
    else:
        words = [f"{found['kappa']:.2f}"]
        light = 95 - 55 * max(0.0, min(1.0, found["kappa"]))
        box = (
            f'<rect fill="hsl(212 60% {light:.0f}%)" x="{x}" y="{y}" width="{size - 2}" height="{size - 2}"/>'
        )
        ink = ' style="fill:#fff"' if light < 58 else ' style="fill:#14202e"'
    if found["low"] is not None:
        words.append(f"{found['low']:.2f} to {found['high']:.2f}")
    words.append(f"n {found['n']:,}")
    lines = [
        f'<text{ink} x="{middle:.1f}" y="{y + 24 + 16 * at}" text-anchor="middle" '
        f'font-size="{13 if at == 0 else 10}">{escape(word)}</text>'
        for at, word in enumerate(words)
    ]
    hint = f"{found['a']} and {found['b']}: {found['note'] or found['interval'] or ''}"
    return ["<g>", f"<title>{escape(hint)}</title>", box, *lines, "</g>"]


def _whole(parts: list[str], *, width: float, height: float, title: str) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{escape(title)}">'
    )
    paper = '<rect class="paper" width="100%" height="100%"/>'
    return "\n".join([head, _STYLE, paper, *parts, "</svg>"]) + "\n"


def _short(name: str) -> str:
    return escape(name if len(name) <= 26 else name[:25] + "…")


def _square(x: float, y: float) -> str:
    return f"M{x - 4:.1f} {y - 4:.1f}h8v8h-8z"


def _diamond(x: float, y: float) -> str:
    return f"M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"
