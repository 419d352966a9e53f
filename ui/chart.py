"""Charts on a page: the one function that passes them to Streamlit, and the chart that several pages draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from measures.proportions import Proportion
from ui.ground import is_light

#: Streamlit's grey of axis labels has a contrast under 4.5 : 1 on its light page; n and intervals stand
#: there.
_ON_LIGHT = "#4a5157"
_MARK = "#4f93a6"  # the theme's colour, between its dark and its light shade
_AROUND = 70  # pixels next to the rows: Streamlit includes them in the height


def chart(made: alt.Chart | alt.LayerChart | alt.FacetChart) -> None:
    """Draw a chart with text that is legible in the present theme."""
    words: dict[str, Any] = {"labelColor": _ON_LIGHT, "titleColor": _ON_LIGHT} if is_light() else {}
    # Streamlit's theme moves the first and the last label away from the values they name.
    made = made.configure_axis(labelFlush=False, **words)
    if words:
        made = made.configure_legend(**words).configure_header(**words)
    st.altair_chart(made, width="stretch")


def share_intervals(shares: Sequence[tuple[str, Proportion]], *, title: str) -> alt.LayerChart:
    """Draw one point per named share with its 95 % interval, in percent; undefined shares are omitted."""
    rows = [
        {
            "name": name,
            "percent": 100 * share.estimate,
            "low": 100 * (share.low or 0.0),
            "high": 100 * (share.high or 0.0),
            "count": share.count,
            "n": share.n,
        }
        for name, share in shares
        if share.estimate is not None
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
    drawn: alt.LayerChart = (spread + point).properties(height=24 * max(1, len(rows)) + _AROUND)
    return drawn
