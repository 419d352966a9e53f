"""Sign-ins of people, for the tests of accounts."""

from __future__ import annotations

from datetime import UTC, datetime

from accounts import service as accounts
from domain.people import Person, Role
from storage.unit_of_work import read_only_session, unit_of_work

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
BY = accounts.command_line_person()
PASSWORD = "correct horse battery"


def add_person(engine, name="anna", *roles, password=None, demo=False) -> Person:
    with unit_of_work(engine) as db:
        return accounts.add_person(
            db, by=BY, name=name, display_name=None, roles=roles or [Role.REVIEWER],
            password=password, demo=demo, now=NOON,
        )  # fmt: skip


def start_sign_in(engine, person, *, token="t1", previous_token=None, password=None) -> None:
    with unit_of_work(engine) as db:
        accounts.start_sign_in(
            db, person=person, token=token, previous_token=previous_token, password=password, now=NOON
        )


def find_signed_in_name(engine, token="t1", now=NOON) -> str | None:
    with read_only_session(engine) as db:
        sign_in = accounts.find_valid_sign_in(db, token=token, now=now)
    return sign_in.person.name if sign_in else None
