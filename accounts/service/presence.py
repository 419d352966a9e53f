"""Sign-ins: by password or by provider, how long they hold, how they end."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session

from accounts.claims import Claims
from accounts.passwords import hash_password, matches, needs_rehash
from domain.errors import NotSignedIn
from domain.people import Person
from storage import people, sign_ins

#: How long a browser may be silent before it has to sign in again, unless a setting says otherwise.
IDLE_LIMIT = timedelta(hours=12)
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
    now: datetime,
) -> None:
    """Write down that a browser with this token is the person's from now on.

    ``replaces`` is the token that the browser had: it ends, else one browser answers for two people.
    ``password``, just checked, is hashed anew when the recommended cost has changed since.
    """
    current = people.load_person(db, person_id=person.id)
    if current.disabled_at is not None:
        raise NotSignedIn(_DISABLED)
    if replaces:
        sign_ins.revoke(db, token_sha256=token_sha256(replaces), now=now)
    kept = people.password_hash_of(db, person_id=person.id)
    if password is not None and kept is not None and needs_rehash(kept):
        people.set_password_hash(db, person_id=person.id, password_hash=hash_password(password))
    sign_ins.insert_sign_in(db, token_sha256=token_sha256(token), person_id=person.id, now=now)


def live_sign_in(
    db: Session, *, token: str | None, now: datetime, idle: timedelta = IDLE_LIMIT
) -> LiveSignIn | None:
    """The sign-in of a token, unless it is unknown, revoked, idle for too long, or the person is disabled."""
    if not token:
        return None
    kept = sign_ins.find_sign_in(db, token_sha256=token_sha256(token))
    if kept is None or kept.revoked_at is not None or now - kept.last_seen_at > idle:
        return None
    person = people.load_person(db, person_id=kept.person_id)
    if person.disabled_at is not None:
        return None
    return LiveSignIn(person=person, seen_is_due=now - kept.last_seen_at >= SEEN_EVERY)


def person_of_token(
    db: Session, *, token: str | None, now: datetime, idle: timedelta = IDLE_LIMIT
) -> Person | None:
    """Whose live sign-in the token is, None when it is nobody's."""
    live = live_sign_in(db, token=token, now=now, idle=idle)
    return live.person if live else None


def note_seen(db: Session, *, token: str, now: datetime) -> None:
    """The browser was heard of just now."""
    sign_ins.seen(db, token_sha256=token_sha256(token), now=now)


def sign_out(db: Session, *, token: str, now: datetime) -> None:
    """End the sign-in of that token, in every tab."""
    sign_ins.revoke(db, token_sha256=token_sha256(token), now=now)


def person_of_claims(db: Session, *, claims: Mapping[str, object]) -> Person:
    """Who the OIDC provider says this is: by its subject, else by a verified e-mail that is a sign-in name.

    The first time, the subject is kept with the account, and counts alone from then on. Roles are ours:
    no claim gives one.

    Raises:
        NotSignedIn: no account belongs to these claims, or it is disabled.
    """
    said = Claims.of(claims)
    person = people.find_person_by_subject(db, subject=said.subject)
    if person is None:
        person = next(filter(None, (people.find_person(db, name=name) for name in said.names)), None)
        if person is None or people.oidc_subject_of(db, person_id=person.id) is not None:
            raise NotSignedIn(
                f"{said.shown} has no account here. Ask an admin to add one with that e-mail address as name."
            )
        people.set_oidc_subject(db, person_id=person.id, subject=said.subject)
    if person.disabled_at is not None:
        raise NotSignedIn(_DISABLED)
    return person


def token_sha256(token: str) -> str:
    """What is kept of a token: a copy of the database opens no session."""
    return hashlib.sha256(token.encode()).hexdigest()
