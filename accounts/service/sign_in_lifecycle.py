"""Sign-ins: checking the password, starting, validating and ending a sign-in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session

from accounts.passwords import hash_password, needs_rehash, verify_password
from accounts.service.audit import record_action
from accounts.tokens import token_sha256
from domain.access import PRIVILEGED_ROLES
from domain.errors import NotSignedIn
from domain.people import Person, Role
from storage.accounts import people, sign_ins

#: Default time without a request after which a browser must sign in again.
IDLE_LIMIT = timedelta(hours=12)
#: Default maximum duration of a sign-in.
MAX_DURATION = timedelta(days=7)
#: Default maximum duration of a sign-in of an admin or a coordinator.
PRIVILEGED_DURATION = timedelta(hours=12)
#: The time for which an ended sign-in is stored; it identifies the browser as the person's own.
_RETENTION = timedelta(days=30)
#: ``last_seen_at`` is written at most this often, not with every request.
LAST_SEEN_INTERVAL = timedelta(minutes=1)

_WRONG_PASSWORD = "The name or password is wrong."  # noqa: S105 - a message
_ACCOUNT_DISABLED = "This account is disabled. Ask an admin to enable it."


#: Methods of sign-in with a code.
TOTP_SIGN_IN, RECOVERY_CODE_SIGN_IN = "password and code", "password and recovery code"
#: Methods of sign-in that need no further factor. A provider has its own second factor.
_STRONG_METHODS = frozenset({TOTP_SIGN_IN, RECOVERY_CODE_SIGN_IN, "provider"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInPolicy:
    """The maximum durations of sign-ins, and the roles that need a second factor.

    ``idle_limit`` is the maximum time without a request. ``max_duration`` is the maximum duration of a
    sign-in, ``privileged_duration`` the maximum for people with a role of
    :data:`domain.access.PRIVILEGED_ROLES`.
    """

    idle_limit: timedelta = IDLE_LIMIT
    max_duration: timedelta = MAX_DURATION
    privileged_duration: timedelta = PRIVILEGED_DURATION
    second_factor_roles: frozenset[Role] = frozenset()

    def requires_second_factor(self, person: Person) -> bool:
        """Return whether a role of the person requires a code. Demo accounts never need a code."""
        return not person.demo and not self.second_factor_roles.isdisjoint(person.roles)

    def allows(self, sign_in: sign_ins.SignIn, person: Person, *, now: datetime) -> bool:
        """Return whether a sign-in is valid for the person with their current roles.

        A person with a new role must sign in again if the sign-in is too old or too weak for the role.
        """
        max_duration = self.max_duration
        if not PRIVILEGED_ROLES.isdisjoint(person.roles):
            max_duration = min(max_duration, self.privileged_duration)
        return (
            sign_in.revoked_at is None
            and now - sign_in.last_seen_at <= self.idle_limit
            and now - sign_in.signed_in_at <= max_duration
            and (sign_in.way in _STRONG_METHODS or not self.requires_second_factor(person))
        )


DEFAULT_POLICY = SignInPolicy()


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidSignIn:
    """A valid sign-in. If ``last_seen_is_stale`` is true, :func:`update_last_seen` must be called."""

    person: Person
    last_seen_is_stale: bool


def authenticate(db: Session, *, name: str, password: str) -> Person:
    """Find the person with a name and password.

    This function only reads, because argon2 is slow and writers must not wait. Call
    :func:`accounts.service.attempts.begin_attempt` first. The response time does not reveal which names
    exist.

    Raises:
        NotSignedIn: name and password do not match, or the account is disabled.
    """
    person = people.find_person(db, name=name.strip().lower())
    stored_hash = people.load_password_hash(db, person_id=person.id) if person else None
    if not verify_password(password, stored_hash) or person is None:
        raise NotSignedIn(_WRONG_PASSWORD)
    if person.disabled_at is not None:  # revealed only to a person who knows the password
        raise NotSignedIn(_ACCOUNT_DISABLED)
    return person


def start_sign_in(
    db: Session,
    *,
    person: Person,
    token: str,
    previous_token: str | None,
    password: str | None = None,
    browser: str = "",
    method: str = "password",
    now: datetime,
) -> None:
    """Start a sign-in of a browser, and delete old ended sign-ins.

    Args:
        db: a session for writing.
        person: the person whose password or claims were just checked.
        token: the browser's new token; only its hash is stored.
        previous_token: the browser's previous token, whose sign-in ends.
        password: the checked password, which is hashed again if the recommended cost has changed; None if the
            person did not use a password.
        browser: a name of the browser that its owner recognises.
        method: the method of sign-in.
        now: the current time.

    Raises:
        NotSignedIn: the account was disabled in the meantime.
    """
    current = people.load_person(db, person_id=person.id)
    if current.disabled_at is not None:
        raise NotSignedIn(_ACCOUNT_DISABLED)
    if previous_token:
        sign_ins.revoke_sign_in(db, token_sha256=token_sha256(previous_token), now=now)
    if password is not None:
        update_password_hash(db, person=person, password=password)
    sign_ins.delete_ended_sign_ins(db, before=now - _RETENTION)
    sign_ins.insert_sign_in(
        db, token_sha256=token_sha256(token), person_id=person.id, browser=browser, way=method, now=now
    )
    record_action(
        db,
        by=current,
        action="sign in",
        subject=f"person {current.id} {current.name}",
        new={"method": method, "browser": browser},
        now=now,
    )


def update_password_hash(db: Session, *, person: Person, password: str) -> None:
    """Store a new hash of a checked password if the recommended cost has changed."""
    stored_hash = people.load_password_hash(db, person_id=person.id)
    if stored_hash is not None and needs_rehash(stored_hash):
        people.set_password_hash(db, person_id=person.id, password_hash=hash_password(password))


def find_valid_sign_in(
    db: Session, *, token: str | None, now: datetime, policy: SignInPolicy = DEFAULT_POLICY
) -> ValidSignIn | None:
    """Find the valid sign-in of a token.

    Args:
        db: a read-only session.
        token: the token of the browser, or None.
        now: the current time.
        policy: the policy that the sign-in must satisfy.

    Returns:
        The sign-in; None if there is no token, the token is unknown, the sign-in has ended or expired, or the
        account is disabled.
    """
    if not token:
        return None
    match = sign_ins.find_sign_in_and_person(db, token_sha256=token_sha256(token))
    if match is None:
        return None
    sign_in, person = match
    if person.disabled_at is not None or not policy.allows(sign_in, person, now=now):
        return None
    return ValidSignIn(person=person, last_seen_is_stale=now - sign_in.last_seen_at >= LAST_SEEN_INTERVAL)


def find_sign_in_method(db: Session, *, token: str | None) -> str | None:
    """Return the method of the browser's last sign-in, such as "password"; None if it is not known.

    The sign-in may have ended.
    """
    sign_in = sign_ins.find_sign_in(db, token_sha256=token_sha256(token)) if token else None
    return sign_in.way if sign_in else None


def update_last_seen(db: Session, *, token: str, now: datetime) -> None:
    """Store the time of the browser's latest request."""
    sign_ins.update_last_seen(db, token_sha256=token_sha256(token), now=now)


def sign_out(db: Session, *, token: str, now: datetime) -> None:
    """End the sign-in of a token in every tab. If there is no such sign-in or it has ended, do nothing."""
    sign_in = sign_ins.find_sign_in(db, token_sha256=token_sha256(token))
    if sign_in is None or sign_in.revoked_at is not None:
        return
    sign_ins.revoke_sign_in(db, token_sha256=sign_in.token_sha256, now=now)
    person = people.load_person(db, person_id=sign_in.person_id)
    record_action(db, by=person, action="sign out", subject=f"person {person.id} {person.name}", now=now)
