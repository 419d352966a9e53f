"""The first admin, on both databases: a code that works once, for an hour, while there is no admin."""

from __future__ import annotations

from datetime import timedelta

import pytest

from accounts import service as accounts
from domain.errors import InvalidValue, NotSignedIn, Refused
from domain.people import Role
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.signing_in import BY, NOON, PASSWORD, add

CODE = "ABCDE-FGHJK-LMNPQ"


def make(engine, code=CODE, now=NOON) -> None:
    with unit_of_work(engine) as db:
        accounts.create_first_admin_code(db, by=BY, code=code, now=now)


def become(engine, code=CODE, *, name="ada", password=PASSWORD, now=NOON):
    with unit_of_work(engine) as db:
        return accounts.become_first_admin(
            db, code=code, name=name, display_name="", password=password, now=now
        )


def test_the_code_makes_an_admin_with_that_password(engine):
    make(engine)
    assert become(engine, "abcde fghjk lmnpq").roles == {Role.ADMIN}
    with read_only_session(engine) as db:
        assert accounts.authenticate(db, name="ada", password=PASSWORD).name == "ada"


@pytest.mark.parametrize("code", ["", "ABCDE-FGHJK-LMNPR", "-"])
def test_another_code_makes_nobody(engine, code):
    make(engine)
    with pytest.raises(NotSignedIn, match="does not hold"):
        become(engine, code)


def test_it_holds_for_an_hour(engine):
    make(engine)
    with pytest.raises(NotSignedIn, match="older than an hour"):
        become(engine, now=NOON + accounts.CODE_LIFETIME)
    become(engine, now=NOON + accounts.CODE_LIFETIME - timedelta(seconds=1))


def test_a_new_code_ends_the_one_before(engine):
    make(engine)
    make(engine, "ANOTHER-ONE")
    with pytest.raises(NotSignedIn):
        become(engine)
    become(engine, "ANOTHER-ONE")


def test_a_password_that_will_not_do_does_not_use_it_up(engine):
    make(engine)
    with pytest.raises(InvalidValue, match="at least 10 characters"):
        become(engine, password="short")
    become(engine)


def test_where_there_is_an_admin_no_code_is_made_and_none_holds(engine):
    make(engine)
    add(engine, "anna", Role.ADMIN)
    with pytest.raises(Refused, match="There is an admin already"):
        make(engine)
    with pytest.raises(Refused, match="There is an admin already"):
        become(engine)


def test_other_people_may_be_there_already(engine):
    add(engine, "rosa", Role.REVIEWER)
    make(engine)
    assert become(engine).name == "ada"
