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
FREE_ATTEMPTS, FREE_ATTEMPTS_ANYWHERE = 5, 20
#: The longest wait; a longer one would allow anybody to lock somebody else out by guessing.
MAX_WAIT = timedelta(minutes=1)
#: Counts older than this are deleted.
COUNT_LIFETIME = timedelta(hours=1)


class TooManyAttempts(Refused):
    """Too many wrong passwords; the text says how long to wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt that may be made; ``counted_for`` are the counts to delete if the password is right."""

    counter_keys: tuple[str, ...]


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
    wrong_passwords.delete_counts_before(db, moment=now - COUNT_LIFETIME)
    limits = _find_limits(db, name=name, address=address, token=token)
    counts = {}
    for counter_key, free_attempts in limits.items():
        count, last_at = wrong_passwords.lock_count(db, counted_for=counter_key, now=now)
        wait = last_at + _compute_wait(count, free_attempts) - now
        if wait > timedelta(0):
            seconds = int(wait.total_seconds()) + 1
            raise TooManyAttempts(f"Too many wrong passwords for this name. Try again in {seconds} seconds.")
        counts[counter_key] = count + 1
    for counter_key, count in counts.items():
        wrong_passwords.set_count(db, counted_for=counter_key, count=count, now=now)
    return Attempt(counter_keys=tuple(counts))


def clear_attempt(db: Session, *, attempt: Attempt) -> None:
    """Delete the counts of an attempt, because its password was right."""
    wrong_passwords.delete_counts(db, counted_for=list(attempt.counter_keys))


def _find_limits(db: Session, *, name: str, address: str, token: str | None) -> dict[str, int]:
    """The counts that the attempt adds to, with the number of wrong ones before the first wait."""
    if token and _has_signed_in_here(db, name=name, token=token):
        return {_hash_parts("browser", name, token): FREE_ATTEMPTS}
    return {
        _hash_parts("address", name, address): FREE_ATTEMPTS,
        _hash_parts("anywhere", name): FREE_ATTEMPTS_ANYWHERE,
    }


def _has_signed_in_here(db: Session, *, name: str, token: str) -> bool:
    earlier_sign_in = sign_ins.find_sign_in(db, token_sha256=token_sha256(token))
    person = people.find_person(db, name=name)
    return earlier_sign_in is not None and person is not None and earlier_sign_in.person_id == person.id


def _compute_wait(count: int, free_attempts: int) -> timedelta:
    return (
        min(MAX_WAIT, timedelta(seconds=2 ** min(count - free_attempts + 1, 10)))
        if count >= free_attempts
        else timedelta(0)
    )


def _hash_parts(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
