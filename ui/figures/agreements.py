"""Agreement of every two raters on the page, and of each reader with the same reader."""

from __future__ import annotations

from typing import Any

import streamlit as st

from reader_study.report import rows
from reader_study.report.figures import figure_name, raters_of
from reader_study.report.whole import FEW
from ui.chart import chart
from ui.figures import charts
from ui.figures.squares import show_squares
from ui.figures.view import View
from ui.tables import table

Record = dict[str, Any]


def show_agreement(view: View) -> None:
    kinds = view.kind_of
    found = [
        each
        for each in rows.kappa_rows(view.report, task=view.task)
        if kinds.get(each["a"]) in view.kinds and kinds.get(each["b"]) in view.kinds
    ]
    if not found:
        st.info("Agreement needs two raters who answered the same cases.")
        return
    names = raters_of(view.report, found)
    cells = [
        {
            "row": one,
            "column": other,
            "shade": None if each["few"] else max(0.0, each["kappa"]),
            "first": "not defined" if each["kappa"] is None else f"{each['kappa']:.2f}",
            "second": "" if each["low"] is None else f"{each['low']:.2f} to {each['high']:.2f}",
            "third": f"n {each['n']:,}",
            "hint": "; ".join(filter(None, (each["interval"], each["note"]))),
        }
        for each in found
        for one, other in ((each["a"], each["b"]), (each["b"], each["a"]))
    ]
    st.markdown("**Cohen's kappa**")
    show_squares(cells, rows=names, columns=names, of="Cohen's kappa")
    view.files(figure_name("kappa", view.task))
    st.caption(
        f"Value, interval, n. Grey: not defined, or n below {FEW}. Of answers as given, not of right and "
        "wrong."
    )
    table(
        [
            {
                "Pair": f"{each['a']} · {each['b']}",
                "n": each["n"],
                "Agreed, %": "–" if each["observed"] is None else f"{each['observed'] * 100:.1f}",
                "Kappa": _kappa(each, "kappa", "low", "high"),
                "AC1": _kappa(each, "ac1", "ac1_low", "ac1_high"),
                "Brennan-Prediger": "–"
                if each["brennan_prediger"] is None
                else f"{each['brennan_prediger']:.3f}",
                "Same, both wrong": "–"
                if each["both_wrong"] is None
                else f"{each['both_wrong']:.0%} of {each['both_wrong_n']}",
                "": each["note"],
            }
            for each in found
        ]
    )
    again = [each for each in rows.repeat_rows(view.report) if "reader" in view.kinds]
    if again:
        st.markdown("**A reader with the same reader, on hidden repeats**")
        chart(charts.forest(again, title="kappa", factor=1.0, zero=True))
        view.files("repeats")
    view.tables("agreement", "printed_kappa", "group_agreement", "repeats")


def _kappa(each: Record, name: str, low: str, high: str) -> str:
    if each[name] is None:
        return "not defined"
    return f"{each[name]:.3f}" + ("" if each[low] is None else f" [{each[low]:.2f}, {each[high]:.2f}]")
