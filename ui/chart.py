"""Shows charts on a page, and builds the chart of shares that several pages use."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd
import streamlit as st

from measures.proportions import Proportion

_MARK_COLOUR = "#4f93a6"  # the theme's colour, between its dark and its light shade
_FONT_SIZE = 13  # pixels; the default of labels is 11
_MARGIN = 70  # pixels outside the rows that the chart's height includes


def show_chart(altair_chart: alt.Chart | alt.LayerChart | alt.FacetChart) -> None:
    """Show a chart. In every theme, its labels have the text colour of the page (ui/assets/shell.css)."""
    # Streamlit's theme moves the first and the last axis label away from their values. labelFlush=False
    # prevents this.
    altair_chart = (
        altair_chart.configure_axis(labelFlush=False, labelFontSize=_FONT_SIZE, titleFontSize=_FONT_SIZE)
        .configure_header(labelFontSize=_FONT_SIZE)  # the names above the parts of a chart
        .configure_legend(labelFontSize=_FONT_SIZE)
    )
    st.altair_chart(altair_chart, width="stretch")


def build_share_chart(shares: Sequence[tuple[str, Proportion]], *, title: str) -> alt.LayerChart:
    """Return a chart with one point per share and its 95 % interval, in percent; omit undefined shares.

    Args:
        shares: the name and the value of each share.
        title: the title of the axis.
    """
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
    spread = base.mark_rule(color=_MARK_COLOUR, strokeWidth=2).encode(
        x=alt.X("low:Q", title=title, axis=alt.Axis(tickCount=10)), x2="high:Q"
    )
    point = base.mark_point(color=_MARK_COLOUR, filled=True, size=70).encode(x="percent:Q")
    interval_chart: alt.LayerChart = (spread + point).properties(height=24 * max(1, len(rows)) + _MARGIN)
    return interval_chart
