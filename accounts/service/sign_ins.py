"""Services for a person's own sign-ins and password: list and end sign-ins, change the password."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.passwords import check_password_rules, hash_password, verify_password
from accounts.service.audit import record_action
from accounts.service.people import load_person_by_name
from accounts.service.sign_in_lifecycle import DEFAULT_POLICY, SignInPolicy
from accounts.tokens import token_sha256
from domain.errors import NotFound, Refused
from domain.people import Action, Person, require
from storage.accounts import people, sign_ins

_PREFIX_LENGTH = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSignIn:
    """A valid sign-in as shown to its owner; ``token_prefix`` identifies it."""

    token_prefix: str
    browser: str
    method: str
    signed_in_at: datetime
    last_seen_at: datetime
    is_this_browser: bool


def list_own_sign_ins(
    db: Session,
    *,
    person: Person,
    token: str | None,
    now: datetime,
    policy: SignInPolicy = DEFAULT_POLICY,
) -> list[OwnSignIn]:
    """Return the person's own valid sign-ins, the last used first. ``token`` is the token of this browser."""
    this_browser_hash = token_sha256(token) if token else ""
    return [
        OwnSignIn(
            token_prefix=sign_in.token_sha256[:_PREFIX_LENGTH],
            browser=sign_in.browser,
            method=sign_in.way,
            signed_in_at=sign_in.signed_in_at,
            last_seen_at=sign_in.last_seen_at,
            is_this_browser=sign_in.token_sha256 == this_browser_hash,
        )
        for sign_in in sign_ins.list_unrevoked_sign_ins(db, person_id=person.id)
        if policy.allows(sign_in, person, now=now)
    ]


def end_own_sign_in(db: Session, *, person: Person, token_prefix: str, now: datetime) -> None:
    """End one of the person's own sign-ins.

    Raises:
        NotFound: the person has no such sign-in, or it has ended.
    """
    for sign_in in sign_ins.list_unrevoked_sign_ins(db, person_id=person.id):
        if sign_in.token_sha256[:_PREFIX_LENGTH] == token_prefix:
            sign_ins.revoke_sign_in(db, token_sha256=sign_in.token_sha256, now=now)
            record_action(
                db, by=person, action="sign out elsewhere", subject=f"person {person.id} {person.name}",
                old=sign_in.browser, now=now,
            )  # fmt: skip
            return
    raise NotFound("This sign-in has already ended.")


def sign_out_everywhere(db: Session, *, person: Person, except_token: str | None, now: datetime) -> int:
    """End all of the person's own sign-ins except that of the token ``except_token``.

    Returns:
        The number of sign-ins ended.
    """
    excepted_hash = token_sha256(except_token) if except_token else None
    ended_count = sign_ins.revoke_sign_ins_of(
        db, person_id=person.id, now=now, except_token_sha256=excepted_hash
    )
    record_action(
        db,
        by=person,
        action="sign out everywhere",
        subject=f"person {person.id} {person.name}",
        new=ended_count,
        now=now,
    )
    return ended_count


def sign_out_person(db: Session, *, by: Person, name: str, now: datetime) -> int:
    """End all sign-ins of a person. The person can sign in again.

    Returns:
        The number of sign-ins ended.

    Raises:
        NotFound: there is no such person.
    """
    require(by, Action.MANAGE_PEOPLE)
    person = load_person_by_name(db, name=name)
    ended_count = sign_ins.revoke_sign_ins_of(db, person_id=person.id, now=now)
    record_action(
        db,
        by=by,
        action="sign out everywhere",
        subject=f"person {person.id} {person.name}",
        new=ended_count,
        now=now,
    )
    return ended_count


def change_own_password(
    db: Session, *, person: Person, token: str | None, current_password: str, new_password: str, now: datetime
) -> None:
    """Change the person's own password. All sign-ins except that of ``token`` end.

    Raises:
        InvalidValue: the new password is not allowed.
        Refused: the current password is wrong, there is none, or the account is a demo account.
    """
    if person.demo:
        raise Refused(
            "Passwords of demo accounts cannot be changed. The sign-in page shows the demo password."
        )
    stored_hash = people.load_password_hash(db, person_id=person.id)
    if stored_hash is None:
        raise Refused("You sign in with a provider. Change your password there.")
    check_password_rules(new_password, name=person.name)
    if not verify_password(current_password, stored_hash):
        raise Refused("The current password is wrong. Nothing was changed.")
    people.set_password_hash(db, person_id=person.id, password_hash=hash_password(new_password))
    excepted_hash = token_sha256(token) if token else None
    sign_ins.revoke_sign_ins_of(db, person_id=person.id, now=now, except_token_sha256=excepted_hash)
    record_action(
        db,
        by=person,
        action="set password",
        subject=f"person {person.id} {person.name}",
        reason="own",
        now=now,
    )


def has_password(db: Session, *, person: Person) -> bool:
    """Return whether the person has a password."""
    return people.load_password_hash(db, person_id=person.id) is not None
