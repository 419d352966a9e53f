"""The part of Home for admins: the accounts by role, and the way to people and audit trail."""

from __future__ import annotations

import streamlit as st

from accounts import service as accounts
from domain.count_texts import count_text
from domain.people import Person, Role
from ui.context import read_only_session
from ui.widgets import escape_markdown, go_to


def show_accounts(person: Person) -> None:
    """Draw the tile of the stage Administration."""
    with read_only_session() as db:
        people = accounts.list_people(db, by=person)
        with_code = accounts.list_people_with_second_factor(db, by=person)
    active = [account for account in people if account.disabled_at is None]
    counts = " · ".join(
        f"{sum(role in account.roles for account in active)} with role {role}" for role in Role
    )
    codes = sum(account.id in with_code for account in active)
    with st.container(border=True, key="overread-administration"):
        st.subheader("Administration")
        st.write(escape_markdown(f"{count_text(len(active), 'account')}: {counts}"))
        st.caption(f"{codes:,} of {len(active):,} sign in with an authenticator app.")
        with st.container(horizontal=True):
            if st.button("Manage people", key="to-people"):
                go_to("pages/people.py")
            if st.button("Open audit trail", key="to-audit"):
                go_to("pages/audit.py")
