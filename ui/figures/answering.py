"""What lies behind accuracies on the page: time, order, places of options, confusion."""

from __future__ import annotations

import streamlit as st

from reader_study.report import rows
from reader_study.report.figures import confusion_cells, figure_name, place_cells
from ui.chart import chart
from ui.figures import charts
from ui.figures.squares import show_squares
from ui.figures.view import View


def show_times(view: View) -> None:
    times = [each for each in rows.time_rows(view.report) if each.kind in view.kinds]
    if times:
        chart(charts.forest(times, title="seconds a case: median and quartiles", factor=1.0))
        view.files("times")
    else:
        st.info("No times are known.")
    order = view.kept(view.report.tables.learning)
    if order:
        st.markdown("**Over the order of reading**")
        chart(charts.learning(order), width="content")
        view.files("learning")
        st.caption("Wilson intervals; below, n and the median of seconds a case.")
    view.tables("times", "learning")


def show_answers(view: View) -> None:
    found = view.kept(rows.place_rows(view.report))
    if found:
        st.markdown("**Place of the option: chosen more often than it is right, points**")
        cells = place_cells(found)
        names = list(dict.fromkeys(rater for rater, _ in cells))
        places = sorted({place for _, place in cells})
        show_squares(cells, rows=names, columns=places, of="Place of the option")
        view.files("places")
        st.caption(
            "Times chosen / times the key stood there. Places as they were shown; a model saw the question's "
            "own order."
        )
    mixed = view.kept(view.report.tables.confusion)
    if mixed:
        st.markdown("**Key and answer**")
        names = list(dict.fromkeys(each.rater for each in mixed))
        rater = st.selectbox("Rater", names, key=f"{view.key}-confusion-{len(names)}") or names[0]
        own = [each for each in mixed if each.rater == rater]
        cells = confusion_cells(own)
        keys, given = (sorted({cell[side] for cell in cells}) for side in (0, 1))
        show_squares(cells, rows=keys, columns=given, of="Key and answer")
        view.files(figure_name("confusion", rater))
        st.caption(
            "Rows: the key; columns: the answer. Single-choice and closed questions, share of the row."
        )
    if not found and not mixed:
        st.info("No single-choice or closed question was answered.")
    view.tables("positions", "confusion", "failed")
