"""One sign-in: how it begins, how long it holds, how it ends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session

from accounts.passwords import hash_password, matches, needs_rehash
from accounts.service.audit import record
from accounts.service.tokens import token_sha256
from domain.errors import NotSignedIn
from domain.people import Person
from storage.accounts import people, sign_ins

#: How long a browser may be silent before it has to sign in again, unless a setting says otherwise.
IDLE_LIMIT = timedelta(hours=12)
#: How long a sign-in holds at most, however busy the browser is, unless a setting says otherwise.
LONGEST = timedelta(days=7)
#: How long the row of a sign-in that ended is kept: for it a browser is known as the person's own.
_KEPT = timedelta(days=30)
#: ``last_seen_at`` is written at most this often: a write at every click would be one too many.
SEEN_EVERY = timedelta(minutes=1)

_WRONG = "That name and password do not go together."
_DISABLED = "This account is disabled. Ask an admin to enable it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSignIn:
    """A sign-in that holds: who it is, and whether it is time to write down that they were seen."""

    person: Person
    seen_is_due: bool


def check_password(db: Session, *, name: str, password: str) -> Person:
    """Whose name and password these are. It reads only: argon2 takes its time, and no writer should wait.

    Raises:
        NotSignedIn: they don't go together (the text does not say which names exist), or the account is
            disabled.
    """
    person = people.find_person(db, name=name.strip().lower())
    kept = people.password_hash_of(db, person_id=person.id) if person else None
    if not matches(password, kept) or person is None:
        raise NotSignedIn(_WRONG)
    if person.disabled_at is not None:  # said only to somebody who knows the password
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
    """Write down that a browser with this token is the person's from now on; old rows are cleared away.

    ``replaces`` is the token that the browser had: it ends, else one browser answers for two people.
    ``password``, just checked, is hashed anew when the recommended cost has changed since. ``browser`` is
    what its owner will know it by, ``way`` how they came.
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
    """The sign-in of a token, unless it is unknown, revoked, idle too long, too old, or its person is out."""
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
    """Whether nobody has ended it, the browser was not silent for too long, and it is not too old."""
    fresh = now - sign_in.last_seen_at <= idle and now - sign_in.signed_in_at <= longest
    return sign_in.revoked_at is None and fresh


def person_of_token(
    db: Session,
    *,
    token: str | None,
    now: datetime,
    idle: timedelta = IDLE_LIMIT,
    longest: timedelta = LONGEST,
) -> Person | None:
    """Whose live sign-in the token is, None when it is nobody's."""
    live = live_sign_in(db, token=token, now=now, idle=idle, longest=longest)
    return live.person if live else None


def note_seen(db: Session, *, token: str, now: datetime) -> None:
    """The browser was heard of just now."""
    sign_ins.seen(db, token_sha256=token_sha256(token), now=now)


def sign_out(db: Session, *, token: str, now: datetime) -> None:
    """End the sign-in of that token, in every tab."""
    kept = sign_ins.find_sign_in(db, token_sha256=token_sha256(token))
    if kept is None or kept.revoked_at is not None:
        return
    sign_ins.revoke(db, token_sha256=kept.token_sha256, now=now)
    person = people.load_person(db, person_id=kept.person_id)
    record(db, by=person, what="sign out", subject=f"person {person.id} {person.name}", now=now)
