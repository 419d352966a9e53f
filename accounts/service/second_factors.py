"""The second factor of signing in: a code of an authenticator app, or a recovery code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session

from accounts.passwords import verify_password
from accounts.service.audit import record_action
from accounts.service.people import load_person_by_name
from accounts.service.sign_in_lifecycle import (
    RECOVERY_CODE_SIGN_IN,
    TOTP_SIGN_IN,
    SignInPolicy,
    start_sign_in,
    update_password_hash,
)
from accounts.tokens import token_sha256
from accounts.totp import find_step, normalise_recovery_code
from domain.errors import NotFound, NotSignedIn, Refused
from domain.people import Action, Person, require
from storage.accounts import people, second_factors, sign_ins

#: The maximum time between the password and the code.
PENDING_LIFETIME = timedelta(minutes=10)
#: The time for which the secret of an unfinished setup is kept.
SETUP_LIFETIME = timedelta(hours=1)

_WRONG_CODE = (
    "The code is wrong or was already used. Wait for the next code. If codes are refused repeatedly, set the "
    "clock of your phone to automatic."
)
_EXPIRED = "The sign-in timed out. Enter your password again."
_SETUP_EXPIRED = "This setup is complete or has expired. Reload the page."


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactorStatus:
    """Whether a person signs in with a code, whether they must, and how many recovery codes are left."""

    is_on: bool
    is_required: bool
    recovery_codes_left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingSignIn:
    """A sign-in whose password was correct and that still requires a code.

    ``setup_secret`` is the secret to set up in an authenticator app; None if the person has one.
    """

    person: Person
    setup_secret: str | None


# -------------------------------------------------------------------------------- from password to code
def begin_second_factor(
    db: Session,
    *,
    person: Person,
    token: str,
    method: str,
    password: str | None,
    policy: SignInPolicy,
    now: datetime,
) -> bool:
    """Record that the correct password was entered and a code is required next.

    Returns:
        False if the person needs no code; the caller then starts the sign-in.
    """
    if not (_is_on(db, person) or policy.requires_second_factor(person)):
        return False
    if password is not None:
        update_password_hash(db, person=person, password=password)
    second_factors.delete_pending_sign_ins_before(db, moment=now - PENDING_LIFETIME)
    second_factors.insert_pending_sign_in(
        db, token_sha256=token_sha256(token), person_id=person.id, method=method, now=now
    )
    return True


def load_pending_person(db: Session, *, token: str | None, now: datetime) -> Person:
    """Return the person whose correct password was entered in the browser with this token.

    Raises:
        NotSignedIn: there is no pending sign-in, or it is older than ten minutes.
    """
    pending = second_factors.find_pending_sign_in(db, token_sha256=token_sha256(token)) if token else None
    if pending is None or now - pending.began_at > PENDING_LIFETIME:
        raise NotSignedIn(_EXPIRED)
    return people.load_person(db, person_id=pending.person_id)


def load_pending_sign_in(
    db: Session, *, token: str | None, new_secret: str, policy: SignInPolicy, now: datetime
) -> PendingSignIn:
    """Return the pending sign-in of the browser with this token. Begin the setup if the person needs an app.

    ``new_secret`` is passed to :func:`begin_setup`.

    Raises:
        NotSignedIn: there is no pending sign-in, it is older than ten minutes, or no code is required any
            more.
    """
    person = load_pending_person(db, token=token, now=now)
    if _is_on(db, person):
        return PendingSignIn(person=person, setup_secret=None)
    if not policy.requires_second_factor(person):  # an admin changed the roles after the password was entered
        raise NotSignedIn(_EXPIRED)
    return PendingSignIn(
        person=person, setup_secret=begin_setup(db, person=person, new_secret=new_secret, now=now)
    )


def finish_second_factor(
    db: Session,
    *,
    pending_token: str,
    code: str,
    new_recovery_codes: Sequence[str],
    token: str,
    previous_token: str | None,
    browser: str,
    now: datetime,
) -> bool:
    """Check the code and start the sign-in. Call :func:`accounts.service.begin_code_attempt` first.

    Args:
        db: a session for writing.
        pending_token: the token of the pending sign-in.
        code: the code of the authenticator app or a recovery code, as entered.
        new_recovery_codes: the codes that are stored if this completes the setup of an authenticator app.
        token: the browser's new token.
        previous_token: the browser's previous token, whose sign-in ends.
        browser: a name of the browser that its owner recognises.
        now: the current time.

    Returns:
        Whether the code has completed a setup. If so, the new recovery codes are valid.

    Raises:
        NotSignedIn: the code is wrong, or there is no pending sign-in.
    """
    person = load_pending_person(db, token=pending_token, now=now)
    if not second_factors.delete_pending_sign_in(db, token_sha256=token_sha256(pending_token)):
        raise NotSignedIn(_EXPIRED)  # another tab has finished the sign-in
    is_setup = not _is_on(db, person)
    if is_setup:
        try:
            confirm_setup(
                db, person=person, token=None, code=code, new_recovery_codes=new_recovery_codes, now=now
            )
        except Refused as error:
            raise NotSignedIn(str(error)) from error
    method = TOTP_SIGN_IN if is_setup else _check_code(db, person=person, code=code, now=now)
    start_sign_in(
        db, person=person, token=token, previous_token=previous_token, browser=browser, method=method, now=now
    )
    return is_setup


# ------------------------------------------------------------------------------------ by the person
def load_second_factor_status(db: Session, *, person: Person, policy: SignInPolicy) -> SecondFactorStatus:
    """Return the state of a person's own second factor."""
    return SecondFactorStatus(
        is_on=_is_on(db, person),
        is_required=policy.requires_second_factor(person),
        recovery_codes_left=second_factors.count_recovery_codes(db, person_id=person.id),
    )


def find_setup_secret(db: Session, *, person: Person, now: datetime) -> str | None:
    """Return the secret of an unfinished setup that began within the last hour; None if there is none."""
    second_factor = second_factors.find_second_factor(db, person_id=person.id)
    if (
        second_factor is None
        or second_factor.confirmed_at is not None
        or now - second_factor.made_at > SETUP_LIFETIME
    ):
        return None
    return second_factor.secret


def begin_setup(db: Session, *, person: Person, new_secret: str, now: datetime) -> str:
    """Return the secret for the person's authenticator app.

    It is the secret of an unfinished setup, or else ``new_secret``. It stays the same for an hour, so that
    reloaded pages and several tabs show the same secret.

    Raises:
        Refused: an app is already set up, or the account is a demo account.
    """
    if person.demo:
        raise Refused("Several people use a demo account, so it has no authenticator app.")
    if _is_on(db, person):
        raise Refused("An authenticator app is already set up. Turn it off before you set up another one.")
    current_secret = find_setup_secret(db, person=person, now=now)
    if current_secret is not None:
        return current_secret
    second_factors.insert_second_factor(db, person_id=person.id, secret=new_secret, now=now)
    return new_secret


def confirm_setup(
    db: Session,
    *,
    person: Person,
    token: str | None,
    code: str,
    new_recovery_codes: Sequence[str],
    now: datetime,
) -> None:
    """Turn the second factor on with the first code of the app. All sign-ins except that of ``token`` end.

    Only hashes of the recovery codes are stored.

    Raises:
        Refused: the code is wrong, or the setup is complete or older than an hour.
    """
    secret = find_setup_secret(db, person=person, now=now)
    if secret is None:
        raise Refused(_SETUP_EXPIRED)
    step = find_step(secret, code, now=now)
    if step is None or not second_factors.accept_time_step(db, person_id=person.id, step=step):
        raise Refused(_WRONG_CODE)
    if not second_factors.confirm_second_factor(db, person_id=person.id, secret=secret, now=now):
        raise Refused(_SETUP_EXPIRED)
    excepted_hash = token_sha256(token) if token else None
    sign_ins.revoke_sign_ins_of(db, person_id=person.id, now=now, except_token_sha256=excepted_hash)
    _save_recovery_codes(db, person, new_recovery_codes)
    record_action(db, by=person, action="turn on second factor", subject=_audit_subject(person), now=now)


def replace_recovery_codes(
    db: Session, *, person: Person, password: str, new_recovery_codes: Sequence[str], now: datetime
) -> None:
    """Store new recovery codes. The previous codes become invalid.

    Raises:
        Refused: the password is wrong, or the second factor is off.
    """
    _require_on(db, person)
    require_own_password(db, person=person, password=password)
    _save_recovery_codes(db, person, new_recovery_codes)
    record_action(db, by=person, action="make recovery codes", subject=_audit_subject(person), now=now)


def turn_off_second_factor(
    db: Session, *, person: Person, password: str, policy: SignInPolicy, now: datetime
) -> None:
    """Turn off the second factor of the acting person.

    Raises:
        Refused: the password is wrong, the second factor is off, or the person's role requires it.
    """
    _require_on(db, person)
    if policy.requires_second_factor(person):
        raise Refused("Your role requires a code. For a new phone, ask an admin to reset your app.")
    require_own_password(db, person=person, password=password)
    second_factors.delete_second_factor(db, person_id=person.id)
    record_action(db, by=person, action="turn off second factor", subject=_audit_subject(person), now=now)


def require_own_password(db: Session, *, person: Person, password: str) -> None:
    """Check the person's password before a change to their second factor.

    Raises:
        Refused: the password is wrong.
    """
    if not verify_password(password, people.load_password_hash(db, person_id=person.id)):
        raise Refused("The current password is wrong. Nothing was changed.")


# -------------------------------------------------------------------------------------------- by an admin
def reset_second_factor(db: Session, *, by: Person, name: str, now: datetime) -> Person:
    """Delete a person's authenticator app and recovery codes, and end all their sign-ins.

    Raises:
        NotFound: there is no such person, or they have no second factor.
    """
    require(by, Action.MANAGE_PEOPLE)
    person = load_person_by_name(db, name=name)
    if second_factors.find_second_factor(db, person_id=person.id) is None:
        raise NotFound(f"{person.display_name} has no authenticator app.")
    second_factors.delete_second_factor(db, person_id=person.id)
    sign_ins.revoke_sign_ins_of(db, person_id=person.id, now=now)
    record_action(db, by=by, action="reset second factor", subject=_audit_subject(person), now=now)
    return person


def list_people_with_second_factor(db: Session, *, by: Person) -> frozenset[int]:
    """Return the ids of the people who sign in with a code."""
    require(by, Action.MANAGE_PEOPLE)
    return second_factors.list_confirmed_people(db)


def _check_code(db: Session, *, person: Person, code: str, now: datetime) -> str:
    """Use the code and return the method of sign-in: with an authenticator app or with a recovery code.

    Raises:
        NotSignedIn: the code is wrong or was used before.
    """
    second_factor = second_factors.find_second_factor(db, person_id=person.id)
    step = find_step(second_factor.secret, code, now=now) if second_factor is not None else None
    if step is not None and second_factors.accept_time_step(db, person_id=person.id, step=step):
        return TOTP_SIGN_IN
    recovery_code_sha256 = token_sha256(normalise_recovery_code(code))
    if second_factors.use_recovery_code(db, person_id=person.id, code_sha256=recovery_code_sha256, now=now):
        return RECOVERY_CODE_SIGN_IN
    raise NotSignedIn(_WRONG_CODE)


def _save_recovery_codes(db: Session, person: Person, codes: Sequence[str]) -> None:
    hashes = [token_sha256(normalise_recovery_code(code)) for code in codes]
    second_factors.replace_recovery_codes(db, person_id=person.id, code_sha256s=hashes)


def _is_on(db: Session, person: Person) -> bool:
    second_factor = second_factors.find_second_factor(db, person_id=person.id)
    return second_factor is not None and second_factor.confirmed_at is not None


def _require_on(db: Session, person: Person) -> None:
    if not _is_on(db, person):
        raise Refused("No authenticator app is set up. Reload the page.")


def _audit_subject(person: Person) -> str:
    return f"person {person.id} {person.name}"
