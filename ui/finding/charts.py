"""Charts of a dataset's counts: ranked bars and histograms."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

_MARK = "#4f93a6"  # the theme's, between its dark and its light shade
_ROW, _AROUND = 22, 70  # pixels a bar, and beside the bars: Streamlit counts them into the height


def ranked(counts: Sequence[tuple[str, int]], *, title: str) -> alt.Chart:
    """One bar a value, in the order given."""
    drawn: alt.Chart = (
        alt.Chart(pd.DataFrame([{"value": value, "count": count} for value, count in counts]))
        .mark_bar(color=_MARK)
        .encode(
            y=alt.Y("value:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
            x=alt.X("count:Q", title=title, axis=alt.Axis(format=",d", tickCount=6, tickMinStep=1)),
            tooltip=["value:N", alt.Tooltip("count:Q", format=",d")],
        )
        .properties(height=_ROW * max(1, len(counts)) + _AROUND)
    )
    return drawn


def bars(bins: Sequence[tuple[int, int, int]], *, title: str, counted: str = "texts") -> alt.Chart:
    """A histogram of bins (from, to, how many of what is counted)."""
    rows = [{"low": low, "high": high + 1, counted: count} for low, high, count in bins]
    drawn: alt.Chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_bar(color=_MARK)
        .encode(
            x=alt.X("low:Q", title=title, bin="binned"),
            x2="high:Q",
            y=alt.Y(f"{counted}:Q", title=counted, axis=alt.Axis(format=",d", tickCount=6, tickMinStep=1)),
            tooltip=["low:Q", "high:Q", alt.Tooltip(f"{counted}:Q", format=",d")],
        )
        .properties(height=260)
    )
    return drawn
