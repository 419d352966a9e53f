"""The parts of a report on the page: each draws only its own figures, so that a click on another is quick."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from domain.protocols import canonical_json
from ui.figures.accuracies import show_accuracies, show_differences
from ui.figures.agreements import show_agreement
from ui.figures.answering import show_answers, show_times
from ui.figures.view import View
from ui.parts import table


def show_lists(view: View) -> None:
    report = view.report
    st.markdown("**Readers and models**")
    table(view.kept(report.tables["raters"]))
    st.markdown("**Replies without an answer**")
    table(report.tables["failed"], empty="No model.")
    st.markdown("**Reported as faulty**")
    table(report.tables["faulty"], empty="No question was reported.")
    st.markdown("**Left out of the analysis**")
    table(report.tables["exclusions"], empty="Nothing was left out.")
    st.markdown("**Protocol, every version**")
    table(report.facts["protocol_versions"])
    st.code(canonical_json(report.facts["protocol"]), language="json", wrap_lines=True)
    view.tables("raters", "failed", "faulty", "exclusions")


#: What the page offers, in this order.
SECTIONS: dict[str, Callable[[View], None]] = {
    "Accuracy": show_accuracies,
    "Differences": show_differences,
    "Agreement": show_agreement,
    "Time and order": show_times,
    "Answers": show_answers,
    "Lists and protocol": show_lists,
}
