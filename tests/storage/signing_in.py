"""Sign-ins of people, for the tests of accounts."""

from __future__ import annotations

from datetime import UTC, datetime

from accounts import service as accounts
from domain.people import Person, Role
from storage.unit_of_work import read_only_session, unit_of_work

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
BY = accounts.command_line_person()
PASSWORD = "correct horse battery"


def add(engine, name="anna", *roles, password=None, demo=False) -> Person:
    with unit_of_work(engine) as db:
        return accounts.add_person(
            db, by=BY, name=name, display_name=None, roles=roles or [Role.REVIEWER],
            password=password, demo=demo, now=NOON,
        )  # fmt: skip


def begin(engine, person, *, token="t1", replaces=None, password=None) -> None:
    with unit_of_work(engine) as db:
        accounts.start_sign_in(
            db, person=person, token=token, previous_token=replaces, password=password, now=NOON
        )


def who(engine, token="t1", now=NOON) -> str | None:
    with read_only_session(engine) as db:
        live = accounts.find_valid_sign_in(db, token=token, now=now)
    return live.person.name if live else None
