"""The part of Home for admins: the accounts by role, with links to People and Audit trail."""

from __future__ import annotations

import streamlit as st

from accounts import service as accounts
from domain.count_texts import count_text
from domain.people import Person, Role
from ui.context import read_only_session
from ui.widgets import escape_markdown, go_to


def show_accounts(person: Person) -> None:
    """Show the tile of the stage Administration."""
    with read_only_session() as db:
        people = accounts.list_people(db, by=person)
        second_factor_ids = accounts.list_people_with_second_factor(db, by=person)
    active_people = [account for account in people if account.disabled_at is None]
    counts = " · ".join(
        count_text(sum(role in account.roles for account in active_people), role.value) for role in Role
    )
    second_factor_count = sum(account.id in second_factor_ids for account in active_people)
    with st.container(border=True, key="overread-administration"):
        st.subheader("Administration")
        st.write(escape_markdown(f"{count_text(len(active_people), 'account')}: {counts}"))
        st.caption(f"{second_factor_count:,} of {len(active_people):,} sign in with an authenticator app.")
        with st.container(horizontal=True):
            if st.button("Manage people", key="to-people"):
                go_to("pages/people.py")
            if st.button("View audit trail", key="to-audit"):
                go_to("pages/audit.py")
