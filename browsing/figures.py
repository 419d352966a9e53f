"""Figures of a dataset's statistics as SVG, for papers and slides: bar charts and histograms.

They are dark on white with sizes in pixels, so they look the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from browsing.dataset_statistics import DatasetStatistics, Lengths

_WIDTH, _LABELS, _ROW, _HEAD, _HEIGHT = 760, 250, 22, 56, 240
_BAR, _INK, _SOFT = "#4f93a6", "#1d2b30", "#5c6b70"
_SHOWN = 30  # bars in a ranked figure


def figures_of(found: DatasetStatistics) -> dict[str, str]:
    """All figures as SVG, by name (``task``, ``boxes``, ``observations``, …), without empty ones."""
    figures = {}
    for column, counts in found.counts.items():
        if any(value for value, _ in counts):
            named = [(value or "not stated", count) for value, count in counts]
            figures[column.replace("_", "-")] = ranked_svg(named, _title(found, f"Questions by {column}"))
    bins = [(boxes, boxes, count) for boxes, count in found.boxes]
    if any(boxes for boxes, _ in found.boxes):
        figures["boxes"] = histogram_svg(bins, _title(found, "Boxes a question"), unit="boxes")
        labels = [(label or "not stated", count) for label, count, _ in found.observations]
        figures["observations"] = ranked_svg(labels, _title(found, "Questions by what their boxes show"))
    for name, lengths in (("question", found.stems), ("explanation", found.explanations)):
        if lengths.n:
            figures |= _texts(found, name, lengths)
    return figures


def ranked_svg(counts: Sequence[tuple[str, int]], title: str) -> str:
    """A bar chart of the first values, in the order given."""
    shown = counts[:_SHOWN]
    most = max((count for _, count in shown), default=0) or 1
    room = _WIDTH - _LABELS - 90
    parts = []
    for place, (name, count) in enumerate(shown):
        y = _HEAD + place * _ROW
        width = room * count / most
        short = name if len(name) <= 36 else f"{name[:35]}…"
        parts.append(_text(_LABELS - 8, y + 14, short, anchor="end"))
        parts.append(
            f'<rect x="{_LABELS}" y="{y + 3}" width="{width:.1f}" height="{_ROW - 6}" fill="{_BAR}"/>'
        )
        parts.append(_text(_LABELS + width + 6, y + 14, f"{count:,}", colour=_SOFT))
    if len(counts) > _SHOWN:
        said = f"The {_SHOWN} most frequent of {len(counts):,}."
        parts.append(_text(_LABELS, _HEAD + len(shown) * _ROW + 16, said, colour=_SOFT))
    return _svg(parts, title, height=_HEAD + len(shown) * _ROW + 28)


def histogram_svg(bins: Sequence[tuple[int, int, int]], title: str, *, unit: str) -> str:
    """A histogram of bins (from, to, count)."""
    most = max((count for _, _, count in bins), default=0) or 1
    left, base = 70, _HEAD + _HEIGHT
    step = (_WIDTH - left - 20) / max(1, len(bins))
    every = max(1, len(bins) // 10)
    parts = [f'<line x1="{left}" y1="{base}" x2="{_WIDTH - 20}" y2="{base}" stroke="{_SOFT}"/>']
    parts += [
        _text(left - 8, base - share * _HEIGHT + 4, f"{most * share:,.0f}", anchor="end")
        for share in (0.0, 0.5, 1.0)
    ]
    for place, (low, _, count) in enumerate(bins):
        height = _HEIGHT * count / most
        x = left + place * step
        parts.append(_bar(x + 0.5, base - height, max(0.5, step - 1), height))
        if place % every == 0:
            parts.append(_text(x + step / 2, base + 16, f"{low:,}", anchor="middle"))
    parts.append(_text((left + _WIDTH) / 2, base + 36, unit, anchor="middle", colour=_SOFT))
    return _svg(parts, title, height=base + 48)


def _texts(found: DatasetStatistics, name: str, lengths: Lengths) -> dict[str, str]:
    whole = f"{found.dataset}, n = {lengths.n:,} {name}s"
    figures = {
        f"{name}-characters": histogram_svg(
            lengths.characters, f"Length of {name}s ({whole})", unit="characters"
        ),
        f"{name}-length-in-words": histogram_svg(
            lengths.in_words, f"Length of {name}s ({whole})", unit="words"
        ),
    }
    if lengths.words:
        figures[f"{name}-words"] = ranked_svg(lengths.words, f"Words by how many {name}s have them ({whole})")
    return figures


def _title(found: DatasetStatistics, what: str) -> str:
    return f"{what.replace('_', ' ')} ({found.dataset}, n = {found.questions:,})"


def _text(x: float, y: float, said: str, *, anchor: str = "start", colour: str = _INK) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(said)}</text>'


def _bar(x: float, y: float, width: float, height: float) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{_BAR}"/>'


def _svg(parts: Sequence[str], title: str, *, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:.0f}" '
        f'viewBox="0 0 {_WIDTH} {height:.0f}" font-family="sans-serif" font-size="13">\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<text x="20" y="28" font-size="16" fill="{_INK}">{escape(title)}</text>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
