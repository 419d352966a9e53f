"""Whose token it is, asked of the database each time, and noted so that idleness can be told."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from accounts import service as accounts
from domain.errors import InvalidValue, NotNow
from domain.people import Person
from storage.unit_of_work import reading, unit_of_work

#: How long noting that somebody was seen waits for other writers; the next request tries again.
_PATIENCE_MS = 100


def idle_limit() -> timedelta:
    """How long a browser may be silent: ``OVERREAD_IDLE_HOURS``, 12 hours where it is not set."""
    return _hours("OVERREAD_IDLE_HOURS") or accounts.IDLE_LIMIT


def longest_limit() -> timedelta:
    """How long a sign-in holds at most: ``OVERREAD_LONGEST_HOURS``, a week where it is not set."""
    return _hours("OVERREAD_LONGEST_HOURS") or accounts.LONGEST


def _hours(setting: str) -> timedelta | None:
    """What a setting says, None where it says nothing.

    Raises:
        InvalidValue: not a number of hours above 0.
    """
    said = os.environ.get(setting, "").strip()
    if not said:
        return None
    try:
        hours = float(said)
    except ValueError:
        hours = 0.0
    if not 0 < hours <= 24 * 365:
        raise InvalidValue(setting, f"{said!r} is not a number of hours above 0")
    return timedelta(hours=hours)


def person_present(token: str | None) -> Person | None:
    """The person behind a token, None when it does not hold (any more). Blocks: call it in a thread."""
    if not token:
        return None
    now = datetime.now(UTC)
    with reading() as db:
        live = accounts.live_sign_in(db, token=token, now=now, idle=idle_limit(), longest=longest_limit())
    if live is None:
        return None
    if live.seen_is_due:
        # A large import may be writing for minutes, or the disk be full: nobody is kept from reading by that.
        with suppress(NotNow), unit_of_work(patience_ms=_PATIENCE_MS) as db:
            accounts.note_seen(db, token=token, now=now)
    return live.person
