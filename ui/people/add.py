"""Adding a person: the form, and the action that saves it."""

from __future__ import annotations

import secrets

import streamlit as st

from accounts import service as accounts
from domain.people import Role
from ui import state
from ui.context import clock, current_person, unit_of_work
from ui.parts import act, notices
from ui.people.roles import chosen_roles, role_words


def add_form() -> None:
    """Draw the form for a new person: name, roles and password; an empty password is generated."""
    st.subheader("Add a person")
    form = state.form("add-person")  # a new key after each success, so that the fields are empty again
    with st.form(form, border=True):
        st.text_input("Signs in as", key=f"{form}-name", placeholder="anna or anna@example.org")
        st.text_input("Name that others read", key=f"{form}-shown")
        st.multiselect("Roles", list(Role), key=f"{form}-roles", format_func=role_words)
        st.text_input(
            "Password",
            key=f"{form}-password",
            type="password",
            autocomplete="new-password",
            help="10 characters or more. Leave it empty, and one is made and shown once.",
        )
        st.form_submit_button("Add", on_click=act, args=(_save_new, form), kwargs={"place": "add"})
    notices("add")


def _save_new(form: str) -> str:
    typed = str(state.field(f"{form}-password") or "")
    password = typed or secrets.token_urlsafe(12)
    with unit_of_work() as db:
        added = accounts.add_person(
            db,
            by=current_person(),
            name=str(state.field(f"{form}-name") or ""),
            display_name=str(state.field(f"{form}-shown") or ""),
            roles=chosen_roles(f"{form}-roles"),
            password=password,
            now=clock(),
        )
    state.clear_form("add-person")
    said = f"{added.display_name} can sign in as {added.name}."
    return said if typed else f"{said} Password, shown this once: {password}"
