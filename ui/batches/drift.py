"""Shows how each reviewer's verdicts change over time: a chart of one measure, a table of all measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import altair as alt
import pandas as pd
import streamlit as st

from domain.ratings import RATINGS
from measures.agreement import SMALL_SAMPLE
from measures.means import Mean
from measures.proportions import Proportion
from review.drift import DriftBlock
from review.service import BatchAgreement
from ui.chart import show_chart
from ui.tables import show_table
from ui.widgets import escape_markdown

BlockMeasure = Mean | Proportion
_MARK_COLOUR = "#4f93a6"  # the theme's colour, between its dark and its light shade
_MAX_TICKS = 6
# The padding in pixels keeps points inside the panel. A point on its upper edge would move the heading.
_VALUE_SCALE = alt.Scale(zero=False, nice=False, padding=8)


def show_drift_panel(agreement: BatchAgreement) -> None:
    """Show the choice of a measure, its chart, and the table of all measures."""
    st.subheader("Reviewers over time")
    if not agreement.drift:
        st.caption("No verdicts in this batch yet.")
        return
    measures = _list_measures()
    measure_name = st.selectbox("Measure", list(measures), key=f"drift-of-{agreement.batch.id}")
    show_chart(_build_drift_chart(agreement, measure_name, measures[measure_name]))
    show_table(
        [
            {
                "Reviewer": agreement.people[person],
                "Verdicts": f"{block.first:,} to {block.last:,}",
                **{
                    name.capitalize(): _format_measure(get_value(block), is_share=name == "accepted")
                    for name, get_value in measures.items()
                },
            }
            for person, blocks in agreement.drift.items()
            for block in blocks
        ]
    )
    st.caption(
        escape_markdown(
            f"Blocks of {agreement.drift_block:,} verdicts in the order in which each reviewer first gave "
            f"them; the last block may be shorter. Figures of fewer than {SMALL_SAMPLE} verdicts are "
            "imprecise: look for trends, not at single points. 95 % intervals account for clustering by exam "
            "(Wilson for shares, Student's t for means). Viewing time is measured until the first verdict. "
            "Reviewers cannot see this page."
        )
    )


def _list_measures() -> dict[str, Callable[[DriftBlock], BlockMeasure]]:
    def rating_getter(name: str) -> Callable[[DriftBlock], BlockMeasure]:
        return lambda block: block.ratings[name]

    return {
        "accepted": lambda block: block.accepted,
        **{scale.name: rating_getter(scale.id) for scale in RATINGS},
        "viewing time (s)": lambda block: block.seconds,
    }


def _build_drift_chart(
    agreement: BatchAgreement, name: str, get_value: Callable[[DriftBlock], BlockMeasure]
) -> alt.FacetChart:
    points = [
        (agreement.people[person], block.last, get_value(block))
        for person, blocks in agreement.drift.items()
        for block in blocks
    ]
    is_share = name == "accepted"
    return build_drift_chart(
        points, title="Accepted (%)" if is_share else name, counted="Verdicts", block=agreement.drift_block,
        factor=100 if is_share else 1,
    )  # fmt: skip


def build_drift_chart(
    points: Sequence[tuple[str, int, BlockMeasure]],
    *,
    title: str,
    counted: str,
    block: int,
    factor: float = 100,
) -> alt.FacetChart:
    """Return a line with 95 % intervals for each reviewer.

    Args:
        points: (reviewer, number of the last verdict of the block, measure).
        title: the name of the measure.
        counted: the title of the horizontal axis, such as "Verdicts".
        block: the number of verdicts in a block.
        factor: 100 for shares, which are shown in percent; otherwise 1.
    """
    rows = []
    for person, last, value in points:
        if value.estimate is not None:
            low = value.estimate if value.low is None else value.low
            high = value.estimate if value.high is None else value.high
            rows.append(
                {
                    "Reviewer": person,
                    "until": last,
                    "value": factor * value.estimate,
                    "low": factor * low,
                    "high": factor * high,
                    "n": value.n,
                }
            )
    frame = pd.DataFrame(rows, columns=["Reviewer", "until", "value", "low", "high", "n"])
    end = max((until for _, until, _ in points), default=0)
    base = alt.Chart(frame).encode(
        x=alt.X("until:Q", title=counted, axis=alt.Axis(values=list_block_ticks(end, block))),
        tooltip=[
            "Reviewer:N",
            "until:Q",
            "n:Q",
            *(alt.Tooltip(f"{column}:Q", format=".1f") for column in ("value", "low", "high")),
        ],
    )
    spread = base.mark_rule(color=_MARK_COLOUR, strokeWidth=2).encode(
        y=alt.Y("low:Q", title=title, scale=_VALUE_SCALE), y2="high:Q"
    )
    line = base.mark_line(color=_MARK_COLOUR, point={"color": _MARK_COLOUR, "size": 60}).encode(y="value:Q")
    drift_chart: alt.FacetChart = (
        (spread + line)
        .properties(height=130, width=240)
        .facet(alt.Facet("Reviewer:N", title=None), columns=3)
    )
    return drift_chart


def list_block_ticks(last: int, block: int) -> list[int]:
    """Return at most six ticks: 0 and ends of blocks.

    >>> list_block_ticks(32, 25), list_block_ticks(400, 25)
    ([0, 25], [0, 100, 200, 300, 400])
    """
    step = block
    while last // step > _MAX_TICKS - 1:
        step *= 2
    return list(range(0, last + 1, step))


def _format_measure(value: BlockMeasure, *, is_share: bool) -> str:
    if value.estimate is None:
        return "none"

    def format_number(number: float) -> str:
        return f"{100 * number:.0f} %" if is_share else f"{number:.1f}"

    interval = (
        ""
        if value.low is None or value.high is None
        else f" ({format_number(value.low)} to {format_number(value.high)})"
    )
    return f"{format_number(value.estimate)}{interval}, n = {value.n:,}"
