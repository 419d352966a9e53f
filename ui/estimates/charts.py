"""The chart of error rates with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from measures.proportions import Proportion
from review.estimates import Estimate
from ui.chart import build_share_chart


def build_estimate_chart(estimates: Sequence[tuple[str, Estimate]], *, title: str) -> alt.LayerChart:
    """Return a chart with one point per rate and its 95 % interval, in percent of the whole dataset."""
    shares = [
        (
            name,
            Proportion(
                count=estimate.count,
                n=estimate.rate.reviewed,
                estimate=estimate.rate.estimate,
                low=estimate.rate.low,
                high=estimate.rate.high,
            ),
        )
        for name, estimate in estimates
    ]
    return build_share_chart(shares, title=title)
