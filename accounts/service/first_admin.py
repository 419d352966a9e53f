"""The first admin account, created in the browser with a code from the command line."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlmodel import Session

from accounts.service.audit import record_action
from accounts.service.people import add_person, command_line_person, list_people_with_role
from accounts.tokens import token_sha256
from domain.errors import NotSignedIn, Refused
from domain.people import Action, Person, Role, require
from storage.accounts import first_admin_codes

#: The time for which a code is valid.
CODE_LIFETIME = timedelta(hours=1)


def create_first_admin_code(db: Session, *, by: Person, code: str, now: datetime) -> datetime:
    """Store the hash of a code that is valid for an hour. An earlier code becomes invalid.

    Returns:
        The time at which the code expires.

    Raises:
        Refused: there is an admin already.
    """
    require(by, Action.MANAGE_PEOPLE)
    _refuse_second_admin(db)
    expires_at = now + CODE_LIFETIME
    first_admin_codes.replace_code(
        db, code_sha256=token_sha256(_normalise_code(code)), expires_at=expires_at, now=now
    )
    record_action(db, by=by, action="make first admin's code", subject="people", new=expires_at, now=now)
    return expires_at


def become_first_admin(
    db: Session, *, code: str, name: str, display_name: str, password: str, now: datetime
) -> Person:
    """Create the first admin account for a person who has the code. A code can be used once.

    Raises:
        NotSignedIn: the code does not exist, has expired or has been used.
        Refused: there is an admin already.
        InvalidValue: name or password is not allowed; the code stays valid after the rollback.
        AlreadyThere: the name is already in use; the code stays valid after the rollback.
    """
    _refuse_second_admin(db)
    if not first_admin_codes.use_code(db, code_sha256=token_sha256(_normalise_code(code)), now=now):
        raise NotSignedIn(
            "This code is wrong, already used or older than an hour. Create another with `python cli.py user "
            "first-admin`."
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
    record_action(
        db, by=person, action="become first admin", subject=f"person {person.id} {person.name}", now=now
    )
    return person


def has_admin(db: Session) -> bool:
    """Return whether there is an enabled account with the role admin."""
    return bool(list_people_with_role(db, role=Role.ADMIN))


def _refuse_second_admin(db: Session) -> None:
    if has_admin(db):
        raise Refused("There is already an admin, who can add other admins on the page People.")


def _normalise_code(code: str) -> str:
    """Return the code without spaces and dashes, in upper case."""
    return "".join(character for character in code.upper() if character.isalnum())
