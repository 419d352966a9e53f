"""Agreement of every pair of raters on the page, and intra-reader agreement."""

from __future__ import annotations

import streamlit as st

from reader_study.report.figures import figure_name
from reader_study.report.rows import kappa_rows
from ui.figures.view import View
from ui.tables import table


def show_agreement(view: View) -> None:
    found = kappa_rows(view.chosen, task=view.task)
    if not found:
        st.info("Agreement needs two raters who answered the same cases.")
        return
    view.figure(figure_name("kappa", view.task))
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
    if view.chosen.tables.repeats:
        view.figure("repeats")
    view.tables("agreement", "printed_kappa", "group_agreement", "repeats")


def _kappa(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "not defined"
    return f"{value:.3f}" + ("" if low is None or high is None else f" [{low:.2f}, {high:.2f}]")
