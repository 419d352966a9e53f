"""Home: the person's own work, then the state of each stage and the next steps, by role."""

from __future__ import annotations

import streamlit as st

from domain.people import Action, Person
from ui.comments.threads import show_open_comments, show_unread_comments
from ui.context import require_page
from ui.home.accounts import show_accounts
from ui.home.coordination import show_coordination
from ui.home.own_batches import show_own_batches
from ui.marking.own_marking import show_own_marking
from ui.prompt_bench.own_scoring import show_own_scoring
from ui.region_checks.own_marking import show_own_region_checks
from ui.studies.own_studies import show_own_studies


def main(person: Person) -> None:
    """Show the sections of all roles of the person, their own work first."""
    st.title("Home")
    if person.may(Action.JUDGE):
        show_unread_comments(person)
        show_own_batches(person)
    if person.may(Action.MARK_ANSWERS):
        show_own_marking(person)
    if person.may(Action.SCORE_OUTPUTS):
        show_own_scoring(person)
        show_own_region_checks(person)
    if person.may(Action.READ):
        show_own_studies(person)
    if person.may(Action.SEE_PROGRESS):
        show_coordination(person)
        show_open_comments(person)
    if person.may(Action.MANAGE_PEOPLE):
        show_accounts(person)
    if not any(person.may(action) for action in Action):
        st.info("Your account has no role yet. Ask an admin to assign one.")


main(require_page())
