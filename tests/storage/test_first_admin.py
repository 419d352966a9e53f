"""The first admin, on both databases: a code that works once, for an hour, while there is no admin."""

from __future__ import annotations

from datetime import timedelta

import pytest

from accounts import service as accounts
from domain.errors import InvalidValue, NotSignedIn, Refused
from domain.people import Role
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.sign_ins import BY, NOON, PASSWORD, add_person

CODE = "ABCDE-FGHJK-LMNPQ"


def create_code(engine, code=CODE, now=NOON) -> None:
    with unit_of_work(engine) as db:
        accounts.create_first_admin_code(db, by=BY, code=code, now=now)


def become_admin(engine, code=CODE, *, name="ada", password=PASSWORD, now=NOON):
    with unit_of_work(engine) as db:
        return accounts.become_first_admin(
            db, code=code, name=name, display_name="", password=password, now=now
        )


def test_code_creates_an_admin_with_that_password(engine):
    create_code(engine)
    assert become_admin(engine, "abcde fghjk lmnpq").roles == {Role.ADMIN}
    with read_only_session(engine) as db:
        assert accounts.authenticate(db, name="ada", password=PASSWORD).name == "ada"


@pytest.mark.parametrize("code", ["", "ABCDE-FGHJK-LMNPR", "-"])
def test_wrong_code_creates_nobody(engine, code):
    create_code(engine)
    with pytest.raises(NotSignedIn, match="This code is wrong"):
        become_admin(engine, code)


def test_code_is_valid_for_an_hour(engine):
    create_code(engine)
    with pytest.raises(NotSignedIn, match="older than an hour"):
        become_admin(engine, now=NOON + accounts.CODE_LIFETIME)
    become_admin(engine, now=NOON + accounts.CODE_LIFETIME - timedelta(seconds=1))


def test_new_code_revokes_the_previous_one(engine):
    create_code(engine)
    create_code(engine, "ANOTHER-ONE")
    with pytest.raises(NotSignedIn):
        become_admin(engine)
    become_admin(engine, "ANOTHER-ONE")


def test_rejected_password_does_not_use_up_the_code(engine):
    create_code(engine)
    with pytest.raises(InvalidValue, match="at least 10 characters"):
        become_admin(engine, password="short")
    become_admin(engine)


def test_code_is_neither_created_nor_valid_once_an_admin_exists(engine):
    create_code(engine)
    add_person(engine, "anna", Role.ADMIN)
    with pytest.raises(Refused, match="There is already an admin"):
        create_code(engine)
    with pytest.raises(Refused, match="There is already an admin"):
        become_admin(engine)


def test_code_works_while_people_without_the_admin_role_exist(engine):
    add_person(engine, "rosa", Role.REVIEWER)
    create_code(engine)
    assert become_admin(engine).name == "ada"
