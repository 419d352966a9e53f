"""Looks up the signed-in person of a request, and records when they were last seen."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from accounts import service as accounts
from domain.errors import InvalidValue, NotNow
from domain.people import Person, Role
from storage.unit_of_work import read_only_session, unit_of_work

#: Milliseconds that recording the last-seen time waits for other writers; the next request tries again.
_LOCK_TIMEOUT_MS = 100


def idle_limit() -> timedelta:
    """Return the maximum time between two requests: ``OVERREAD_IDLE_HOURS``, 12 hours by default."""
    return _read_hours("OVERREAD_IDLE_HOURS") or accounts.IDLE_LIMIT


def sign_in_policy() -> accounts.SignInPolicy:
    """Read from the settings how long sign-ins last and which roles need a second factor.

    ``OVERREAD_LONGEST_HOURS`` is the maximum duration of a sign-in (default: a week).
    ``OVERREAD_PRIVILEGED_HOURS`` is the maximum for admins and coordinators (default: 12 hours).
    ``OVERREAD_SECOND_FACTOR_ROLES`` lists the roles that need a code, separated by commas (default: none).

    Raises:
        InvalidValue: a setting is not a number of hours above 0, or names an unknown role.
    """
    return accounts.SignInPolicy(
        idle_limit=idle_limit(),
        max_duration=_read_hours("OVERREAD_LONGEST_HOURS") or accounts.MAX_DURATION,
        privileged_duration=_read_hours("OVERREAD_PRIVILEGED_HOURS") or accounts.PRIVILEGED_DURATION,
        second_factor_roles=_read_roles("OVERREAD_SECOND_FACTOR_ROLES"),
    )


def _read_roles(setting: str) -> frozenset[Role]:
    names = [name.strip() for name in os.environ.get(setting, "").split(",") if name.strip()]
    for name in names:
        if name not in set(Role):
            raise InvalidValue(setting, f"{name!r} is not one of: {', '.join(Role)}")
    return frozenset(Role(name) for name in names)


def _read_hours(setting: str) -> timedelta | None:
    """Return the value of a setting; None if it is not set.

    Raises:
        InvalidValue: the value is not a number of hours above 0.
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
    """Return the person of a valid token, else None. This function blocks, so call it in a thread."""
    if not token:
        return None
    now = datetime.now(UTC)
    with read_only_session() as db:
        sign_in = accounts.find_valid_sign_in(db, token=token, now=now, policy=sign_in_policy())
    if sign_in is None:
        return None
    if sign_in.last_seen_is_stale:
        # A large import can write for minutes, and the disk can be full. People must still be able to read.
        with suppress(NotNow), unit_of_work(lock_timeout_ms=_LOCK_TIMEOUT_MS) as db:
            accounts.update_last_seen(db, token=token, now=now)
    return sign_in.person
