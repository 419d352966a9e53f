"""Renders a dataset's statistics as SVG figures for papers and slides: bar charts and histograms.

The figures are dark on white with sizes in pixels, so they look the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from browsing.dataset_statistics import DatasetStatistics, Lengths

_WIDTH, _LABEL_WIDTH, _ROW_HEIGHT, _HEADER_HEIGHT, _PLOT_HEIGHT = 760, 250, 22, 56, 240
_BAR_COLOUR, _TEXT_COLOUR, _MUTED_COLOUR = "#4f93a6", "#1d2b30", "#5c6b70"
_MAX_BARS = 30  # the maximum number of bars in a chart


def render_figures(statistics: DatasetStatistics) -> dict[str, str]:
    """Render all figures that are not empty as SVG, by name (``task``, ``boxes``, ``observations``, …)."""
    figures = {}
    for column, counts in statistics.counts.items():
        if any(value for value, _ in counts):
            labelled_counts = [(value or "not stated", count) for value, count in counts]
            figures[column.replace("_", "-")] = render_bar_chart(
                labelled_counts, _format_title(statistics, f"Questions by {column}")
            )
    bins = [(boxes, boxes, count) for boxes, count in statistics.boxes]
    if any(boxes for boxes, _ in statistics.boxes):
        figures["boxes"] = render_histogram(
            bins, _format_title(statistics, "Boxes per question"), unit="boxes"
        )
        labelled_counts = [(label or "not stated", count) for label, count, _ in statistics.observations]
        figures["observations"] = render_bar_chart(
            labelled_counts, _format_title(statistics, "Questions by box label")
        )
    for name, lengths in (("question", statistics.stems), ("explanation", statistics.explanations)):
        if lengths.n:
            figures |= _render_length_figures(statistics, name, lengths)
    return figures


def render_bar_chart(counts: Sequence[tuple[str, int]], title: str) -> str:
    """Render a bar chart of the first values, in the given order."""
    shown_counts = counts[:_MAX_BARS]
    max_count = max((count for _, count in shown_counts), default=0) or 1
    bar_space = _WIDTH - _LABEL_WIDTH - 90
    elements = []
    for index, (name, count) in enumerate(shown_counts):
        y = _HEADER_HEIGHT + index * _ROW_HEIGHT
        width = bar_space * count / max_count
        short_name = name if len(name) <= 36 else f"{name[:35]}…"
        elements.append(_svg_text(_LABEL_WIDTH - 8, y + 14, short_name, anchor="end"))
        elements.append(
            f'<rect x="{_LABEL_WIDTH}" y="{y + 3}" width="{width:.1f}" height="{_ROW_HEIGHT - 6}"'
            f' fill="{_BAR_COLOUR}"/>'
        )
        elements.append(_svg_text(_LABEL_WIDTH + width + 6, y + 14, f"{count:,}", colour=_MUTED_COLOUR))
    if len(counts) > _MAX_BARS:
        caption = f"The {_MAX_BARS} most frequent of {len(counts):,}."
        elements.append(
            _svg_text(
                _LABEL_WIDTH,
                _HEADER_HEIGHT + len(shown_counts) * _ROW_HEIGHT + 16,
                caption,
                colour=_MUTED_COLOUR,
            )
        )
    return _svg_document(elements, title, height=_HEADER_HEIGHT + len(shown_counts) * _ROW_HEIGHT + 28)


def render_histogram(bins: Sequence[tuple[int, int, int]], title: str, *, unit: str) -> str:
    """Render a histogram of bins (from, to, count)."""
    max_count = max((count for _, _, count in bins), default=0) or 1
    left, baseline = 70, _HEADER_HEIGHT + _PLOT_HEIGHT
    step = (_WIDTH - left - 20) / max(1, len(bins))
    label_step = max(1, len(bins) // 10)
    elements = [
        f'<line x1="{left}" y1="{baseline}" x2="{_WIDTH - 20}" y2="{baseline}" stroke="{_MUTED_COLOUR}"/>'
    ]
    elements += [
        _svg_text(left - 8, baseline - share * _PLOT_HEIGHT + 4, f"{max_count * share:,.0f}", anchor="end")
        for share in (0.0, 0.5, 1.0)
    ]
    for index, (low, _, count) in enumerate(bins):
        height = _PLOT_HEIGHT * count / max_count
        x = left + index * step
        elements.append(_svg_bar(x + 0.5, baseline - height, max(0.5, step - 1), height))
        if index % label_step == 0:
            elements.append(_svg_text(x + step / 2, baseline + 16, f"{low:,}", anchor="middle"))
    elements.append(
        _svg_text((left + _WIDTH) / 2, baseline + 36, unit, anchor="middle", colour=_MUTED_COLOUR)
    )
    return _svg_document(elements, title, height=baseline + 48)


def _render_length_figures(statistics: DatasetStatistics, name: str, lengths: Lengths) -> dict[str, str]:
    caption = f"{statistics.dataset}, n = {lengths.n:,} {name}s"
    figures = {
        f"{name}-characters": render_histogram(
            lengths.characters, f"Length of {name}s ({caption})", unit="characters"
        ),
        f"{name}-length-in-words": render_histogram(
            lengths.in_words, f"Length of {name}s ({caption})", unit="words"
        ),
    }
    if lengths.words:
        figures[f"{name}-words"] = render_bar_chart(
            lengths.words, f"Words by number of {name}s that contain them ({caption})"
        )
    return figures


def _format_title(statistics: DatasetStatistics, heading: str) -> str:
    return f"{heading.replace('_', ' ')} ({statistics.dataset}, n = {statistics.questions:,})"


def _svg_text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = _TEXT_COLOUR) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def _svg_bar(x: float, y: float, width: float, height: float) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{_BAR_COLOUR}"/>'


def _svg_document(elements: Sequence[str], title: str, *, height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height:.0f}" '
        f'viewBox="0 0 {_WIDTH} {height:.0f}" font-family="sans-serif" font-size="13">\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<text x="20" y="28" font-size="16" fill="{_TEXT_COLOUR}">{escape(title)}</text>\n'
        + "\n".join(elements)
        + "\n</svg>\n"
    )
