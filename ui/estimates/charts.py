"""The chart of rates with their intervals: one point a rate."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from review.estimates import Estimate
from ui.chart import ShareOfMany, share_intervals


def intervals(named: Sequence[tuple[str, Estimate]], *, title: str) -> alt.LayerChart:
    """One point a rate with its 95 % interval, in percent of the whole."""
    shares = [
        ShareOfMany(
            name=name,
            estimate=each.rate.estimate,
            low=each.rate.low,
            high=each.rate.high,
            count=each.count,
            n=each.rate.reviewed,
        )
        for name, each in named
    ]
    return share_intervals(shares, title=title)
