"""Forms that change a person's roles, password and access."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping

import streamlit as st

from accounts import service as accounts
from domain.count_texts import count_text
from domain.mail import MailSetting
from domain.people import Person, Role
from ui import state
from ui.context import clock, current_person, unit_of_work
from ui.people.mail_delivery import show_address_form
from ui.people.roles import describe_role, read_chosen_roles
from ui.widgets import run_action, show_notice


def show_change_forms(
    people: list[Person], *, with_second_factor: Collection[int], mail_settings: Mapping[int, MailSetting]
) -> None:
    """Show the selection of a person and the forms that change them.

    Args:
        people: the people to choose from.
        with_second_factor: the ids of the people who have a second factor.
        mail_settings: the setting for notices by e-mail, by the id of the person.
    """
    st.subheader("Edit person")
    chosen_name = st.selectbox(
        "Person",
        [candidate.name for candidate in people],
        index=None,
        key="person-to-change",  # allow fixed-widget-key: it selects the person whom the other keys name
        format_func={
            candidate.name: f"{candidate.display_name} ({candidate.name})" for candidate in people
        }.__getitem__,
    )
    person = next((candidate for candidate in people if candidate.name == chosen_name), None)
    if person is not None:
        _show_roles_form(person)
        _show_password_form(person)
        show_address_form(person, mail_settings)
        _show_access_buttons(person)
        if person.id in with_second_factor:
            _show_reset_button(person)


def _show_roles_form(person: Person) -> None:
    form_key = f"roles-of-{person.id}"
    # The key contains the present roles, to reset the field when another person changes them.
    widget_key = f"{form_key}-{'-'.join(sorted(person.roles))}"
    with st.form(form_key, border=True):
        st.multiselect(
            "Roles",
            list(Role),
            default=sorted(person.roles),
            key=f"{widget_key}-roles",
            format_func=describe_role,
        )
        st.form_submit_button(
            "Save roles",
            on_click=run_action,
            args=(_save_roles, person.name, widget_key, person.roles),
            kwargs={"notice_key": form_key},
        )
    show_notice(form_key)


def _show_password_form(person: Person) -> None:
    form_key = state.form_key(f"password-of-{person.id}")
    with st.form(form_key, border=True):
        st.text_input(
            "New password",
            key=f"{form_key}-password",
            type="password",
            autocomplete="new-password",
            help="If empty, a password is generated and shown once. The person is signed out everywhere.",
        )
        st.form_submit_button(
            "Set password",
            on_click=run_action,
            args=(_save_password, person.name, person.id, form_key),
            kwargs={"notice_key": f"password-of-{person.id}"},
        )
    show_notice(f"password-of-{person.id}")


def _show_access_buttons(person: Person) -> None:
    is_disabled = person.disabled_at is not None
    left, right = st.columns(2)
    right.button(
        "Sign out everywhere",
        key=f"sign-out-{person.id}",
        on_click=run_action,
        args=(_sign_out_person, person.name, person.display_name),
        kwargs={"notice_key": "access"},
        help="Ends all sign-ins of this person with their next click. They can sign in again.",
    )
    left.button(
        "Enable" if is_disabled else "Disable",
        key=f"toggle-access-{person.id}",
        on_click=run_action,
        args=(_enable_person if is_disabled else _disable_person, person.name),
        kwargs={"notice_key": "access", "toggle_key": f"toggle-access-{person.id}"},
        help="A disabled person is signed out with their next click and cannot sign in. Their work is kept.",
    )
    show_notice("access")


def _show_reset_button(person: Person) -> None:
    st.button(
        "Reset authenticator app",
        key=f"reset-second-factor-{person.id}",
        on_click=run_action,
        args=(_reset_second_factor, person.name),
        kwargs={"notice_key": "access"},
        help="For a person who has lost their phone. Deletes the app's key and the recovery codes, and signs"
        " the person out everywhere.",
    )


def _reset_second_factor(name: str) -> str:
    with unit_of_work() as db:
        person = accounts.reset_second_factor(db, by=current_person(), name=name, now=clock())
    return f"{person.display_name} signs in without a code until they set up an authenticator app again."


def _save_roles(name: str, widget_key: str, previous_roles: frozenset[Role]) -> str:
    with unit_of_work() as db:
        person = accounts.change_roles(
            db,
            by=current_person(),
            name=name,
            roles=read_chosen_roles(f"{widget_key}-roles"),
            expected_roles=previous_roles,
            now=clock(),
        )
    return f"Saved. Roles of {person.display_name}: {', '.join(sorted(person.roles))}."


def _save_password(name: str, person_id: int, form_key: str) -> str:
    entered_password = str(state.get_widget_value(f"{form_key}-password") or "")
    password = entered_password or secrets.token_urlsafe(12)
    with unit_of_work() as db:
        person = accounts.set_password(db, by=current_person(), name=name, password=password, now=clock())
    state.clear_form(f"password-of-{person_id}")
    message = f"{person.display_name} has a new password and is signed out everywhere."
    return message if entered_password else f"{message} Password (shown only once): {password}"


def _disable_person(name: str) -> str:
    with unit_of_work() as db:
        person = accounts.disable_person(db, by=current_person(), name=name, now=clock())
    return f"{person.display_name} is disabled."


def _sign_out_person(name: str, display_name: str) -> str:
    with unit_of_work() as db:
        ended_count = accounts.sign_out_person(db, by=current_person(), name=name, now=clock())
    return f"{display_name} is signed out everywhere ({count_text(ended_count, 'sign-in')} ended)."


def _enable_person(name: str) -> str:
    with unit_of_work() as db:
        person = accounts.enable_person(db, by=current_person(), name=name, now=clock())
    return f"{person.display_name} can sign in again."
