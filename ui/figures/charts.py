"""The figures of a report on the page: the same rows as in its files, drawn in the page's own colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

Record = dict[str, Any]
# Told apart in both themes, and by people who don't see red and green apart (Okabe and Ito).
_KINDS = {"reader": "#e69f00", "model": "#56b4e9"}
_GREY, _RULE = "#8a939b", "#8a939b"
_BLUES, _BOTH = ["#e8f0f6", "#1f5b73"], ["#b3541e", "#f4f1ec", "#1f5b73"]
_AROUND, _LEGEND = 70, 40  # pixels beside the bars: Streamlit counts them into the height
_CELL = 58


def forest(
    rows: Sequence[Record], *, title: str, factor: float = 100.0, zero: bool = False, whole: bool = False
) -> alt.LayerChart:
    """One row a rater: estimate, interval, and both in words at the end of the line.

    Args:
        rows: ``label, kind, estimate, low, high, words``.
        title: of the axis.
        factor: of what is drawn, 100 for per cent.
        zero: whether a line stands at no difference.
        whole: whether the axis goes from 0 to 1 whatever is on it.
    """
    names = ("estimate", "low", "high")
    shown = pd.DataFrame(
        [row | {name: None if row[name] is None else row[name] * factor for name in names} for row in rows],
        columns=["label", "kind", *names, "words"],
    )
    shape = {"reader": "diamond", "model": "square"}
    scale = alt.Scale(domain=[0, factor]) if whole else alt.Scale(zero=False)
    base = alt.Chart(shown).encode(
        y=alt.Y(
            "label:N",
            sort=list(shown["label"]),
            title=None,
            axis=alt.Axis(labelLimit=240, labelOverlap=False),
        ),
        tooltip=["label:N", "words:N"],
    )
    colour = alt.Color(
        "kind:N",
        title=None,
        scale=alt.Scale(domain=list(_KINDS), range=list(_KINDS.values())),
        legend=alt.Legend(orient="top"),
    )
    lines = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=title, scale=scale), x2="high:Q", color=colour
    )
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        x=alt.X("estimate:Q", title=title),
        color=colour,
        shape=alt.Shape(
            "kind:N", title=None, scale=alt.Scale(domain=list(shape), range=list(shape.values()))
        ),
    )
    layers = [lines, points]
    if zero:
        layers.insert(
            0, alt.Chart(pd.DataFrame([{"x": 0.0}])).mark_rule(strokeDash=[4, 4], color=_RULE).encode(x="x:Q")
        )
    return alt.layer(*layers).properties(height=28 * max(1, len(shown)) + _AROUND + _LEGEND)


def squares(
    cells: Sequence[Record],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    signed: bool = False,
    height: int = 52,
) -> alt.LayerChart:
    """Coloured cells with up to three lines of text.

    Args:
        cells: ``row, column, shade, first, second, third, hint``; a shade of None is grey.
        rows, columns: in their order.
        signed: whether shades go from -1 to 1 instead of from 0 to 1.
        height: of a cell, in pixels.
    """
    names = ["row", "column", "shade", "first", "second", "third", "hint"]
    base = alt.Chart(pd.DataFrame(list(cells), columns=names)).encode(
        x=alt.X(
            "column:N",
            title=None,
            sort=list(columns),
            axis=alt.Axis(
                orient="top",
                labelAngle=-40 if max(map(len, columns), default=0) > 10 else 0,
                labelLimit=200,
                domain=False,
                ticks=False,
            ),
        ),
        y=alt.Y(
            "row:N", title=None, sort=list(rows), axis=alt.Axis(labelLimit=240, domain=False, ticks=False)
        ),
        tooltip=[
            alt.Tooltip(f"{name}:N", title=name) for name in ("row", "column", "first", "second", "hint")
        ],
    )
    scale = (
        alt.Scale(domain=[-1, 0, 1], range=_BOTH, clamp=True)
        if signed
        else alt.Scale(domain=[0, 1], range=_BLUES, clamp=True)
    )
    boxes = base.mark_rect(stroke="transparent", strokeWidth=2).encode(
        color=alt.condition(
            "datum.shade === null",
            alt.value("#6b747c"),
            alt.Color("shade:Q", scale=scale, legend=None),
        )
    )
    ink = alt.condition(
        "datum.shade === null || abs(datum.shade) > 0.55", alt.value("white"), alt.value("#14202e")
    )
    first = base.mark_text(fontSize=13, fontWeight="bold", dy=-13).encode(text="first:N", color=ink)
    second = base.mark_text(fontSize=10, dy=2).encode(text="second:N", color=ink)
    third = base.mark_text(fontSize=10, dy=15).encode(text="third:N", color=ink)
    head = 110 if max(map(len, columns), default=0) > 10 else 30
    return (boxes + first + second + third).properties(height=height * max(1, len(rows)) + head)


def learning(rows: Sequence[Record]) -> alt.Chart:
    """Accuracy of each reader over the quarters of their order, with its interval."""
    names = ["rater", "quarter", "estimate", "low", "high", "n", "median_seconds"]
    shown = pd.DataFrame([{name: row[name] for name in names} for row in rows], columns=names)
    for name in ("estimate", "low", "high"):
        shown[name] = shown[name] * 100
    base = alt.Chart().encode(
        x=alt.X("quarter:O", title="quarter of the order", axis=alt.Axis(labelAngle=0)),
        tooltip=[
            "rater:N", "quarter:O", "n:Q",
            *(alt.Tooltip(f"{name}:Q", format=".1f") for name in names[2:5] + names[6:]),
        ],
    )  # fmt: skip
    line = base.mark_line(color=_KINDS["reader"], point=alt.OverlayMarkDef(color=_KINDS["reader"], size=50))
    line = line.encode(y=alt.Y("estimate:Q", title="accuracy, per cent", scale=alt.Scale(domain=[0, 100])))
    spread = base.mark_rule(color=_KINDS["reader"], opacity=0.6).encode(y="low:Q", y2="high:Q")
    seconds = base.mark_text(dy=-6, baseline="bottom", color=_GREY, fontSize=11).encode(
        y=alt.value(170), text=alt.Text("median_seconds:Q", format=".0f")
    )
    return (
        alt.layer(line, spread, seconds, data=shown)
        .properties(width=230, height=170)
        .facet(facet=alt.Facet("rater:N", title=None, sort=list(dict.fromkeys(shown["rater"]))), columns=3)
    )
