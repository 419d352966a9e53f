"""Leaderboards: teams submit predictions for the private split of a release and see aggregate scores."""

from __future__ import annotations

import streamlit as st

from domain.people import Action
from leaderboard import service as leaderboards
from ui.context import read_only_session, require_page
from ui.leaderboards.management import show_create_form, show_management
from ui.leaderboards.standings import show_standings
from ui.leaderboards.submissions import show_submissions
from ui.widgets import page_fragment, show_empty_state


@page_fragment
def main() -> None:
    """Show the page in one fragment, so that a click cannot interrupt a submission."""
    person = require_page(Action.SEE_LEADERBOARDS)
    st.title("Leaderboards")
    with read_only_session() as db:
        names = [board.name for board in leaderboards.list_leaderboards(db, by=person)]
    if names:
        name = st.selectbox("Leaderboard", names, key=f"leaderboard-of-{len(names)}", width=420)
        show_standings(person, name)
        if person.may(Action.SUBMIT_PREDICTIONS):
            show_submissions(person, name)
        if person.may(Action.MANAGE_LEADERBOARDS):
            show_management(person, name)
    else:
        show_empty_state(
            "No leaderboards yet",
            "A leaderboard ranks teams by their predictions for the private split of a release."
            if person.may(Action.MANAGE_LEADERBOARDS)
            else "A coordinator creates leaderboards.",
        )
    if person.may(Action.MANAGE_LEADERBOARDS):
        show_create_form(person, is_open=not names)


main()
