"""Looks up the person of a token in the database at each request, and records when they were last seen."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from accounts import service as accounts
from domain.errors import InvalidValue, NotNow
from domain.people import Person
from storage.unit_of_work import read_only_session, unit_of_work

#: Milliseconds that recording a visit waits for other writers; the next request tries again.
_PATIENCE_MS = 100


def idle_limit() -> timedelta:
    """The maximum time without a request: ``OVERREAD_IDLE_HOURS``, 12 hours by default."""
    return _read_hours("OVERREAD_IDLE_HOURS") or accounts.IDLE_LIMIT


def duration_limit() -> timedelta:
    """The maximum duration of a sign-in: ``OVERREAD_LONGEST_HOURS``, a week by default."""
    return _read_hours("OVERREAD_LONGEST_HOURS") or accounts.MAX_DURATION


def _read_hours(setting: str) -> timedelta | None:
    """The value of a setting; None if it is not set.

    Raises:
        InvalidValue: not a number of hours above 0.
    """
    text = os.environ.get(setting, "").strip()
    if not text:
        return None
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    if not 0 < hours <= 24 * 365:
        raise InvalidValue(setting, f"{text!r} is not a number of hours above 0")
    return timedelta(hours=hours)


def find_present_person(token: str | None) -> Person | None:
    """The person of a token; None if it is not or no longer valid. Blocks: call it in a thread."""
    if not token:
        return None
    now = datetime.now(UTC)
    with read_only_session() as db:
        sign_in = accounts.find_valid_sign_in(
            db, token=token, now=now, idle_limit=idle_limit(), max_duration=duration_limit()
        )
    if sign_in is None:
        return None
    if sign_in.last_seen_is_stale:
        # A large import may write for minutes, or the disk may be full: neither may prevent reading.
        with suppress(NotNow), unit_of_work(lock_timeout_ms=_PATIENCE_MS) as db:
            accounts.update_last_seen(db, token=token, now=now)
    return sign_in.person
