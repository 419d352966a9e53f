"""Answer times, learning effects, positions of options and confusion tables on the page."""

from __future__ import annotations

import streamlit as st

from reader_study.report.figures import make_figure_name
from ui.figures.view import ReportView


def show_times(view: ReportView) -> None:
    tables = view.chosen.tables
    if tables.times:
        view.figure("times")
    else:
        st.info("No times are known.")
    if tables.learning:
        view.figure("learning")
    view.tables("times", "learning")


def show_answers(view: ReportView) -> None:
    tables = view.chosen.tables
    if tables.positions:
        view.figure("places")
    raters = list(dict.fromkeys(cell.rater for cell in tables.confusion))
    if raters:
        rater = st.selectbox("Rater", raters, key=f"{view.key}-confusion-{len(raters)}") or raters[0]
        view.figure(make_figure_name("confusion", rater))
    if not tables.positions and not raters:
        st.info("No single-choice or closed question was answered.")
    view.tables("positions", "confusion", "failed")
