"""Storage of people, their roles and password hashes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Executable, delete, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.errors import AlreadyThere, NotFound
from domain.people import Person, Role
from storage.rows.people import PersonRoleRow, PersonRow


def insert_person(
    db: Session,
    *,
    name: str,
    display_name: str,
    roles: frozenset[Role],
    password_hash: str | None,
    demo: bool,
    now: datetime,
) -> Person:
    """Create an account with its roles.

    Raises:
        AlreadyThere: the name is taken.
    """
    row = PersonRow(
        name=name, display_name=display_name, password_hash=password_hash, demo=demo, created_at=now
    )
    try:
        with db.begin_nested():  # a savepoint: a duplicate name must not undo the caller's other work
            db.add(row)
            db.flush()
    except IntegrityError as error:
        raise AlreadyThere(f"The sign-in name {name!r} is already in use. Choose another one.") from error
    _insert_roles(db, person_id=_require_id(row), roles=roles)
    return _person_from_row(row, roles)


def load_person(db: Session, *, person_id: int) -> Person:
    """Return the person with that id.

    Raises:
        NotFound: no person has that id.
    """
    row = db.get(PersonRow, person_id)
    if row is None:
        raise NotFound(f"There is no person number {person_id}.")
    return _people_from_rows(db, [row])[0]


def lock_person_and_admins(db: Session, *, person_id: int) -> None:
    """Lock the rows of a person and of all admins until the transaction ends.

    Two transactions that each remove one of the last two admins then run one after the other. The rows
    are locked in the order of their ids, which prevents deadlocks.
    """
    admin_ids = select(PersonRoleRow.person_id).where(PersonRoleRow.role == Role.ADMIN.value)
    is_person_or_admin = or_(PersonRow.id == person_id, PersonRow.id.in_(admin_ids))
    db.execute(select(PersonRow.id).where(is_person_or_admin).order_by(PersonRow.id).with_for_update()).all()


def find_person(db: Session, *, name: str) -> Person | None:
    """Return the person with that sign-in name, if there is one."""
    return _find_first(db, select(PersonRow).where(PersonRow.name == name))


def find_person_by_subject(db: Session, *, subject: str) -> Person | None:
    """Return the person with that subject at the OIDC provider, if there is one."""
    return _find_first(db, select(PersonRow).where(PersonRow.oidc_subject == subject))


def list_people(db: Session) -> list[Person]:
    """Return all people, including disabled ones, ordered by name."""
    return _people_from_rows(db, db.execute(select(PersonRow).order_by(PersonRow.name)).scalars().all())


def count_people(db: Session) -> int:
    return int(db.execute(select(func.count()).select_from(PersonRow)).scalar_one())


def load_password_hash(db: Session, *, person_id: int) -> str | None:
    """Return the person's argon2 hash; None if the person has no password."""
    return _load_row(db, person_id).password_hash


def set_password_hash(db: Session, *, person_id: int, password_hash: str) -> None:
    _load_row(db, person_id).password_hash = password_hash
    db.flush()


def clear_demo_flag(db: Session, *, person_id: int) -> None:
    """Mark the account as no longer a demo account."""
    _load_row(db, person_id).demo = False
    db.flush()


def set_oidc_subject(db: Session, *, person_id: int, subject: str) -> None:
    _load_row(db, person_id).oidc_subject = subject
    db.flush()


def load_oidc_subject(db: Session, *, person_id: int) -> str | None:
    return _load_row(db, person_id).oidc_subject


def set_disabled_at(db: Session, *, person_id: int, disabled_at: datetime | None) -> None:
    _load_row(db, person_id).disabled_at = disabled_at
    db.flush()


def replace_roles(db: Session, *, person_id: int, roles: frozenset[Role]) -> None:
    """Replace all roles of the person with these."""
    db.execute(delete(PersonRoleRow).where(PersonRoleRow.person_id == person_id))
    _insert_roles(db, person_id=person_id, roles=roles)


def _insert_roles(db: Session, *, person_id: int, roles: frozenset[Role]) -> None:
    db.add_all(PersonRoleRow(person_id=person_id, role=role.value) for role in sorted(roles))
    db.flush()


def _load_row(db: Session, person_id: int) -> PersonRow:
    row = db.get(PersonRow, person_id)
    if row is None:
        raise NotFound(f"There is no person number {person_id}.")
    return row


def _find_first(db: Session, statement: Executable) -> Person | None:
    row = db.execute(statement).scalars().first()
    return _people_from_rows(db, [row])[0] if row else None


def _people_from_rows(db: Session, rows: Iterable[PersonRow]) -> list[Person]:
    rows = list(rows)
    person_ids = [_require_id(row) for row in rows]
    roles_by_person: dict[int, set[Role]] = {person_id: set() for person_id in person_ids}
    statement = select(PersonRoleRow)
    if len(person_ids) < 500:  # below SQLite's limit of bound parameters; a longer list has nearly everyone
        statement = statement.where(PersonRoleRow.person_id.in_(person_ids))
    for row in db.execute(statement).scalars():
        if row.person_id in roles_by_person:
            roles_by_person[row.person_id].add(Role(row.role))
    return [_person_from_row(row, frozenset(roles_by_person[_require_id(row)])) for row in rows]


def _person_from_row(row: PersonRow, roles: frozenset[Role]) -> Person:
    return Person(
        id=_require_id(row),
        name=row.name,
        display_name=row.display_name,
        roles=roles,
        demo=row.demo,
        disabled_at=row.disabled_at,
    )


def _require_id(row: PersonRow) -> int:
    if row.id is None:
        raise ValueError("the person has not been flushed")
    return row.id
