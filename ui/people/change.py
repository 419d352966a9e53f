"""Changing a person: roles, password, enabling or disabling the account, signing out everywhere."""

from __future__ import annotations

import secrets

import streamlit as st

from accounts import service as accounts
from domain.people import Person, Role
from ui import state
from ui.context import clock, current_person, unit_of_work
from ui.parts import act, notices
from ui.people.roles import chosen_roles, role_words


def change_forms(people: list[Person]) -> None:
    """Draw the selection of a person and the forms that change them."""
    st.subheader("Change a person")
    chosen = st.selectbox(
        "Person",
        [each.name for each in people],
        index=None,
        key="person-to-change",  # allow fixed-widget-key: it selects the person whom the other keys name
        format_func={each.name: f"{each.display_name} ({each.name})" for each in people}.__getitem__,
    )
    person = next((each for each in people if each.name == chosen), None)
    if person is not None:
        _change_roles(person)
        _new_password(person)
        _in_or_out(person)
    notices("change")


def _change_roles(person: Person) -> None:
    form = f"roles-of-{person.id}"
    # The key contains the present roles: roles changed by somebody else are shown, not overwritten.
    field = f"{form}-{'-'.join(sorted(person.roles))}"
    with st.form(form, border=True):
        st.multiselect(
            "Roles", list(Role), default=sorted(person.roles), key=f"{field}-roles", format_func=role_words
        )
        st.form_submit_button(
            "Save roles",
            on_click=act,
            args=(_save_roles, person.name, field, person.roles),
            kwargs={"place": "change"},
        )


def _new_password(person: Person) -> None:
    form = state.form(f"password-of-{person.id}")
    with st.form(form, border=True):
        st.text_input(
            "New password",
            key=f"{form}-password",
            type="password",
            autocomplete="new-password",
            help="Leave it empty, and one is made and shown once. Signs the person out everywhere.",
        )
        st.form_submit_button(
            "Set password",
            on_click=act,
            args=(_save_password, person.name, person.id, form),
            kwargs={"place": "change"},
        )


def _in_or_out(person: Person) -> None:
    disabled = person.disabled_at is not None
    left, right = st.columns(2)
    right.button(
        "Sign out everywhere",
        key=f"sign-out-{person.id}",
        on_click=act,
        args=(_sign_out, person.name),
        kwargs={"place": "change"},
        help="Ends every sign-in of this person at the next click. They may sign in again.",
    )
    left.button(
        "Enable" if disabled else "Disable",
        key=f"in-or-out-{person.id}",
        on_click=act,
        args=(_enable if disabled else _disable, person.name),
        kwargs={"place": "change", "switch": f"in-or-out-{person.id}"},
        help="A disabled person is out at the next click and can't sign in. What they did stays.",
    )


def _save_roles(name: str, field: str, shown: frozenset[Role]) -> str:
    with unit_of_work() as db:
        person = accounts.change_roles(
            db,
            by=current_person(),
            name=name,
            roles=chosen_roles(f"{field}-roles"),
            instead_of=shown,
            now=clock(),
        )
    return f"{person.display_name} is now: {', '.join(sorted(person.roles))}."


def _save_password(name: str, number: int, form: str) -> str:
    typed = str(state.field(f"{form}-password") or "")
    password = typed or secrets.token_urlsafe(12)
    with unit_of_work() as db:
        person = accounts.set_password(db, by=current_person(), name=name, password=password, now=clock())
    state.clear_form(f"password-of-{number}")
    said = f"{person.display_name} has a new password and is signed out everywhere."
    return said if typed else f"{said} Password, shown this once: {password}"


def _disable(name: str) -> str:
    with unit_of_work() as db:
        return f"{accounts.disable_person(db, by=current_person(), name=name, now=clock()).name} is disabled."


def _sign_out(name: str) -> str:
    with unit_of_work() as db:
        ended = accounts.sign_out_person(db, by=current_person(), name=name, now=clock())
    return f"{name} is signed out everywhere: {ended} sign-in{'' if ended == 1 else 's'} ended."


def _enable(name: str) -> str:
    with unit_of_work() as db:
        enabled = accounts.enable_person(db, by=current_person(), name=name, now=clock())
    return f"{enabled.name} can sign in again."
