"""A growing wait after wrong passwords, counted in the database for all processes of the app.

An attempt is counted as wrong before the password is checked, and the count is deleted if it was right; a
hundred simultaneous guesses therefore count as a hundred. A browser with which the person has signed in
before has its own count, so guesses from elsewhere can't lock its owner out.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session

from accounts.tokens import token_sha256
from domain.errors import Refused
from storage.accounts import people, sign_ins, wrong_passwords

#: Wrong passwords in a row before the first wait: for a name at one address, and for a name anywhere.
FREE, FREE_ANYWHERE = 5, 20
#: The longest wait; a longer one would allow anybody to lock somebody else out by guessing.
LONGEST = timedelta(minutes=1)
#: Counts older than this are deleted.
FORGOTTEN_AFTER = timedelta(hours=1)


class TooManyWrong(Refused):
    """Too many wrong passwords; the text says how long to wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt that may be made; ``counted_for`` are the counts to delete if the password is right."""

    counted_for: tuple[str, ...]


def begin_attempt(db: Session, *, name: str, address: str, token: str | None, now: datetime) -> Attempt:
    """Count an attempt to sign in as wrong; commit before the password is checked. Locks the counts.

    Args:
        db: a session that writes.
        name: the sign-in name as typed.
        address: of the browser, as far as known.
        token: of the browser's latest sign-in, valid or not; it shows whether this is the person's browser.
        now: the time.

    Raises:
        TooManyWrong: the wait after the last wrong password is not over; the attempt was not counted.
    """
    name = name.strip().lower()[:64]
    wrong_passwords.forget_before(db, moment=now - FORGOTTEN_AFTER)
    limits = _limits(db, name=name, address=address, token=token)
    counts = {}
    for counted_for, free in limits.items():
        count, last = wrong_passwords.lock_count(db, counted_for=counted_for, now=now)
        wait = last + _wait(count, free) - now
        if wait > timedelta(0):
            seconds = int(wait.total_seconds()) + 1
            raise TooManyWrong(f"Too many wrong passwords for this name. Try again in {seconds} seconds.")
        counts[counted_for] = count + 1
    for counted_for, count in counts.items():
        wrong_passwords.set_count(db, counted_for=counted_for, count=count, now=now)
    return Attempt(counted_for=tuple(counts))


def attempt_was_right(db: Session, *, attempt: Attempt) -> None:
    """Delete the counts of an attempt, because its password was right."""
    wrong_passwords.forget(db, counted_for=list(attempt.counted_for))


def _limits(db: Session, *, name: str, address: str, token: str | None) -> dict[str, int]:
    """The counts that the attempt adds to, with the number of wrong ones before the first wait."""
    if token and _was_signed_in_here(db, name=name, token=token):
        return {_hashed("browser", name, token): FREE}
    return {_hashed("address", name, address): FREE, _hashed("anywhere", name): FREE_ANYWHERE}


def _was_signed_in_here(db: Session, *, name: str, token: str) -> bool:
    earlier = sign_ins.find_sign_in(db, token_sha256=token_sha256(token))
    person = people.find_person(db, name=name)
    return earlier is not None and person is not None and earlier.person_id == person.id


def _wait(count: int, free: int) -> timedelta:
    return min(LONGEST, timedelta(seconds=2 ** min(count - free + 1, 10))) if count >= free else timedelta(0)


def _hashed(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
