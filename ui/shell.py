"""The script that Streamlit runs: who is there, their navigation, their page."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from accounts import service as accounts
from domain.people import Person
from ui.context import clock, person_or_nobody, token, unit_of_work
from ui.door.gate import SIGN_IN
from ui.navigation import HOME, pages_for
from ui.parts import plain
from ui.redirect import send_to

_ASSETS = Path(__file__).parent / "assets"


def main() -> None:
    """One run: navigation is always built anew, from what the database says now."""
    st.set_page_config(page_title="Overread", layout="wide", page_icon=_asset("mark.svg"))
    st.html(_ASSETS / "shell.css")
    person = person_or_nobody()
    if person is None:
        # st.navigation is called for signed-out people too: without it Streamlit would run pages/*.py.
        st.navigation([st.Page(_signed_out, title="Signed out")], position="hidden").run()
        return
    pages = [
        st.Page(page.path, title=page.title, icon=page.icon, default=page is HOME)
        for page in pages_for(person)
        if page.path.is_file()
    ]
    chosen = st.navigation(pages, position="sidebar", expanded=True)
    st.logo(_asset("wordmark.svg"), size="large")
    with st.sidebar:
        _who(person)
    chosen.run()


def _asset(name: str) -> str:
    """An SVG as text: it goes to the browser inside the page, not by the media store."""
    return (_ASSETS / name).read_text(encoding="utf-8")


def _who(person: Person) -> None:
    with st.container(key="overread-who"):
        st.markdown(f"**{plain(person.display_name)}**")
        demo = " · demo" if person.demo else ""
        st.caption(plain(", ".join(sorted(person.roles)) + demo))
        st.button("Sign out", key="sign-out", on_click=_sign_out, icon=":material/logout:", type="tertiary")


def _sign_out() -> None:
    found = token()
    if found is not None:
        with unit_of_work() as db:
            accounts.sign_out(db, token=found, now=clock())
    send_to(SIGN_IN)


def _signed_out() -> None:
    st.info("You are signed out.")
    send_to(SIGN_IN)


main()
