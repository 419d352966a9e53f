"""The context of every page: the person, the clock, the workspace, and database sessions."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from accounts.service.audit import last_write_at
from domain.people import Action, Person
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace, current_workspace
from ui.redirect import redirect_to_sign_in
from web.sign_in.cookies import find_sign_in_token
from web.sign_in.presence import find_present_person

__all__ = [
    "Workspace",
    "clock",
    "current_person",
    "current_workspace",
    "find_current_person",
    "find_last_write_since",
    "format_clock_time",
    "read_only_session",
    "require_page",
    "unit_of_work",
]


def clock() -> datetime:
    """Return the present time in UTC. All pages read the time here."""
    return datetime.now(UTC)


def format_clock_time(moment: datetime) -> str:
    """Format a time in the browser's time zone, such as 14:03:12; in UTC if the zone is unknown."""
    zone_name = st.context.timezone
    try:
        zone = ZoneInfo(zone_name) if isinstance(zone_name, str) else None
    except (ZoneInfoNotFoundError, ValueError):  # the browser sends the name, so any value is possible
        zone = None
    return f"{moment.astimezone(zone):%H:%M:%S}" if zone else f"{moment.astimezone(UTC):%H:%M:%S} UTC"


def find_last_write_since(start: datetime) -> datetime | None:
    """Return the recorded time of the person's latest action since ``start``; None if there is none.

    The time is read from the database and thereby confirms that the action was saved.

    Raises:
        NotNow: the database is temporarily unable to answer.
    """
    person = find_current_person()
    if person is None:
        return None
    with read_only_session() as db:
        return last_write_at(db, by=person, since=start)


def read_sign_in_token() -> str | None:
    """Return the sign-in token from the cookie that the browser sent when the page connected."""
    return find_sign_in_token(st.context.cookies)


def find_current_person() -> Person | None:
    """Return the person at the browser, read from the database; None without a valid sign-in."""
    return find_present_person(read_sign_in_token())


def current_person() -> Person:
    """Return the person at the browser. If nobody is signed in, redirect to the sign-in page and stop."""
    person = find_current_person()
    if person is None:
        # After a click on "Sign out", Streamlit may run only the fragment of the page: this happens if a form
        # reports something at the same moment.
        redirect_to_sign_in()
        st.stop()
    return person


def require_page(action: Action | None = None) -> Person:
    """Return the person at the browser; stop the page if they may not open it.

    Every page calls this first. The navigation lists only the pages that the person's roles permit, but a
    role may have been removed since, and a page may be run without the navigation. The message does not
    reveal that the page exists.

    Args:
        action: the permission that the page requires; None if a sign-in is enough.
    """
    person = current_person()
    if action is not None and not person.may(action):
        st.error("Page not found.")
        st.stop()
    return person
