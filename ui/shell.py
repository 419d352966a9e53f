"""The script that Streamlit runs: it finds the person, their navigation and their page."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from accounts import service as accounts
from domain.errors import NotNow
from domain.people import Person
from ui.connection.component import connection_strip
from ui.context import clock, clock_time, person_or_nobody, token, unit_of_work
from ui.garbage import freeze_modules
from ui.navigation import HOME, PAGES, Page, pages_by_stage
from ui.parts import act, away, notices, plain
from ui.redirect import send_to
from ui.typed.component import keep_typed
from web.gate import SIGN_IN
from web.interrupted_clicks import take_interrupted

_ASSETS = Path(__file__).parent / "assets"


def main() -> None:
    """Run once. The navigation is built anew in each run, from the present state of the database."""
    freeze_modules()
    st.set_page_config(page_title="Overread", layout="wide", page_icon=_asset("mark.svg"))
    st.html(_ASSETS / "shell.css")
    try:
        person = person_or_nobody()
    except NotNow as error:
        # The addresses are unchanged, so that an open page stays where it is.
        st.navigation([_not_now(page, error) for page in PAGES], position="hidden").run()
        return
    if person is None:
        # st.navigation is called for signed-out people too: without it Streamlit would run pages/*.py.
        st.navigation([st.Page(_signed_out, title="Signed out")], position="hidden").run()
        return
    pages = {
        stage.value: [
            st.Page(page.path, title=page.title, icon=page.icon, default=page is HOME) for page in of_stage
        ]
        for stage, of_stage in pages_by_stage(person).items()
    }
    chosen = st.navigation(pages, position="sidebar", expanded=True)
    st.set_page_config(page_title=f"{chosen.title} · Overread")
    st.logo(_asset("wordmark.svg"), size="large")
    with st.sidebar:
        _who(person)
    connection_strip(_interrupted())
    keep_typed(person)
    chosen.run()


def _asset(name: str) -> str:
    """Return an SVG as text: it is sent inside the page, not through the media store."""
    return (_ASSETS / name).read_text(encoding="utf-8")


def _who(person: Person) -> None:
    with st.container(key="overread-who"):
        st.markdown(f"**{plain(person.display_name)}**")
        demo = " · demo" if person.demo else ""
        st.caption(plain(", ".join(sorted(person.roles)) + demo))
        st.button(
            "Sign out",
            key="sign-out",
            on_click=act,
            args=(_sign_out,),
            kwargs={"place": "sign-out"},
            icon=":material/logout:",
            type="tertiary",
        )
        notices("sign-out")


def _interrupted() -> str | None:
    """Return the message about a click while the database was away; it is shown once."""
    at = take_interrupted(token())
    if at is None:
        return None
    return (
        f"The database was away at {clock_time(at)}. What you clicked then was not saved; what you had typed "
        "is still here. Look at it, and click again."
    )


def _sign_out() -> None:
    found = token()
    if found is not None:
        with unit_of_work() as db:
            accounts.sign_out(db, token=found, now=clock())
    # The next run finds nobody signed in and redirects to the sign-in page. A second redirect from here would
    # make the browser cancel the first.


def _not_now(page: Page, error: NotNow) -> StreamlitPage:
    """Return a page that shows that the database is away, under the address of the given page."""
    return st.Page(partial(away, error), title=page.title, url_path=page.path.stem, default=page is HOME)


def _signed_out() -> None:
    st.info("You are signed out.")
    send_to(SIGN_IN)


main()
