"""The figures of a report on the page: the same rows as in its files, drawn in the page's own colours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from measures.results import to_records
from reader_study.report.rows import ForestRow
from reader_study.report.tables import LearningQuarter
from ui.ground import grey

# Told apart in both themes, and by people who don't see red and green apart (Okabe and Ito).
_KINDS = {"reader": "#e69f00", "model": "#56b4e9"}
_RULE = "#8a939b"
_AROUND, _LEGEND = 70, 40  # pixels beside the bars: Streamlit counts them into the height


def forest(
    rows: Sequence[ForestRow[Any]],
    *,
    title: str,
    factor: float = 100.0,
    zero: bool = False,
    whole: bool = False,
) -> alt.LayerChart:
    """One row a rater: estimate, interval, and both in words at the end of the line.

    Args:
        rows: from top to bottom.
        title: of the axis.
        factor: of what is drawn, 100 for per cent.
        zero: whether a line stands at no difference.
        whole: whether the axis goes from 0 to 1 whatever is on it.
    """
    names = ("estimate", "low", "high")
    shown = pd.DataFrame(to_records(rows), columns=["label", "kind", *names, "words"])
    shown[list(names)] = shown[list(names)].astype(float) * factor
    shape = {"reader": "diamond", "model": "square"}
    scale = alt.Scale(domain=[0, factor]) if whole else alt.Scale(zero=False)
    axis: dict[str, Any] = {"labelLimit": 240, "labelOverlap": False}
    said = json.dumps(dict(zip(shown["label"], shown["words"], strict=True)))
    words = alt.Axis(orient="right", labelExpr=f"{said}[datum.value]", domain=False, ticks=False, **axis)

    def line(beside: alt.Axis) -> alt.Chart:
        return alt.Chart(shown).encode(
            y=alt.Y("label:N", sort=list(shown["label"]), title=None, axis=beside),
            tooltip=["label:N", "words:N"],
        )

    kinds = [kind for kind in _KINDS if kind in set(shown["kind"])]
    colours = alt.Color(
        "kind:N",
        title=None,
        scale=alt.Scale(domain=kinds, range=[_KINDS[kind] for kind in kinds]),
        legend=alt.Legend(orient="top"),
    )
    lines = (
        line(alt.Axis(**axis))
        .mark_rule(strokeWidth=2)
        .encode(x=alt.X("low:Q", title=title, scale=scale), x2="high:Q", color=colours)
    )
    points = (
        line(words)
        .mark_point(filled=True, size=80, opacity=1)
        .encode(
            x=alt.X("estimate:Q", title=title),
            color=colours,
            shape=alt.Shape(
                "kind:N", title=None, scale=alt.Scale(domain=kinds, range=[shape[kind] for kind in kinds])
            ),
        )
    )
    layers = [lines, points]
    if zero:
        layers.insert(
            0, alt.Chart(pd.DataFrame([{"x": 0.0}])).mark_rule(strokeDash=[4, 4], color=_RULE).encode(x="x:Q")
        )
    # The words at the end of the lines are an axis of their own.
    drawn: alt.LayerChart = alt.layer(*layers).resolve_axis(y="independent")
    return drawn.properties(height=28 * max(1, len(shown)) + _AROUND + _LEGEND)


def learning(rows: Sequence[LearningQuarter]) -> alt.FacetChart:
    """Accuracy of each reader over the quarters of their order, with its interval."""
    names = ["rater", "quarter", "estimate", "low", "high", "n", "median_seconds"]
    shown = pd.DataFrame(to_records(rows), columns=names)
    for name in ("estimate", "low", "high"):
        shown[name] = shown[name] * 100
    shown["cases"] = [f"n {count:,}" for count in shown["n"]]
    shown["time"] = ["" if pd.isna(each) else f"{each:.1f} s" for each in shown["median_seconds"]]
    base = alt.Chart().encode(
        x=alt.X("quarter:O", title="quarter of the order", axis=alt.Axis(labelAngle=0)),
        tooltip=[
            "rater:N", "quarter:O", "n:Q",
            *(alt.Tooltip(f"{name}:Q", format=".1f") for name in names[2:5] + names[6:]),
        ],
    )  # fmt: skip
    line = base.mark_line(color=_KINDS["reader"], point=alt.OverlayMarkDef(color=_KINDS["reader"], size=50))
    # The room below 0 is for n and seconds, so that no point can lie on them.
    scale = alt.Scale(domain=[-40, 100], nice=False)
    share = alt.Axis(values=[0, 25, 50, 75, 100])
    line = line.encode(y=alt.Y("estimate:Q", title="accuracy, per cent", scale=scale, axis=share))
    spread = base.mark_rule(color=_KINDS["reader"], opacity=0.6).encode(y="low:Q", y2="high:Q")
    below = base.mark_text(color=grey(), fontSize=11)
    n = below.encode(y=alt.datum(-14), text="cases:N")
    seconds = below.encode(y=alt.datum(-30), text="time:N")
    drawn: alt.FacetChart = (
        alt.layer(line, spread, n, seconds, data=shown)
        .properties(width=175, height=175)
        .facet(facet=alt.Facet("rater:N", title=None, sort=list(dict.fromkeys(shown["rater"]))), columns=3)
    )
    return drawn
