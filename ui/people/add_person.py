"""The form that adds a person."""

from __future__ import annotations

import secrets

import streamlit as st

from accounts import service as accounts
from domain.people import Role
from ui import state
from ui.context import clock, current_person, unit_of_work
from ui.people.roles import describe_role, read_chosen_roles
from ui.widgets import run_action, show_notice


def show_add_form() -> None:
    """Show the form for a new person. If the password field is empty, a password is generated."""
    st.subheader("Add person")
    form_key = state.form_key("add-person")  # it changes after each success, which empties the fields
    with st.form(form_key, border=True):
        st.text_input(
            "Sign-in name",
            key=f"{form_key}-name",
            placeholder="anna or anna@example.org",
            help="A name or an e-mail address.",
        )
        st.text_input("Display name", key=f"{form_key}-shown")
        st.multiselect("Roles", list(Role), key=f"{form_key}-roles", format_func=describe_role)
        st.text_input(
            "Password",
            key=f"{form_key}-password",
            type="password",
            autocomplete="new-password",
            help="At least 10 characters. If empty, a password is generated and shown once.",
        )
        st.form_submit_button(
            "Add", on_click=run_action, args=(_add_person, form_key), kwargs={"notice_key": "add"}
        )
    show_notice("add")


def _add_person(form_key: str) -> str:
    entered_password = str(state.get_widget_value(f"{form_key}-password") or "")
    password = entered_password or secrets.token_urlsafe(12)
    with unit_of_work() as db:
        person = accounts.add_person(
            db,
            by=current_person(),
            name=str(state.get_widget_value(f"{form_key}-name") or ""),
            display_name=str(state.get_widget_value(f"{form_key}-shown") or ""),
            roles=read_chosen_roles(f"{form_key}-roles"),
            password=password,
            now=clock(),
        )
    state.clear_form("add-person")
    message = f"Added {person.display_name}. Sign-in name: {person.name}."
    return message if entered_password else f"{message} Password (shown only once): {password}"
