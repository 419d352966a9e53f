"""Sign-ins: checking the password, starting, validating and ending a sign-in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session

from accounts.passwords import hash_password, matches, needs_rehash
from accounts.service.audit import record
from accounts.tokens import token_sha256
from domain.errors import NotSignedIn
from domain.people import Person
from storage.accounts import people, sign_ins

#: Default time without a request after which a browser must sign in again.
IDLE_LIMIT = timedelta(hours=12)
#: Default maximum duration of a sign-in.
LONGEST = timedelta(days=7)
#: How long an ended sign-in is stored; it identifies the browser as the person's own.
_KEPT = timedelta(days=30)
#: ``last_seen_at`` is written at most this often, not with every request.
SEEN_EVERY = timedelta(minutes=1)

_WRONG = "That name and password do not go together."
_DISABLED = "This account is disabled. Ask an admin to enable it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSignIn:
    """A valid sign-in; ``seen_is_due``: :func:`note_seen` should be called."""

    person: Person
    seen_is_due: bool


def check_password(db: Session, *, name: str, password: str) -> Person:
    """Find the person with a name and password.

    It only reads, because argon2 is slow and writers must not wait. Call
    :func:`accounts.service.attempts.begin_attempt` before. The time taken does not reveal which names exist.

    Raises:
        NotSignedIn: name and password do not match, or the account is disabled.
    """
    person = people.find_person(db, name=name.strip().lower())
    kept = people.password_hash_of(db, person_id=person.id) if person else None
    if not matches(password, kept) or person is None:
        raise NotSignedIn(_WRONG)
    if person.disabled_at is not None:  # revealed only to somebody who knows the password
        raise NotSignedIn(_DISABLED)
    return person


def begin_sign_in(
    db: Session,
    *,
    person: Person,
    token: str,
    replaces: str | None,
    password: str | None = None,
    browser: str = "",
    way: str = "password",
    now: datetime,
) -> None:
    """Start a sign-in of a browser; deletes old ended sign-ins.

    Args:
        db: a session that writes.
        person: whose name and password, or claims, were just checked.
        token: the browser's new secret; only its hash is stored.
        replaces: the browser's previous token, whose sign-in ends.
        password: just checked; it is hashed again if the recommended cost has changed. None without one.
        browser: a description by which its owner will recognise it.
        way: how they signed in.
        now: the time.

    Raises:
        NotSignedIn: the account was disabled meanwhile.
    """
    current = people.load_person(db, person_id=person.id)
    if current.disabled_at is not None:
        raise NotSignedIn(_DISABLED)
    if replaces:
        sign_ins.revoke(db, token_sha256=token_sha256(replaces), now=now)
    kept = people.password_hash_of(db, person_id=person.id)
    if password is not None and kept is not None and needs_rehash(kept):
        people.set_password_hash(db, person_id=person.id, password_hash=hash_password(password))
    sign_ins.delete_ended_before(db, moment=now - _KEPT)
    sign_ins.insert_sign_in(
        db, token_sha256=token_sha256(token), person_id=person.id, browser=browser, way=way, now=now
    )
    record(
        db,
        by=current,
        what="sign in",
        subject=f"person {current.id} {current.name}",
        new=[way, browser],
        now=now,
    )


def live_sign_in(
    db: Session,
    *,
    token: str | None,
    now: datetime,
    idle: timedelta = IDLE_LIMIT,
    longest: timedelta = LONGEST,
) -> LiveSignIn | None:
    """The valid sign-in of a token.

    Args:
        db: a session that reads.
        token: of the browser; None gives None.
        now: the time.
        idle: longest time without a request.
        longest: longest duration.

    Returns:
        None if the token is unknown, the sign-in has ended or expired, or the account is disabled.
    """
    if not token:
        return None
    found = sign_ins.sign_in_and_person(db, token_sha256=token_sha256(token))
    if found is None:
        return None
    kept, person = found
    if person.disabled_at is not None or not holds(kept, now=now, idle=idle, longest=longest):
        return None
    return LiveSignIn(person=person, seen_is_due=now - kept.last_seen_at >= SEEN_EVERY)


def holds(sign_in: sign_ins.SignIn, *, now: datetime, idle: timedelta, longest: timedelta) -> bool:
    """Whether a sign-in is valid: not ended, not idle for too long, and not too old."""
    fresh = now - sign_in.last_seen_at <= idle and now - sign_in.signed_in_at <= longest
    return sign_in.revoked_at is None and fresh


def note_seen(db: Session, *, token: str, now: datetime) -> None:
    """Store the time of the browser's latest request."""
    sign_ins.seen(db, token_sha256=token_sha256(token), now=now)


def sign_out(db: Session, *, token: str, now: datetime) -> None:
    """End the sign-in of a token, in every tab; an unknown or ended one changes nothing."""
    kept = sign_ins.find_sign_in(db, token_sha256=token_sha256(token))
    if kept is None or kept.revoked_at is not None:
        return
    sign_ins.revoke(db, token_sha256=kept.token_sha256, now=now)
    person = people.load_person(db, person_id=kept.person_id)
    record(db, by=person, what="sign out", subject=f"person {person.id} {person.name}", now=now)
