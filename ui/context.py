"""The context of every page: the person, the clock, and the transaction of an action."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from accounts.service.audit import last_deed
from domain.people import Action, Person
from storage.unit_of_work import reading, unit_of_work
from storage.workspace import Workspace, current_workspace
from web.sign_in.cookies import sign_in_token
from web.sign_in.presence import person_present

__all__ = [
    "Workspace",
    "clock",
    "clock_time",
    "current_person",
    "current_workspace",
    "person_or_nobody",
    "reading",
    "require_page",
    "saved_since",
    "unit_of_work",
]


def clock() -> datetime:
    """Return the present time in UTC. Pages read no other clock."""
    return datetime.now(UTC)


def clock_time(moment: datetime) -> str:
    """Format a time in the browser's time zone, as 14:03:12; with "UTC" if the zone is unknown."""
    named = st.context.timezone
    try:
        zone = ZoneInfo(named) if isinstance(named, str) else None
    except (ZoneInfoNotFoundError, ValueError):  # the browser sends the name, so it can be anything
        zone = None
    return f"{moment.astimezone(zone):%H:%M:%S}" if zone else f"{moment.astimezone(UTC):%H:%M:%S} UTC"


def saved_since(begun: datetime) -> datetime | None:
    """Return when the person's latest action since ``begun`` was recorded, as read back from the database.

    Raises:
        NotNow: the database is temporarily unable to answer.
    """
    person = person_or_nobody()
    if person is None:
        return None
    with reading() as db:
        return last_deed(db, by=person, since=begun)


def token() -> str | None:
    """Return the sign-in token from the cookie that the browser sent when the page connected."""
    return sign_in_token(st.context.cookies)


def person_or_nobody() -> Person | None:
    """Return the person at the browser, read from the database; None without a valid sign-in."""
    return person_present(token())


def current_person() -> Person:
    """Return the person at the browser; stop the page if nobody is signed in."""
    person = person_or_nobody()
    if person is None:
        st.info("You are signed out. Reload the page to sign in.")
        st.stop()
    return person


def require_page(action: Action | None = None) -> Person:
    """Return the person at the browser; stop the page if they may not open it. The first call of every page.

    The navigation lists only the pages of the person's roles. This check also covers a role that was removed
    since, and a page whose file is run in another way. The message is only that there is no such page.
    """
    person = current_person()
    if action is not None and not person.may(action):
        st.error("Page not found.")
        st.stop()
    return person
