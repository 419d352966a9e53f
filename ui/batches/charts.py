"""Builds the charts of a batch: progress by reviewer, error rates, stated difficulty against rating."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import pandas as pd

from review.progress import ProgressLine, Rate, TierTable
from ui.chart import build_share_chart

# Distinguishable in both themes and with red-green colour blindness (Okabe and Ito).
_STATE_COLOURS = {"Done": "#009e73", "Skipped": "#e69f00", "Left": "#8a939b"}
_ROW_HEIGHT = 28  # pixels per bar
_MARGIN, _LEGEND_HEIGHT = 70, 75  # pixels outside the bars that the chart's height includes


def build_progress_chart(lines: Sequence[ProgressLine]) -> alt.Chart:
    """Return a chart with one bar per row, divided into judgements done, skipped and left."""
    rows = [
        {"name": line.name, "state": name, "judgements": count, "order": position}
        for line in lines
        for position, (name, count) in enumerate(
            zip(_STATE_COLOURS, (line.done, line.skipped, line.left), strict=True)
        )
    ]
    progress_chart: alt.Chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_bar()
        .encode(
            y=alt.Y("name:N", title=None, sort=None, scale=alt.Scale(paddingInner=0.35)),
            x=alt.X("judgements:Q", title="judgements", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color(
                "state:N",
                title=None,
                sort=list(_STATE_COLOURS),
                scale=alt.Scale(domain=list(_STATE_COLOURS), range=list(_STATE_COLOURS.values())),
                legend=alt.Legend(orient="top"),
            ),
            order=alt.Order("order:Q"),
            tooltip=["name:N", "state:N", "judgements:Q"],
        )
        .properties(height=_ROW_HEIGHT * max(1, len(lines)) + _MARGIN + _LEGEND_HEIGHT)
    )
    return progress_chart


def build_rate_chart(rates: Sequence[Rate]) -> alt.LayerChart:
    """Return a chart with one point per rate and its 95 % interval, in percent of the reviewed questions."""
    shares = [(rate.name, rate.share) for rate in rates]
    return build_share_chart(shares, title="percent of the reviewed questions, 95 % interval")


def build_tier_heat_map(table: TierTable) -> alt.LayerChart:
    """Return a heat map of judgements. Rows are stated difficulties, columns reviewers' ratings."""
    order = [tier.value for tier in table.tiers]
    rows = [
        {"machine": machine, "expert": expert, "count": count}
        for machine, counts in zip(order, table.counts, strict=True)
        for expert, count in zip(order, counts, strict=True)
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X(
            "expert:N",
            title="reviewers' rating",
            sort=order,
            axis=alt.Axis(orient="top", labelAngle=0, domain=False),
        ),
        y=alt.Y("machine:N", title="stated difficulty", sort=order, axis=alt.Axis(domain=False)),
        tooltip=["machine:N", "expert:N", "count:Q"],
    )
    max_count = max((count for counts in table.counts for count in counts), default=0)
    # High counts are dark in both themes: white text on dark cells, black text on light ones.
    cells = base.mark_rect().encode(
        color=alt.Color(
            "count:Q",
            legend=None,
            scale=alt.Scale(domain=[0, max(1, max_count)], range=["#dfe9ee", "#1f5b73"]),
        )
    )
    numbers = base.mark_text(fontSize=15).encode(
        text=alt.Text("count:Q", format=","),
        color=alt.condition(f"datum.count > {max_count / 2}", alt.value("white"), alt.value("black")),
    )
    heat_map: alt.LayerChart = (cells + numbers).properties(height=210)
    return heat_map
