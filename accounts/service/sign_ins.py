"""A person's sign-ins: listing them, and ending one or all of them; changing one's own password."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlmodel import Session

from accounts.passwords import check_password_rules, hash_password, matches
from accounts.service.audit import record
from accounts.service.people import person_named
from accounts.service.presence import IDLE_LIMIT, LONGEST, holds
from accounts.tokens import token_sha256
from domain.errors import NotFound, Refused
from domain.people import Action, Person, require
from storage.accounts import people, sign_ins

_MARK_LENGTH = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSignIn:
    """A valid sign-in as shown to its owner; ``mark`` identifies it, ``here``: it is this browser's."""

    mark: str
    browser: str
    way: str
    signed_in_at: datetime
    last_seen_at: datetime
    here: bool


def own_sign_ins(
    db: Session,
    *,
    person: Person,
    token: str | None,
    now: datetime,
    idle: timedelta = IDLE_LIMIT,
    longest: timedelta = LONGEST,
) -> list[OwnSignIn]:
    """The person's own valid sign-ins, the one used last first; ``token`` is that of this browser."""
    here = token_sha256(token) if token else ""
    return [
        OwnSignIn(
            mark=each.token_sha256[:_MARK_LENGTH],
            browser=each.browser,
            way=each.way,
            signed_in_at=each.signed_in_at,
            last_seen_at=each.last_seen_at,
            here=each.token_sha256 == here,
        )
        for each in sign_ins.sign_ins_not_revoked(db, person_id=person.id)
        if holds(each, now=now, idle=idle, longest=longest)
    ]


def end_own_sign_in(db: Session, *, person: Person, mark: str, now: datetime) -> None:
    """End one of the person's own sign-ins.

    Raises:
        NotFound: the person has no such sign-in, or it has ended.
    """
    for each in sign_ins.sign_ins_not_revoked(db, person_id=person.id):
        if each.token_sha256[:_MARK_LENGTH] == mark:
            sign_ins.revoke(db, token_sha256=each.token_sha256, now=now)
            record(
                db, by=person, what="sign out elsewhere", subject=f"person {person.id} {person.name}",
                old=each.browser, now=now,
            )  # fmt: skip
            return
    raise NotFound("That sign-in has ended already.")


def sign_out_everywhere(db: Session, *, person: Person, but: str | None, now: datetime) -> int:
    """End all of the person's own sign-ins except that of the token ``but``.

    Returns:
        The number of sign-ins ended.
    """
    spared = token_sha256(but) if but else None
    ended = sign_ins.revoke_all_of(db, person_id=person.id, now=now, but=spared)
    record(
        db,
        by=person,
        what="sign out everywhere",
        subject=f"person {person.id} {person.name}",
        new=ended,
        now=now,
    )
    return ended


def sign_out_person(db: Session, *, by: Person, name: str, now: datetime) -> int:
    """End all sign-ins of a person, who may sign in again.

    Returns:
        The number of sign-ins ended.

    Raises:
        NotFound: there is no such person.
    """
    require(by, Action.MANAGE_PEOPLE)
    person = person_named(db, name=name)
    ended = sign_ins.revoke_all_of(db, person_id=person.id, now=now)
    record(
        db, by=by, what="sign out everywhere", subject=f"person {person.id} {person.name}", new=ended, now=now
    )
    return ended


def change_own_password(
    db: Session, *, person: Person, token: str | None, current: str, password: str, now: datetime
) -> None:
    """Change one's own password; all sign-ins except that of ``token`` end.

    Raises:
        InvalidValue: the new password is not allowed.
        Refused: the current password is wrong, there is none, or the account is a demo account.
    """
    if person.demo:
        raise Refused("Demo people keep the password that the sign-in page shows.")
    kept = people.password_hash_of(db, person_id=person.id)
    if kept is None:
        raise Refused("You sign in by a provider; your password is kept there.")
    check_password_rules(password, name=person.name)
    if not matches(current, kept):
        raise Refused("The current password is not right. Nothing was changed.")
    people.set_password_hash(db, person_id=person.id, password_hash=hash_password(password))
    spared = token_sha256(token) if token else None
    sign_ins.revoke_all_of(db, person_id=person.id, now=now, but=spared)
    record(
        db, by=person, what="set password", subject=f"person {person.id} {person.name}", why="own", now=now
    )


def has_password(db: Session, *, person: Person) -> bool:
    """Whether the person has a password."""
    return people.password_hash_of(db, person_id=person.id) is not None
