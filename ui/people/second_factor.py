"""The part of My account for the authenticator app: setup, recovery codes, turning it off."""

from __future__ import annotations

import streamlit as st

from accounts import service as accounts
from domain.count_texts import count_text
from domain.people import Person
from ui import state
from ui.context import clock, current_person, read_only_session, read_sign_in_token, unit_of_work
from ui.widgets import run_action, show_notice
from web.sign_in.authenticator import (
    format_secret,
    generate_recovery_codes,
    generate_secret,
    render_qr_code,
)
from web.sign_in.presence import sign_in_policy

_NOTICE_KEY = "second-factor"
_FORM = "own-second-factor"


def show_second_factor(person: Person) -> None:
    """Show the state of the person's authenticator app, and the forms that set it up or turn it off.

    Show nothing for a person without a password, and in the demo.
    """
    with read_only_session() as db:
        if person.demo or not accounts.has_password(db, person=person):
            return
        status = accounts.load_second_factor_status(db, person=person, policy=sign_in_policy())
        setup_secret = accounts.find_setup_secret(db, person=person, now=clock())
    st.subheader("Authenticator app")
    if status.is_on:
        _show_change_form(status)
    elif setup_secret is not None:
        _show_setup_form(person, setup_secret)
    else:
        st.caption("Off. If turned on, signing in also requires a code from an app on your phone.")
        st.button(
            "Set up",
            key="set-up-second-factor",
            on_click=run_action,
            args=(_begin_setup,),
            kwargs={"notice_key": _NOTICE_KEY},
        )
    show_notice(_NOTICE_KEY)


def _show_setup_form(person: Person, secret: str) -> None:
    st.caption("Scan this code with an authenticator app on your phone, or type the key into the app.")
    st.image(render_qr_code(secret, name=person.name), width=240)
    st.code(format_secret(secret), language=None)
    form_key = state.form_key(_FORM)
    with st.form(form_key, border=True):
        _show_password_field(form_key)
        st.text_input("Code from the app", key=f"{form_key}-code", autocomplete="one-time-code")
        st.form_submit_button(
            "Turn on",
            on_click=run_action,
            args=(_confirm_setup, form_key),
            kwargs={"notice_key": _NOTICE_KEY},
        )


def _show_change_form(status: accounts.SecondFactorStatus) -> None:
    count = status.recovery_codes_left
    st.caption(f"On. {count_text(count, 'recovery code')} left.")
    form_key = state.form_key(_FORM)
    with st.form(form_key, border=True):
        _show_password_field(form_key)
        left, right = st.columns(2)
        with left:
            st.form_submit_button(
                "Create new recovery codes",
                on_click=run_action,
                args=(_replace_recovery_codes, form_key),
                kwargs={"notice_key": _NOTICE_KEY},
                help="The previous codes become invalid.",
            )
        with right:
            st.form_submit_button(
                "Turn off",
                on_click=run_action,
                args=(_turn_off, form_key),
                kwargs={"notice_key": _NOTICE_KEY},
                disabled=status.is_required,
                help="Your role requires it." if status.is_required else None,
            )


def _show_password_field(form_key: str) -> None:
    st.text_input(
        "Current password", key=f"{form_key}-password", type="password", autocomplete="current-password"
    )


def _begin_setup() -> None:
    with unit_of_work() as db:
        accounts.begin_setup(db, person=current_person(), new_secret=generate_secret(), now=clock())


def _confirm_setup(form_key: str) -> str:
    person, codes = current_person(), generate_recovery_codes()
    attempt = _begin_attempt(person)
    with unit_of_work() as db:
        accounts.require_own_password(db, person=person, password=_read_field(form_key, "password"))
        accounts.confirm_setup(
            db,
            person=person,
            token=read_sign_in_token(),
            code=_read_field(form_key, "code"),
            new_recovery_codes=codes,
            now=clock(),
        )
        accounts.clear_attempt(db, attempt=attempt)
    state.clear_form(_FORM)
    return f"The authenticator app is on. Your other browsers are signed out. {_describe_codes(codes)}"


def _replace_recovery_codes(form_key: str) -> str:
    person, codes = current_person(), generate_recovery_codes()
    attempt = _begin_attempt(person)
    with unit_of_work() as db:
        accounts.replace_recovery_codes(
            db,
            person=person,
            password=_read_field(form_key, "password"),
            new_recovery_codes=codes,
            now=clock(),
        )
        accounts.clear_attempt(db, attempt=attempt)
    state.clear_form(_FORM)
    return _describe_codes(codes)


def _turn_off(form_key: str) -> str:
    person = current_person()
    attempt = _begin_attempt(person)
    with unit_of_work() as db:
        accounts.turn_off_second_factor(
            db,
            person=person,
            password=_read_field(form_key, "password"),
            policy=sign_in_policy(),
            now=clock(),
        )
        accounts.clear_attempt(db, attempt=attempt)
    state.clear_form(_FORM)
    return "The authenticator app is off. Delete its entry on your phone."


def _begin_attempt(person: Person) -> accounts.Attempt:
    """Count an attempt as failed before the password is checked; a correct password clears it.

    Guesses of the password are limited here as they are at sign-in.
    """
    with unit_of_work() as db:
        return accounts.begin_attempt(
            db, name=person.name, address="my account", token=read_sign_in_token(), now=clock()
        )


def _read_field(form_key: str, name: str) -> str:
    return str(state.get_widget_value(f"{form_key}-{name}") or "")


def _describe_codes(codes: list[str]) -> str:
    return (
        "Your recovery codes are shown only once. Each allows one sign-in without your phone. Print them or "
        f"store them in a password manager: {', '.join(codes)}"
    )
