"""Errata: report a problem in a released question, and follow what became of the reports."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from release import service as release
from ui.context import read_only_session, require_page
from ui.errata.report_form import show_report_form
from ui.errata.reports import show_reports
from ui.widgets import page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a click cannot interrupt a report."""
    person = require_page(Action.REPORT_PROBLEMS)
    st.title("Errata")
    with read_only_session() as db:
        releases = release.list_reportable_releases(db, by=person)
        entries = release.list_errata(db, by=person)
    if not releases and not entries:
        show_empty_state(
            "No released questions yet",
            "Report problems in released questions that you reviewed, or that you read in a closed study.",
        )
        return
    if releases:
        show_report_form(person, releases)
    show_reports(person, entries)


main()
