"""Accounts: adding people, changing roles and passwords, disabling accounts."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlmodel import Session

from accounts.passwords import DEMO_PASSWORD, check_password_rules, hash_password
from accounts.service.audit import record_action
from domain.errors import InvalidValue, NotFound, Refused, StaleRevision
from domain.people import Action, Person, Role, normalise_sign_in_name, require
from storage.accounts import people, sign_ins


def command_line_person() -> Person:
    """Return the person for commands on the server: id 0, without an account, with every role."""
    return Person(id=0, name="command-line", display_name="Command line", roles=frozenset(Role))


def has_people(db: Session) -> bool:
    """Return whether there is any account. If not, the sign-in page explains how to create the first one."""
    return people.count_people(db) > 0


def add_person(
    db: Session,
    *,
    by: Person,
    name: str,
    display_name: str | None,
    roles: Iterable[Role],
    password: str | None,
    demo: bool = False,
    now: datetime,
) -> Person:
    """Create an account.

    Args:
        db: a session for writing.
        by: the person who acts.
        name: the sign-in name, in any case.
        display_name: the name that others see; None or empty for the sign-in name.
        roles: the roles; at least one.
        password: the password; None for a person who signs in only with OpenID Connect.
        demo: whether this is a demo account, whose password the sign-in page shows.
        now: the current time.

    Raises:
        InvalidValue: name, display name, password or roles are not allowed.
        AlreadyThere: the name is already in use.
    """
    require(by, Action.MANAGE_PEOPLE)
    name = normalise_sign_in_name(name)
    new_roles = _check_roles(roles)
    if demo:
        password = DEMO_PASSWORD
    if password is not None:
        check_password_rules(password, name=name)
    person = people.insert_person(
        db,
        name=name,
        display_name=_check_display_name(display_name) or name,
        roles=new_roles,
        password_hash=hash_password(password) if password is not None else None,
        demo=demo,
        now=now,
    )
    new = {"name": name, "display_name": person.display_name, "roles": new_roles, "demo": demo}
    record_action(db, by=by, action="add person", subject=_audit_subject(person), new=new, now=now)
    return person


def change_roles(
    db: Session,
    *,
    by: Person,
    name: str,
    roles: Iterable[Role],
    expected_roles: Iterable[Role] | None = None,
    now: datetime,
) -> Person:
    """Replace a person's roles. This takes effect with their next request.

    Locks the rows of the person and of all admins.

    Args:
        db: a session for writing.
        by: the person who acts.
        name: the person's sign-in name.
        roles: the new roles; at least one. Equal roles change nothing.
        expected_roles: the roles that the page showed; None to skip this check.
        now: the current time.

    Raises:
        NotFound: there is no such person.
        InvalidValue: no role was given.
        StaleRevision: the roles have changed since they were shown.
        Refused: the person is the last admin.
    """
    require(by, Action.MANAGE_PEOPLE)
    person = load_person_by_name(db, name=name)
    people.lock_person_and_admins(db, person_id=person.id)
    person = people.load_person(db, person_id=person.id)
    new_roles = _check_roles(roles)
    if new_roles == person.roles:
        return person
    if expected_roles is not None and frozenset(expected_roles) != person.roles:
        raise StaleRevision(
            f"Not saved: the roles of {person.display_name} were changed after this page was loaded. They "
            f"are now {_join_roles(person.roles)}; this page showed {_join_roles(expected_roles)} and would "
            f"save {_join_roles(new_roles)}. Check them and save again."
        )
    if Role.ADMIN not in new_roles:
        _refuse_removing_last_admin(db, person, "take the role admin from")
    people.replace_roles(db, person_id=person.id, roles=new_roles)
    record_action(
        db,
        by=by,
        action="change roles",
        subject=_audit_subject(person),
        old=person.roles,
        new=new_roles,
        now=now,
    )
    return people.load_person(db, person_id=person.id)


def set_password(db: Session, *, by: Person, name: str, password: str, now: datetime) -> Person:
    """Set a person's password and end all their sign-ins.

    A demo account becomes an ordinary account.

    Raises:
        NotFound: there is no such person.
        InvalidValue: the password is not allowed.
    """
    require(by, Action.MANAGE_PEOPLE)
    person = load_person_by_name(db, name=name)
    check_password_rules(password, name=person.name)
    people.set_password_hash(db, person_id=person.id, password_hash=hash_password(password))
    people.clear_demo_flag(db, person_id=person.id)
    sign_ins.revoke_sign_ins_of(db, person_id=person.id, now=now)
    record_action(db, by=by, action="set password", subject=_audit_subject(person), now=now)
    return people.load_person(db, person_id=person.id)


def disable_person(db: Session, *, by: Person, name: str, now: datetime) -> Person:
    """Disable an account and end all its sign-ins. The person's work is kept. Repetition changes nothing.

    Locks the rows of the person and of all admins.

    Raises:
        NotFound: there is no such person.
        Refused: the person is the last admin.
    """
    require(by, Action.MANAGE_PEOPLE)
    person = load_person_by_name(db, name=name)
    people.lock_person_and_admins(db, person_id=person.id)
    person = people.load_person(db, person_id=person.id)
    if person.disabled_at is not None:
        return person
    _refuse_removing_last_admin(db, person, "disable")
    people.set_disabled_at(db, person_id=person.id, disabled_at=now)
    sign_ins.revoke_sign_ins_of(db, person_id=person.id, now=now)
    record_action(db, by=by, action="disable person", subject=_audit_subject(person), now=now)
    return people.load_person(db, person_id=person.id)


def enable_person(db: Session, *, by: Person, name: str, now: datetime) -> Person:
    """Enable a disabled account. An enabled account is not changed.

    Raises:
        NotFound: there is no such person.
    """
    require(by, Action.MANAGE_PEOPLE)
    person = load_person_by_name(db, name=name)
    if person.disabled_at is None:
        return person
    people.set_disabled_at(db, person_id=person.id, disabled_at=None)
    record_action(db, by=by, action="enable person", subject=_audit_subject(person), now=now)
    return people.load_person(db, person_id=person.id)


def list_people(db: Session, *, by: Person) -> list[Person]:
    """Return all people, sorted by name."""
    require(by, Action.MANAGE_PEOPLE)
    return people.list_people(db)


def load_person_by_name(db: Session, *, name: str) -> Person:
    """Return the person with a sign-in name, in upper or lower case. Checks no permission.

    Raises:
        NotFound: there is no such person.
    """
    person = people.find_person(db, name=name.strip().lower())
    if person is None:
        raise NotFound(f"There is no account {name!r}. `python cli.py user list` lists all accounts.")
    return person


def list_people_with_role(db: Session, *, role: Role) -> list[Person]:
    """Return all people with a role and an enabled account, sorted by name. Checks no permission."""
    return [
        person for person in people.list_people(db) if role in person.roles and person.disabled_at is None
    ]


def list_demo_people(db: Session) -> list[Person]:
    """Return the demo accounts, which the sign-in page lists; empty if the workspace is not a demo."""
    return [person for person in people.list_people(db) if person.demo and person.disabled_at is None]


def _audit_subject(person: Person) -> str:
    return f"person {person.id} {person.name}"


def _check_roles(roles: Iterable[Role]) -> frozenset[Role]:
    checked_roles = frozenset(Role(role) for role in roles)
    if not checked_roles:
        raise InvalidValue("roles", f"choose at least one of {', '.join(Role)}")
    return checked_roles


def _join_roles(roles: Iterable[Role]) -> str:
    return ", ".join(sorted(roles)) or "none"


def _check_display_name(display_name: str | None) -> str:
    cleaned = " ".join((display_name or "").split())
    if len(cleaned) > 100 or not cleaned.isprintable():
        raise InvalidValue("display name", "must have at most 100 characters and no control characters")
    return cleaned


def is_last_admin(db: Session, person: Person) -> bool:
    """Return whether the person is the only admin with an enabled account. Checks no permission."""
    other_admins = [admin for admin in list_people_with_role(db, role=Role.ADMIN) if admin.id != person.id]
    return Role.ADMIN in person.roles and person.disabled_at is None and not other_admins


def _refuse_removing_last_admin(db: Session, person: Person, action_text: str) -> None:
    if is_last_admin(db, person):
        raise Refused(f"Cannot {action_text} {person.display_name}, the only admin. Add another admin first.")
