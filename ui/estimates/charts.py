"""Charts of rates with their intervals: one point a rate, and groups side by side."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from review.estimates import Estimate

_MARK = "#4f93a6"  # the theme's, between its dark and its light shade
_AROUND = 70  # pixels beside the bars: Streamlit counts them into the height


def intervals(named: Sequence[tuple[str, Estimate]], *, title: str) -> alt.LayerChart:
    """One point a rate with its 95 % interval, in percent of the whole."""
    rows = [
        {
            "name": name,
            "percent": 100 * each.rate.estimate,
            "low": 100 * (each.rate.low or 0.0),
            "high": 100 * (each.rate.high or 0.0),
            "count": each.count,
            "n": each.rate.reviewed,
        }
        for name, each in named
        if each.rate.estimate is not None
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        y=alt.Y("name:N", title=None, sort=None, axis=alt.Axis(labelLimit=260)),
        tooltip=[
            "name:N",
            "count:Q",
            "n:Q",
            *(alt.Tooltip(f"{name}:Q", format=".1f") for name in ("percent", "low", "high")),
        ],
    )
    spread = base.mark_rule(color=_MARK, strokeWidth=2).encode(
        x=alt.X("low:Q", title=title, axis=alt.Axis(tickCount=10)), x2="high:Q"
    )
    point = base.mark_point(color=_MARK, filled=True, size=70).encode(x="percent:Q")
    return (spread + point).properties(height=24 * max(1, len(rows)) + _AROUND)
