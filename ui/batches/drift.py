"""Each reviewer's verdicts over time: a chart of one measure and a table of all."""

from __future__ import annotations

from collections.abc import Callable

import altair as alt
import pandas as pd
import streamlit as st

from domain.ratings import RATINGS
from measures.agreement import FEW
from measures.means import Mean
from measures.proportions import Proportion
from review.drift import DriftBlock
from review.service import BatchAgreement
from ui.chart import chart
from ui.parts import plain
from ui.tables import table

Measured = Mean | Proportion
_MARK = "#4f93a6"  # the theme's colour, between its dark and its light shade


def drift_panel(found: BatchAgreement) -> None:
    """Draw the chart and, on request, the numbers."""
    st.subheader("Each reviewer over time")
    if not found.drift:
        st.caption("Nobody has judged a question of this batch yet.")
        return
    measures = _measures()
    chosen = st.selectbox("Measure", list(measures), key=f"drift-of-{found.batch.id}")
    chart(_chart(found, chosen, measures[chosen]))
    table(
        [
            {
                "Reviewer": found.people[person],
                "Verdicts": f"{block.first:,} to {block.last:,}",
                **{
                    name.capitalize(): _said(read(block), share=name == "accepted")
                    for name, read in measures.items()
                },
            }
            for person, blocks in found.drift.items()
            for block in blocks
        ]
    )
    st.caption(
        plain(
            f"Blocks of {found.drift_block:,} verdicts in the order in which each reviewer first gave "
            f"them; the last may be short. With fewer than {FEW} verdicts a block says little: look for a "
            "trend, not at one "
            "point. 95 % intervals, clustered by exam (Wilson's of shares, Student's of means). Seconds of "
            "looking until the first verdict. Reviewers don't see this page."
        )
    )


def _measures() -> dict[str, Callable[[DriftBlock], Measured]]:
    def rating(name: str) -> Callable[[DriftBlock], Measured]:
        return lambda block: block.ratings[name]

    return {
        "accepted": lambda block: block.accepted,
        **{each.name: rating(each.id) for each in RATINGS},
        "seconds looking": lambda block: block.seconds,
    }


def _chart(found: BatchAgreement, name: str, read: Callable[[DriftBlock], Measured]) -> alt.FacetChart:
    factor = 100 if name == "accepted" else 1
    rows = []
    for person, blocks in found.drift.items():
        for block in blocks:
            value = read(block)
            if value.estimate is not None:
                low = value.estimate if value.low is None else value.low
                high = value.estimate if value.high is None else value.high
                rows.append(
                    {
                        "Reviewer": found.people[person],
                        "until": block.last,
                        "value": factor * value.estimate,
                        "low": factor * low,
                        "high": factor * high,
                        "n": value.n,
                    }
                )
    title = "accepted, %" if name == "accepted" else name
    frame = pd.DataFrame(rows, columns=["Reviewer", "until", "value", "low", "high", "n"])
    base = alt.Chart(frame).encode(
        x=alt.X("until:Q", title="verdicts given", axis=alt.Axis(tickMinStep=found.drift_block)),
        tooltip=[
            "Reviewer:N",
            "until:Q",
            "n:Q",
            *(alt.Tooltip(f"{each}:Q", format=".1f") for each in ("value", "low", "high")),
        ],
    )
    spread = base.mark_rule(color=_MARK, strokeWidth=2).encode(
        y=alt.Y("low:Q", title=title, scale=alt.Scale(zero=False)), y2="high:Q"
    )
    line = base.mark_line(color=_MARK, point={"color": _MARK, "size": 60}).encode(y="value:Q")
    drawn: alt.FacetChart = (
        (spread + line)
        .properties(height=130, width=240)
        .facet(alt.Facet("Reviewer:N", title=None), columns=3)
    )
    return drawn


def _said(value: Measured, *, share: bool) -> str:
    if value.estimate is None:
        return "not given"

    def number(figure: float) -> str:
        return f"{100 * figure:.0f} %" if share else f"{figure:.1f}"

    reach = (
        "" if value.low is None or value.high is None else f" ({number(value.low)} to {number(value.high)})"
    )
    return f"{number(value.estimate)}{reach}, n = {value.n:,}"
