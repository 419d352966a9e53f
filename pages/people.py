"""People: accounts, their roles, who is kept out."""

from __future__ import annotations

import secrets

import streamlit as st

from accounts import service as accounts
from domain.people import Action, Person, Role
from ui import state
from ui.context import clock, current_person, reading, require_page, unit_of_work
from ui.parts import act, notices, table

_WHAT = {
    Role.ADMIN: "gives accounts and roles",
    Role.COORDINATOR: "imports, draws, assigns, releases",
    Role.REVIEWER: "judges questions",
    Role.READER: "answers questions in reader studies",
}


@st.fragment
def main() -> None:
    """All in one fragment, so that no click can overtake a save."""
    person = require_page(Action.MANAGE_PEOPLE)
    st.title("People")
    with reading() as db:
        people = accounts.list_people(db, by=person)
    table([_row(each) for each in people])
    left, right = st.columns(2, gap="large")
    with left:
        _add()
    with right:
        _change(people)


def _row(person: Person) -> dict[str, object]:
    return {
        "Name": person.display_name,
        "Signs in as": person.name,
        "Roles": ", ".join(sorted(person.roles)),
        "State": _state(person),
    }


def _state(person: Person) -> str:
    if person.disabled_at is not None:
        return f"disabled since {person.disabled_at:%Y-%m-%d}"
    return "demo" if person.demo else "active"


# ------------------------------------------------------------------------------------------------------ add
def _add() -> None:
    st.subheader("Add a person")
    form = state.form("add-person")  # a new key after each success: the fields are empty again
    with st.form(form, border=True):
        st.text_input("Signs in as", key=f"{form}-name", placeholder="anna or anna@example.org")
        st.text_input("Name that others read", key=f"{form}-shown")
        st.multiselect("Roles", list(Role), key=f"{form}-roles", format_func=_role)
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
            roles=_chosen_roles(f"{form}-roles"),
            password=password,
            now=clock(),
        )
    state.clear_form("add-person")
    said = f"{added.display_name} can sign in as {added.name}."
    return said if typed else f"{said} Password, shown this once: {password}"


# --------------------------------------------------------------------------------------------------- change
def _change(people: list[Person]) -> None:
    st.subheader("Change a person")
    chosen = st.selectbox(
        "Person",
        [each.name for each in people],
        index=None,
        key="person-to-change",  # allow fixed-widget-key: it is the question itself, nothing is asked about
        format_func={each.name: f"{each.display_name} ({each.name})" for each in people}.get,
    )
    person = next((each for each in people if each.name == chosen), None)
    if person is not None:
        _change_roles(person)
        _new_password(person)
        _in_or_out(person)
    notices("change")


def _change_roles(person: Person) -> None:
    form = f"roles-of-{person.id}"
    with st.form(form, border=True):
        st.multiselect(
            "Roles", list(Role), default=sorted(person.roles), key=f"{form}-roles", format_func=_role
        )
        st.form_submit_button(
            "Save roles", on_click=act, args=(_save_roles, person.name, form), kwargs={"place": "change"}
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
    st.button(
        "Enable" if disabled else "Disable",
        key=f"in-or-out-{person.id}",
        on_click=act,
        args=(_enable if disabled else _disable, person.name),
        kwargs={"place": "change", "switch": f"in-or-out-{person.id}"},
        help="A disabled person is out at the next click and can't sign in. What they did stays.",
    )


def _save_roles(name: str, form: str) -> str:
    with unit_of_work() as db:
        person = accounts.change_roles(
            db, by=current_person(), name=name, roles=_chosen_roles(f"{form}-roles"), now=clock()
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


def _enable(name: str) -> str:
    with unit_of_work() as db:
        enabled = accounts.enable_person(db, by=current_person(), name=name, now=clock())
    return f"{enabled.name} can sign in again."


def _chosen_roles(key: str) -> list[Role]:
    chosen = state.field(key)
    return [Role(each) for each in chosen] if isinstance(chosen, list) else []


def _role(role: Role) -> str:
    return f"{role.value}: {_WHAT[role]}"


main()
