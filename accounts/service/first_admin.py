"""The first administrator: a code from the machine's own command line, used once in the browser."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlmodel import Session

from accounts.service.audit import record
from accounts.service.people import add_person, command_line_person, people_with
from accounts.service.tokens import token_sha256
from domain.errors import NotSignedIn, Refused
from domain.people import Action, Person, Role, require
from storage.accounts import first_admin_codes

#: How long a code holds.
CODE_HOLDS = timedelta(hours=1)


def make_first_admin_code(db: Session, *, by: Person, code: str, now: datetime) -> datetime:
    """Keep the code (its hash only) for an hour; an earlier one does not hold any more. Until when it holds.

    Raises:
        Refused: there is an admin already.
    """
    require(by, Action.MANAGE_PEOPLE)
    _refuse_a_second(db)
    until = now + CODE_HOLDS
    first_admin_codes.replace_code(db, code_sha256=token_sha256(_as_made(code)), expires_at=until, now=now)
    record(db, by=by, what="make first admin's code", subject="people", new=until, now=now)
    return until


def become_first_admin(
    db: Session, *, code: str, name: str, display_name: str, password: str, now: datetime
) -> Person:
    """The first account with the role admin, for whoever has the code; the code is used up.

    Raises:
        NotSignedIn: no such code, or it has expired or been used.
        Refused: there is an admin already.
        InvalidValue, AlreadyThere: name or password won't do; the code still holds.
    """
    _refuse_a_second(db)
    if not first_admin_codes.use_code(db, code_sha256=token_sha256(_as_made(code)), now=now):
        raise NotSignedIn(
            "This code does not hold: mistyped, used, or older than an hour. Make another with "
            "`python cli.py user first-admin`."
        )
    person = add_person(
        db,
        by=command_line_person(),
        name=name,
        display_name=display_name,
        roles=[Role.ADMIN],
        password=password,
        now=now,
    )
    record(db, by=person, what="become first admin", subject=f"person {person.id} {person.name}", now=now)
    return person


def any_admin(db: Session) -> bool:
    """Whether somebody can give accounts and roles."""
    return bool(people_with(db, role=Role.ADMIN))


def _refuse_a_second(db: Session) -> None:
    if any_admin(db):
        raise Refused("There is an admin already, who can add further ones on the page People.")


def _as_made(code: str) -> str:
    """Without the blanks and dashes that make it readable, in capitals."""
    return "".join(sign for sign in code.upper() if sign.isalnum())
