"""Shows answer times, learning effects, positions of options and confusion tables of a report."""

from __future__ import annotations

import streamlit as st

from reader_study.report.figures import make_figure_name
from ui.figures.view import ReportView


def show_times(view: ReportView) -> None:
    """Show the answer times, the learning effect, and accuracy by stated confidence and probability."""
    tables = view.filtered_report.tables
    if tables.times:
        view.draw_figure("times")
    else:
        st.info("No times were recorded.")
    if tables.learning:
        view.draw_figure("learning")
    if tables.confidence:
        view.draw_figure("reliability")
    if tables.calibration:
        view.draw_figure("calibration")
    else:
        st.caption("No calibration of models: no answers with a probability.")
    view.show_table_links("times", "learning", "confidence", "calibration", "calibration_bins")


def show_answers(view: ReportView) -> None:
    """Show how often the option at each position was chosen, and the confusion table of one rater."""
    tables = view.filtered_report.tables
    if tables.positions:
        view.draw_figure("places")
    raters = list(dict.fromkeys(cell.rater for cell in tables.confusion))
    if raters:
        rater = st.selectbox("Rater", raters, key=f"{view.key}-confusion-{len(raters)}") or raters[0]
        view.draw_figure(make_figure_name("confusion", rater))
    if not tables.positions and not raters:
        st.info("No single-choice or yes/no question was answered.")
    view.show_table_links("positions", "confusion", "failed")
