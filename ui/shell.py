"""The script that Streamlit runs. It finds the person, builds the navigation and runs the page."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from accounts import service as accounts
from domain.errors import NotNow
from domain.people import Person
from ui.connection.component import show_connection_strip
from ui.context import clock, find_current_person, format_clock_time, read_sign_in_token, unit_of_work
from ui.garbage_collection import freeze_modules
from ui.navigation import HOME, PAGES, Page, group_pages_by_stage
from ui.redirect import redirect_to_sign_in
from ui.unsaved_input.component import mount_unsaved_input
from ui.widgets import escape_markdown, run_action, show_notice, show_unavailable
from web.interrupted_clicks import pop_interrupted

_ASSETS = Path(__file__).parent / "assets"


def main() -> None:
    """Run the chosen page. The navigation is rebuilt in each run, because roles may have changed."""
    freeze_modules()
    st.set_page_config(page_title="Overread", layout="wide", page_icon=_read_asset("mark.svg"))
    st.html(_ASSETS / "shell.css")
    try:
        person = find_current_person()
    except NotNow as error:
        # All pages keep their addresses, so that an open page stays open.
        st.navigation([_make_unavailable_page(page, error) for page in PAGES], position="hidden").run()
        return
    if person is None:
        # Without a call of st.navigation, Streamlit would run pages/*.py for signed-out people.
        st.navigation([st.Page(redirect_to_sign_in, title="Signed out")], position="hidden").run()
        return
    pages = {
        stage.value: [
            st.Page(page.path, title=page.title, icon=page.icon, default=page is HOME) for page in stage_pages
        ]
        for stage, stage_pages in group_pages_by_stage(person).items()
    }
    current_page = st.navigation(pages, position="sidebar", expanded=True)
    st.set_page_config(page_title=f"{current_page.title} · Overread")
    if any(page.wide and page.title == current_page.title for page in PAGES):
        st.html(_ASSETS / "rail.css")
    st.logo(_read_asset("wordmark.svg"), size="large")
    with st.sidebar:
        _show_account(person)
    show_connection_strip(_take_interruption_message())
    mount_unsaved_input(person)
    current_page.run()


def _read_asset(name: str) -> str:
    """Return an SVG as text, which is sent inside the page and not through Streamlit's media store."""
    return (_ASSETS / name).read_text(encoding="utf-8")


def _show_account(person: Person) -> None:
    with st.container(key="overread-who"):
        st.markdown(f"**{escape_markdown(person.display_name)}**")
        demo_note = " · demo" if person.demo else ""
        st.caption(escape_markdown(", ".join(sorted(person.roles)) + demo_note))
        st.button(
            "Sign out",
            key="sign-out",
            on_click=run_action,
            args=(_sign_out,),
            kwargs={"notice_key": "sign-out"},
            icon=":material/logout:",
            type="tertiary",
        )
        show_notice("sign-out")


def _take_interruption_message() -> str | None:
    """Return the message about a click that was not saved while the database was unavailable, once only."""
    interrupted_at = pop_interrupted(read_sign_in_token())
    if interrupted_at is None:
        return None
    return (
        f"The database was unavailable at {format_clock_time(interrupted_at)}. Your click was not saved; your"
        " input is still here. Check it and click again."
    )


def _sign_out() -> None:
    token = read_sign_in_token()
    if token is not None:
        with unit_of_work() as db:
            accounts.sign_out(db, token=token, now=clock())
    # The next run finds nobody signed in and redirects to the sign-in page. Another redirect here would make
    # the browser cancel that redirect.


def _make_unavailable_page(page: Page, error: NotNow) -> StreamlitPage:
    """Return a page that reports the unavailable database, under the address of the given page."""
    return st.Page(
        partial(show_unavailable, error), title=page.title, url_path=page.path.stem, default=page is HOME
    )


main()
