"""The calibration of a model's stated probabilities: a table, and a reliability diagram by condition."""

from __future__ import annotations

import altair as alt
import pandas as pd
import streamlit as st

from evaluation.results import EvaluationResults
from evaluation.results_text import (
    NO_PROBABILITIES,
    describe_calibration,
    list_calibration_rows,
    list_reliability_rows,
)
from ui.chart import show_chart
from ui.tables import show_table
from ui.widgets import escape_markdown

_MARK_COLOUR = "#4f93a6"  # the theme's colour, between its dark and its light shade
_LINE_COLOUR = "#8a8f98"
_PERCENT = alt.Scale(domain=[0, 100], nice=False)


def show_calibration(results: EvaluationResults) -> None:
    """Show the calibration of each condition, or state that no answer has a probability."""
    if not results.calibrations:
        st.caption(NO_PROBABILITIES)
        return
    st.markdown("**Calibration of stated probabilities**")
    show_table(list_calibration_rows(results))
    st.caption(
        "ECE: expected calibration error over ten bins, 0 if stated probabilities and accuracy agree; if "
        "calibrated: the ECE that a calibrated model would have with as many answers. AUC: of the stated "
        "probability of yes, on yes/no questions (DeLong). Answers with a probability only."
    )
    for condition_calibration in results.calibrations:
        for sentence in describe_calibration(condition_calibration):
            st.caption(escape_markdown(sentence))
    show_chart(_build_reliability_chart(results))
    with st.expander("Bins of the diagram"):
        for condition_calibration in results.calibrations:
            st.markdown(f"**{escape_markdown(condition_calibration.condition.value)}**")
            show_table(list_reliability_rows(condition_calibration))


def _build_reliability_chart(results: EvaluationResults) -> alt.FacetChart:
    """Return one diagram per condition: accuracy with its interval over the mean stated probability."""
    rows = [
        {
            "condition": condition_calibration.condition.value,
            "stated": 100 * bin_.mean_confidence,
            "accuracy": 100 * bin_.share.estimate,
            "low": 100 * (bin_.share.low or 0.0),
            "high": 100 * (1.0 if bin_.share.high is None else bin_.share.high),
            "n": bin_.share.n,
        }
        for condition_calibration in results.calibrations
        for bin_ in condition_calibration.calibration.bins
        if bin_.share.estimate is not None
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("stated:Q", title="Stated probability (%)", scale=_PERCENT),
        tooltip=["n:Q", *(alt.Tooltip(f"{name}:Q", format=".1f") for name in ("stated", "accuracy"))],
    )
    diagonal = base.mark_line(color=_LINE_COLOUR, strokeDash=[4, 4]).encode(y="stated:Q")
    spread = base.mark_rule(color=_MARK_COLOUR, strokeWidth=2).encode(
        y=alt.Y("low:Q", title="Accuracy (%)", scale=_PERCENT), y2="high:Q"
    )
    point = base.mark_point(color=_MARK_COLOUR, filled=True, size=70).encode(y="accuracy:Q")
    chart: alt.FacetChart = (
        (diagonal + spread + point)
        .properties(height=200, width=240)
        .facet(alt.Facet("condition:N", title=None), columns=3)
    )
    return chart
