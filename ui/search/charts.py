"""Builds charts of a dataset's counts: ranked bars and histograms."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

_MARK_COLOUR = "#4f93a6"  # the theme's colour, between its dark and its light shade
_ROW_HEIGHT, _MARGIN = 22, 70  # pixels per bar, and outside the bars


def build_ranked_bar_chart(counts: Sequence[tuple[str, int]], *, title: str) -> alt.Chart:
    """Return a chart with one bar per value, in the given order."""
    bar_chart: alt.Chart = (
        alt.Chart(pd.DataFrame([{"value": value, "count": count} for value, count in counts]))
        .mark_bar(color=_MARK_COLOUR)
        .encode(
            y=alt.Y("value:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            x=alt.X("count:Q", title=title, axis=alt.Axis(format=",d", tickCount=6, tickMinStep=1)),
            tooltip=["value:N", alt.Tooltip("count:Q", format=",d")],
        )
        .properties(height=_ROW_HEIGHT * max(1, len(counts)) + _MARGIN)
    )
    return bar_chart


def build_histogram(bins: Sequence[tuple[int, int, int]], *, title: str, unit: str = "texts") -> alt.Chart:
    """Return a histogram.

    Args:
        bins: the lowest value, the highest value and the count of each bin; values are whole numbers.
        title: the title of the x-axis.
        unit: what is counted, in the plural.
    """
    rows = [{"low": low, "high": high + 1, unit: count} for low, high, count in bins]
    histogram: alt.Chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_bar(color=_MARK_COLOUR)
        .encode(
            x=alt.X("low:Q", title=title, bin="binned"),
            x2="high:Q",
            y=alt.Y(f"{unit}:Q", title=unit, axis=alt.Axis(format=",d", tickCount=6, tickMinStep=1)),
            tooltip=["low:Q", "high:Q", alt.Tooltip(f"{unit}:Q", format=",d")],
        )
        .properties(height=260)
    )
    return histogram
