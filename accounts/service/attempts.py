"""A growing wait after wrong passwords, counted in the database for all processes of the app.

An attempt is counted as wrong before the password is looked at, and forgotten when it was right: so a
hundred guesses at once count as a hundred. A browser that the person has signed in with before is counted
for itself: guesses from elsewhere can't keep its owner out.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session

from accounts.service.tokens import token_sha256
from domain.errors import Refused
from storage.accounts import people, sign_ins, wrong_passwords

#: Wrong passwords in a row before the first wait: for a name at one address, and for a name anywhere.
FREE, FREE_ANYWHERE = 5, 20
#: The longest wait; longer ones would let anybody keep somebody else out by guessing.
LONGEST = timedelta(minutes=1)
FORGOTTEN_AFTER = timedelta(hours=1)


class TooManyWrong(Refused):
    """Wrong passwords came too fast; the text says how long to wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt that may be made: what to forget when the password was right."""

    counted_for: tuple[str, ...]


def begin_attempt(db: Session, *, name: str, address: str, token: str | None, now: datetime) -> Attempt:
    """Count an attempt as wrong, and let it through; to be committed before the password is looked at.

    Args:
        db: where all processes count.
        name: as it was typed.
        address: where the browser is, as far as it is known.
        token: that of the sign-in which the browser had, live or not; it may be the person's own browser.
        now: when.

    Raises:
        TooManyWrong: the wait after the last wrong one is not over; nothing was counted.
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
    """The password was right: what was counted is forgotten."""
    wrong_passwords.forget(db, counted_for=list(attempt.counted_for))


def _limits(db: Session, *, name: str, address: str, token: str | None) -> dict[str, int]:
    """What the attempt is counted for, with the number of wrong ones that cost nothing."""
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
