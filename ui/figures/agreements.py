"""Agreement of every two raters on the page, and of each reader with the same reader."""

from __future__ import annotations

import streamlit as st

from reader_study.report import rows
from reader_study.report.figures import figure_name, kappa_cells, raters_of
from reader_study.report.study_report import FEW
from ui.chart import chart
from ui.figures import charts
from ui.figures.squares import show_squares
from ui.figures.view import View
from ui.tables import table


def show_agreement(view: View) -> None:
    kinds = view.kind_of
    found = [
        each
        for each in rows.kappa_rows(view.report, task=view.task)
        if kinds.get(each.a) in view.kinds and kinds.get(each.b) in view.kinds
    ]
    if not found:
        st.info("Agreement needs two raters who answered the same cases.")
        return
    names = raters_of(view.report, found)
    st.markdown("**Cohen's kappa**")
    show_squares(kappa_cells(found), rows=names, columns=names, of="Cohen's kappa")
    view.files(figure_name("kappa", view.task))
    st.caption(
        f"Value, interval, n. Grey: not defined, or n below {FEW}. Of answers as given, not of right and "
        "wrong."
    )
    table(
        [
            {
                "Pair": f"{each.a} · {each.b}",
                "n": each.n,
                "Agreed, %": "–" if each.observed is None else f"{each.observed * 100:.1f}",
                "Kappa": _kappa(each.kappa, each.low, each.high),
                "AC1": _kappa(each.ac1, each.ac1_low, each.ac1_high),
                "Brennan-Prediger": "–" if each.brennan_prediger is None else f"{each.brennan_prediger:.3f}",
                "Same, both wrong": "–"
                if each.both_wrong is None
                else f"{each.both_wrong:.0%} of {each.both_wrong_n}",
                "": each.note,
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


def _kappa(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "not defined"
    return f"{value:.3f}" + ("" if low is None or high is None else f" [{low:.2f}, {high:.2f}]")
