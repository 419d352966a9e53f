"""The chart of error rates with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from measures.proportions import Proportion
from review.estimates import Estimate
from ui.chart import share_intervals


def intervals(named: Sequence[tuple[str, Estimate]], *, title: str) -> alt.LayerChart:
    """Return a chart with one point per rate and its 95 % interval, in percent of the whole dataset."""
    shares = [
        (
            name,
            Proportion(
                count=found.count,
                n=found.rate.reviewed,
                estimate=found.rate.estimate,
                low=found.rate.low,
                high=found.rate.high,
            ),
        )
        for name, found in named
    ]
    return share_intervals(shares, title=title)
