"""My account: the person's own sign-ins, signing out elsewhere, and the password."""

from __future__ import annotations

import streamlit as st

from accounts import service as accounts
from domain.errors import InvalidValue
from domain.people import Person
from ui import state
from ui.context import clock, current_person, reading, require_page, token, unit_of_work
from ui.layout import beside
from ui.parts import act, human_time, notices, plain, screen
from web.sign_in.presence import idle_limit, longest_limit

_WAYS = {"password": "password", "provider": "sign-in provider", "first admin": "first admin's code"}


@screen
def main() -> None:
    """The page in one fragment, so that a click cannot interrupt a save."""
    person = require_page()
    st.title("My account")
    st.markdown(f"{plain(person.display_name)} · signs in as {plain(person.name)}")
    st.caption(plain(", ".join(sorted(person.roles))) + " · roles are given by an admin")
    left, right = beside(1, 1, name="account")
    with left:
        _sign_ins(person)
    with right:
        _password(person)


# ------------------------------------------------------------------------------------------------- sign-ins
def _sign_ins(person: Person) -> None:
    with reading() as db:
        found = accounts.own_sign_ins(
            db, person=person, token=token(), now=clock(), idle=idle_limit(), longest=longest_limit()
        )
    st.subheader("Where you are signed in")
    for each in found:
        _sign_in(each)
    others = [each for each in found if not each.here]
    st.button(
        "Sign out everywhere else",
        key="sign-out-elsewhere",
        on_click=act,
        args=(_end_others,),
        kwargs={"place": "sign-ins"},
        disabled=not others,
        help="Ends every sign-in but this one." if others else "You are signed in here only.",
    )
    notices("sign-ins")


def _sign_in(each: accounts.OwnSignIn) -> None:
    with st.container(border=True):
        words, button = st.columns([3, 1], vertical_alignment="center")
        here = " · this browser" if each.here else ""
        words.markdown(f"**{plain(each.browser or 'A browser')}**{here}")
        words.caption(
            f"last seen {human_time(each.last_seen_at, now=clock())} · signed in "
            f"{each.signed_in_at:%Y-%m-%d %H:%M} UTC by {_WAYS.get(each.way, 'password')}"
        )
        if not each.here:
            button.button(
                "End",
                key=f"end-{each.mark}",
                on_click=act,
                args=(_end, each.mark),
                kwargs={"place": "sign-ins"},
            )


def _end(mark: str) -> str:
    with unit_of_work() as db:
        accounts.end_own_sign_in(db, person=current_person(), mark=mark, now=clock())
    return "That browser is signed out."


def _end_others() -> str:
    with unit_of_work() as db:
        ended = accounts.sign_out_everywhere(db, person=current_person(), but=token(), now=clock())
    return f"Signed out elsewhere: {ended} sign-in{'' if ended == 1 else 's'} ended."


# ------------------------------------------------------------------------------------------------- password
def _password(person: Person) -> None:
    st.subheader("Password")
    with reading() as db:
        has_one = accounts.has_password(db, person=person)
    if person.demo or not has_one:
        st.caption(
            "Demo people keep the password that the sign-in page shows."
            if person.demo
            else "You sign in by a provider; your password is kept there."
        )
        return
    form = state.form("own-password")
    with st.form(form, border=True):
        st.text_input(
            "Current password", key=f"{form}-current", type="password", autocomplete="current-password"
        )
        st.text_input(
            "New password",
            key=f"{form}-new",
            type="password",
            autocomplete="new-password",
            help="10 characters or more. Your other browsers are signed out.",
        )
        st.text_input("The same again", key=f"{form}-again", type="password", autocomplete="new-password")
        st.form_submit_button(
            "Change password", on_click=act, args=(_save_password, form), kwargs={"place": "own-password"}
        )
    notices("own-password")


def _save_password(form: str) -> str:
    person = current_person()
    current, new, again = (str(state.field(f"{form}-{each}") or "") for each in ("current", "new", "again"))
    if new != again:
        raise InvalidValue("new password", "the two are not the same; nothing was changed")
    with unit_of_work() as db:  # wrong guesses are counted as at sign-in
        attempt = accounts.begin_attempt(
            db, name=person.name, address="my account", token=token(), now=clock()
        )
    with unit_of_work() as db:
        accounts.change_own_password(
            db, person=person, token=token(), current=current, password=new, now=clock()
        )
        accounts.attempt_was_right(db, attempt=attempt)
    state.clear_form("own-password")
    return "Your password is changed. Other browsers of yours are signed out."


main()
