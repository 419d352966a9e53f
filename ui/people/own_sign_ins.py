"""The browsers in which the person is signed in, and buttons that sign them out."""

from __future__ import annotations

import streamlit as st

from accounts import service as accounts
from domain.count_texts import count_text
from domain.people import Person
from ui.context import clock, current_person, read_only_session, read_sign_in_token, unit_of_work
from ui.widgets import escape_markdown, format_relative_time, run_action, show_notice
from web.sign_in.presence import sign_in_policy

_SIGN_IN_METHODS = {
    "password": "password",
    accounts.TOTP_SIGN_IN: "password and code",
    accounts.RECOVERY_CODE_SIGN_IN: "password and recovery code",
    "provider": "sign-in provider",
    "first admin": "code for the first admin",
}


def show_own_sign_ins(person: Person) -> None:
    """Show the person's sign-ins. The sign-in of this browser has no button."""
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
            f"{sign_in.signed_in_at:%Y-%m-%d %H:%M} UTC by {_SIGN_IN_METHODS.get(sign_in.method, 'password')}"
        )
        if not sign_in.is_this_browser:
            button_column.button(
                "Sign out",
                key=f"end-{sign_in.token_prefix}",
                on_click=run_action,
                args=(_end_sign_in, sign_in.token_prefix),
                kwargs={"notice_key": "sign-ins"},
            )


def _end_sign_in(token_prefix: str) -> str:
    with unit_of_work() as db:
        accounts.end_own_sign_in(db, person=current_person(), token_prefix=token_prefix, now=clock())
    return "The browser is signed out."


def _end_other_sign_ins() -> str:
    with unit_of_work() as db:
        ended_count = accounts.sign_out_everywhere(
            db, person=current_person(), except_token=read_sign_in_token(), now=clock()
        )
    return f"Signed out elsewhere ({count_text(ended_count, 'sign-in')} ended)."
