"""Accounts and passwords, on both databases."""

from functools import partial
from time import sleep

import pytest
from argon2 import PasswordHasher

from accounts import service as accounts
from domain.errors import (
    AlreadyThere,
    InvalidValue,
    NotAllowed,
    NotFound,
    NotSignedIn,
    Refused,
    StaleRevision,
)
from domain.people import Role
from storage.accounts import people
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.signing_in import BY, NOON, PASSWORD, add, begin, who
from tests.storage.test_verdicts_races import at_once


# ------------------------------------------------------------------------------------------------ accounts
def test_a_person_comes_back_as_it_went_in(engine):
    added = add(engine, "anna", Role.REVIEWER, Role.ADMIN)
    with read_only_session(engine) as db:
        assert accounts.load_person_by_name(db, name="Anna ") == added
    assert added.roles == {Role.REVIEWER, Role.ADMIN}


def test_a_name_is_taken_once(engine):
    add(engine)
    with pytest.raises(AlreadyThere, match="Somebody is called 'anna' already"):
        add(engine)


def test_nobody_of_that_name_says_how_to_see_who_is_there(engine):
    with read_only_session(engine) as db, pytest.raises(NotFound, match="user list"):
        accounts.load_person_by_name(db, name="bert")


def test_a_person_without_a_role_is_refused(engine):
    with unit_of_work(engine) as db, pytest.raises(InvalidValue, match="at least one of"):
        accounts.add_person(db, by=BY, name="anna", display_name=None, roles=[], password=None, now=NOON)


def test_the_people_of_a_role_leave_disabled_ones_out(engine):
    add(engine, "anna")
    add(engine, "bert")
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna", now=NOON)
        assert [each.name for each in accounts.list_people_with_role(db, role=Role.REVIEWER)] == ["bert"]


def test_roles_are_replaced(engine):
    add(engine, "anna", Role.REVIEWER)
    with unit_of_work(engine) as db:
        changed = accounts.change_roles(db, by=BY, name="anna", roles=[Role.COORDINATOR], now=NOON)
    assert changed.roles == {Role.COORDINATOR}


def test_roles_that_somebody_changed_since_are_refused_with_both_named(engine):
    add(engine, "anna", Role.REVIEWER)
    change = partial(accounts.change_roles, by=BY, name="anna", expected_roles=[Role.REVIEWER], now=NOON)
    with unit_of_work(engine) as db:
        change(db, roles=[Role.REVIEWER, Role.READER])
    with (
        unit_of_work(engine) as db,
        pytest.raises(StaleRevision, match=r"are reader, reviewer now; .* save coordinator"),
    ):
        change(db, roles=[Role.COORDINATOR])
    with unit_of_work(engine) as db:
        assert change(db, roles=[Role.READER, Role.REVIEWER]).roles == {Role.READER, Role.REVIEWER}


@pytest.mark.parametrize("what", ["disable", "roles"])
def test_two_admins_who_remove_each_other_at_the_same_moment_leave_one(engine, what):
    remove = {
        "disable": partial(accounts.disable_person, now=NOON),
        "roles": partial(accounts.change_roles, roles=[Role.REVIEWER], now=NOON),
    }[what]
    for name in ("anna", "bert"):
        add(engine, name, Role.ADMIN)

    def without(name):
        with unit_of_work(engine) as db:
            remove(db, by=BY, name=name)
            sleep(0.3)  # gives the other transaction time to check, unless a lock makes it wait

    assert sorted(map(type, at_once(partial(without, "anna"), partial(without, "bert"))), key=str) == [
        type(None), Refused,
    ]  # fmt: skip
    with read_only_session(engine) as db:
        assert len(accounts.list_people_with_role(db, role=Role.ADMIN)) == 1


@pytest.mark.parametrize("what", ["disable", "roles"])
def test_the_last_admin_stays_one(engine, what):
    add(engine, "anna", Role.ADMIN)
    without = {
        "disable": partial(accounts.disable_person, now=NOON),
        "roles": partial(accounts.change_roles, roles=[Role.REVIEWER], now=NOON),
    }
    with unit_of_work(engine) as db, pytest.raises(Refused, match="nobody else is an admin"):
        without[what](db, by=BY, name="anna")


def test_an_admin_who_is_not_the_last_may_go(engine):
    add(engine, "anna", Role.ADMIN)
    add(engine, "bert", Role.ADMIN)
    with unit_of_work(engine) as db:
        assert accounts.disable_person(db, by=BY, name="anna", now=NOON).disabled_at == NOON


@pytest.mark.parametrize("role", [Role.COORDINATOR, Role.REVIEWER, Role.READER])
def test_only_an_admin_manages_people(engine, role):
    by = add(engine, "anna", role)
    with unit_of_work(engine) as db:
        for refused in (
            lambda: accounts.list_people(db, by=by),
            lambda: accounts.disable_person(db, by=by, name="anna", now=NOON),
            lambda: accounts.enable_person(db, by=by, name="anna", now=NOON),
            lambda: accounts.change_roles(db, by=by, name="anna", roles=[Role.ADMIN], now=NOON),
            lambda: accounts.set_password(db, by=by, name="anna", password=PASSWORD, now=NOON),
            lambda: accounts.add_person(
                db, by=by, name="eve", display_name=None, roles=[Role.ADMIN], password=None, now=NOON
            ),
        ):
            with pytest.raises(NotAllowed, match="may not manage people"):
                refused()


# ----------------------------------------------------------------------------------------------- passwords
def test_name_and_password_that_go_together_are_the_persons(engine):
    add(engine, password=PASSWORD)
    with read_only_session(engine) as db:
        assert accounts.authenticate(db, name="Anna", password=PASSWORD).name == "anna"


@pytest.mark.parametrize(
    ("name", "password"), [("anna", "wrong"), ("nobody", PASSWORD), ("anna", ""), ("", "")]
)
def test_wrong_name_and_wrong_password_get_the_same_answer(engine, name, password):
    add(engine, password=PASSWORD)
    with read_only_session(engine) as db, pytest.raises(NotSignedIn, match="do not go together"):
        accounts.authenticate(db, name=name, password=password)


def test_an_account_without_a_password_has_none_that_is_right(engine):
    add(engine)
    with read_only_session(engine) as db, pytest.raises(NotSignedIn, match="do not go together"):
        accounts.authenticate(db, name="anna", password="nobody has this password")


def test_only_the_right_password_tells_that_an_account_is_disabled(engine):
    add(engine, password=PASSWORD)
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna", now=NOON)
    with read_only_session(engine) as db:
        with pytest.raises(NotSignedIn, match="is disabled"):
            accounts.authenticate(db, name="anna", password=PASSWORD)
        with pytest.raises(NotSignedIn, match="do not go together"):
            accounts.authenticate(db, name="anna", password="wrong")


def test_a_password_hashed_at_a_lower_cost_is_hashed_anew_at_sign_in(sqlite_engine):
    anna = add(sqlite_engine)
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    with unit_of_work(sqlite_engine) as db:
        people.set_password_hash(db, person_id=anna.id, password_hash=cheap)
    begin(sqlite_engine, anna, password=PASSWORD)
    with read_only_session(sqlite_engine) as db:
        assert people.load_password_hash(db, person_id=anna.id) != cheap
        assert accounts.authenticate(db, name="anna", password=PASSWORD) == anna


def test_a_new_password_ends_every_sign_in(engine):
    begin(engine, add(engine, password=PASSWORD))
    with unit_of_work(engine) as db:
        accounts.set_password(db, by=BY, name="anna", password="another one, please", now=NOON)
    assert who(engine) is None


def test_demo_people_have_the_published_password(engine):
    add(engine, demo=True)
    with read_only_session(engine) as db:
        assert accounts.authenticate(db, name="anna", password=accounts.DEMO_PASSWORD).demo


def test_a_demo_account_with_a_password_of_its_own_is_none_any_more(engine):
    add(engine, demo=True)
    with unit_of_work(engine) as db:
        assert not accounts.set_password(db, by=BY, name="anna", password=PASSWORD, now=NOON).demo
        assert accounts.list_demo_people(db) == []
