"""My account: own sign-ins, signing out elsewhere, password, notices by e-mail, keys and mouse button."""

from __future__ import annotations

import streamlit as st

from accounts import service as accounts
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.people import Person
from ui import state
from ui.context import (
    clock,
    current_person,
    read_only_session,
    read_sign_in_token,
    require_page,
    unit_of_work,
)
from ui.layout import responsive_columns
from ui.people.input_preferences import show_input_preferences
from ui.people.own_mail import show_own_mail
from ui.people.second_factor import show_second_factor
from ui.widgets import escape_markdown, format_relative_time, run_action, screen, show_notice
from web.sign_in.presence import sign_in_policy

_SIGN_IN_METHODS = {
    "password": "password",
    accounts.TOTP_SIGN_IN: "password and code",
    accounts.RECOVERY_CODE_SIGN_IN: "password and recovery code",
    "provider": "sign-in provider",
    "first admin": "code for the first admin",
}


@screen
def main() -> None:
    """Show the page in one fragment, so that a click cannot interrupt a save."""
    person = require_page()
    st.title("My account")
    st.markdown(f"{escape_markdown(person.display_name)} · sign-in name {escape_markdown(person.name)}")
    st.caption(escape_markdown(", ".join(sorted(person.roles))) + " · roles are managed by admins")
    left, right = responsive_columns(1, 1, name="account")
    with left:
        _show_sign_ins(person)
        show_own_mail(person)
    with right:
        _show_password_form(person)
        show_second_factor(person)
    st.divider()
    show_input_preferences(person)


# ------------------------------------------------------------------------------------------------- sign-ins
def _show_sign_ins(person: Person) -> None:
    with read_only_session() as db:
        sign_ins = accounts.list_own_sign_ins(
            db,
            person=person,
            token=read_sign_in_token(),
            now=clock(),
            policy=sign_in_policy(),
        )
    st.subheader("Your sign-ins")
    for sign_in in sign_ins:
        _show_sign_in(sign_in)
    other_sign_ins = [sign_in for sign_in in sign_ins if not sign_in.is_this_browser]
    st.button(
        "Sign out everywhere else",
        key="sign-out-elsewhere",
        on_click=run_action,
        args=(_end_other_sign_ins,),
        kwargs={"notice_key": "sign-ins"},
        disabled=not other_sign_ins,
        help="Ends all sign-ins except this one." if other_sign_ins else "You have no other sign-ins.",
    )
    show_notice("sign-ins")


def _show_sign_in(sign_in: accounts.OwnSignIn) -> None:
    with st.container(border=True):
        text_column, button_column = st.columns([3, 1], vertical_alignment="center")
        current_mark = " · this browser" if sign_in.is_this_browser else ""
        text_column.markdown(f"**{escape_markdown(sign_in.browser or 'Unknown browser')}**{current_mark}")
        text_column.caption(
            f"last active {format_relative_time(sign_in.last_seen_at, now=clock())} · signed in "
            f"{sign_in.signed_in_at:%Y-%m-%d %H:%M} UTC by {_SIGN_IN_METHODS.get(sign_in.way, 'password')}"
        )
        if not sign_in.is_this_browser:
            button_column.button(
                "Sign out",
                key=f"end-{sign_in.token_prefix}",
                on_click=run_action,
                args=(_end_sign_in, sign_in.token_prefix),
                kwargs={"notice_key": "sign-ins"},
            )


def _end_sign_in(mark: str) -> str:
    with unit_of_work() as db:
        accounts.end_own_sign_in(db, person=current_person(), token_prefix=mark, now=clock())
    return "The browser is signed out."


def _end_other_sign_ins() -> str:
    with unit_of_work() as db:
        ended_count = accounts.sign_out_everywhere(
            db, person=current_person(), except_token=read_sign_in_token(), now=clock()
        )
    return f"Signed out elsewhere ({count_text(ended_count, 'sign-in')} ended)."


# ------------------------------------------------------------------------------------------------- password
def _show_password_form(person: Person) -> None:
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


main()
