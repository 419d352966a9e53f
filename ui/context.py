"""What every page stands in: the person at the browser, the clock, the one transaction of an action."""

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
    """Now, in UTC. The only clock that pages read."""
    return datetime.now(UTC)


def clock_time(moment: datetime) -> str:
    """The time as the clock on the person's wall shows it, 14:03:12; with "UTC" where that is not known."""
    named = st.context.timezone
    try:
        zone = ZoneInfo(named) if isinstance(named, str) else None
    except (ZoneInfoNotFoundError, ValueError):  # the browser's word for it, so anything may come
        zone = None
    return f"{moment.astimezone(zone):%H:%M:%S}" if zone else f"{moment.astimezone(UTC):%H:%M:%S} UTC"


def saved_since(begun: datetime) -> datetime | None:
    """When the person's latest deed since then was put on record, read back from the database.

    Raises:
        NotNow: the database can't be asked.
    """
    person = person_or_nobody()
    if person is None:
        return None
    with reading() as db:
        return last_deed(db, by=person, since=begun)


def token() -> str | None:
    """The sign-in's token, from the cookie that came when the page connected."""
    return sign_in_token(st.context.cookies)


def person_or_nobody() -> Person | None:
    """Who is at the browser, asked of the database; None when the sign-in does not hold (any more)."""
    return person_present(token())


def current_person() -> Person:
    """Who is at the browser; a page that nobody is signed in at stops here."""
    person = person_or_nobody()
    if person is None:
        st.info("You are signed out. Reload the page to sign in.")
        st.stop()
    return person


def require_page(action: Action | None = None) -> Person:
    """The first line of every page: who is there, and may they be here?

    The navigation has only the pages of the person's roles; this holds when a role was taken away since,
    or a page's file is run by another way. It says no more than that there is no such page.
    """
    person = current_person()
    if action is not None and not person.may(action):
        st.error("Page not found.")
        st.stop()
    return person
