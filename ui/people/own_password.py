"""The form in which the person changes their password."""

from __future__ import annotations

import streamlit as st

from accounts import service as accounts
from domain.errors import InvalidValue
from domain.people import Person
from ui import state
from ui.context import clock, current_person, read_only_session, read_sign_in_token, unit_of_work
from ui.widgets import run_action, show_notice


def show_own_password(person: Person) -> None:
    """Show the form, or state why the password cannot be changed here."""
    st.subheader("Password")
    with read_only_session() as db:
        has_password = accounts.has_password(db, person=person)
    if person.demo or not has_password:
        st.caption(
            "Passwords of demo accounts cannot be changed. The sign-in page shows the demo password."
            if person.demo
            else "You sign in with a provider. Change your password there."
        )
        return
    form_key = state.form_key("own-password")
    with st.form(form_key, border=True):
        st.text_input(
            "Current password", key=f"{form_key}-current", type="password", autocomplete="current-password"
        )
        st.text_input(
            "New password",
            key=f"{form_key}-new",
            type="password",
            autocomplete="new-password",
            help="At least 10 characters. Your other browsers are signed out.",
        )
        st.text_input(
            "Repeat new password", key=f"{form_key}-again", type="password", autocomplete="new-password"
        )
        st.form_submit_button(
            "Change password",
            on_click=run_action,
            args=(_save_password, form_key),
            kwargs={"notice_key": "own-password"},
        )
    show_notice("own-password")


def _save_password(form_key: str) -> str:
    person = current_person()
    current_password, new_password, repeated_password = (
        str(state.get_widget_value(f"{form_key}-{name}") or "") for name in ("current", "new", "again")
    )
    if new_password != repeated_password:
        raise InvalidValue("new password", "the two entries differ; nothing was changed")
    with unit_of_work() as db:  # wrong guesses are counted as at sign-in
        attempt = accounts.begin_attempt(
            db, name=person.name, address="my account", token=read_sign_in_token(), now=clock()
        )
    with unit_of_work() as db:
        accounts.change_own_password(
            db,
            person=person,
            token=read_sign_in_token(),
            current_password=current_password,
            new_password=new_password,
            now=clock(),
        )
        accounts.clear_attempt(db, attempt=attempt)
    state.clear_form("own-password")
    return "Your password is changed. Your other browsers are signed out."
