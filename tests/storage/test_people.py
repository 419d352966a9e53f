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
from tests.storage.sign_ins import BY, NOON, PASSWORD, add_person, find_signed_in_name, start_sign_in
from tests.storage.test_verdicts_races import run_concurrently


# ------------------------------------------------------------------------------------------------ accounts
def test_added_person_is_loaded_unchanged(engine):
    added = add_person(engine, "anna", Role.REVIEWER, Role.ADMIN)
    with read_only_session(engine) as db:
        assert accounts.load_person_by_name(db, name="Anna ") == added
    assert added.roles == {Role.REVIEWER, Role.ADMIN}


def test_name_can_be_used_only_once(engine):
    add_person(engine)
    with pytest.raises(AlreadyThere, match="sign-in name 'anna' is already in use"):
        add_person(engine)


def test_unknown_name_is_refused_with_the_command_to_list_people(engine):
    with read_only_session(engine) as db, pytest.raises(NotFound, match="user list"):
        accounts.load_person_by_name(db, name="bert")


def test_person_without_a_role_is_refused(engine):
    with unit_of_work(engine) as db, pytest.raises(InvalidValue, match="at least one of"):
        accounts.add_person(db, by=BY, name="anna", display_name=None, roles=[], password=None, now=NOON)


def test_people_of_a_role_exclude_disabled_accounts(engine):
    add_person(engine, "anna")
    add_person(engine, "bert")
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna", now=NOON)
        assert [person.name for person in accounts.list_people_with_role(db, role=Role.REVIEWER)] == ["bert"]


def test_roles_are_replaced(engine):
    add_person(engine, "anna", Role.REVIEWER)
    with unit_of_work(engine) as db:
        changed = accounts.change_roles(db, by=BY, name="anna", roles=[Role.COORDINATOR], now=NOON)
    assert changed.roles == {Role.COORDINATOR}


def test_the_error_for_a_stale_change_of_roles_names_both_versions(engine):
    add_person(engine, "anna", Role.REVIEWER)
    change_roles = partial(
        accounts.change_roles, by=BY, name="anna", expected_roles=[Role.REVIEWER], now=NOON
    )
    with unit_of_work(engine) as db:
        change_roles(db, roles=[Role.REVIEWER, Role.READER])
    with (
        unit_of_work(engine) as db,
        pytest.raises(StaleRevision, match=r"are now reader, reviewer; .* save coordinator"),
    ):
        change_roles(db, roles=[Role.COORDINATOR])
    with unit_of_work(engine) as db:
        assert change_roles(db, roles=[Role.READER, Role.REVIEWER]).roles == {Role.READER, Role.REVIEWER}


@pytest.mark.parametrize("what", ["disable", "roles"])
def test_concurrent_removal_of_two_admins_keeps_one_admin(engine, what):
    remove = {
        "disable": partial(accounts.disable_person, now=NOON),
        "roles": partial(accounts.change_roles, roles=[Role.REVIEWER], now=NOON),
    }[what]
    for name in ("anna", "bert"):
        add_person(engine, name, Role.ADMIN)

    def remove_admin(name):
        with unit_of_work(engine) as db:
            remove(db, by=BY, name=name)
            sleep(0.3)  # gives the other transaction time to check, unless a lock makes it wait

    assert sorted(
        map(type, run_concurrently(partial(remove_admin, "anna"), partial(remove_admin, "bert"))), key=str
    ) == [
        type(None),
        Refused,
    ]
    with read_only_session(engine) as db:
        assert len(accounts.list_people_with_role(db, role=Role.ADMIN)) == 1


@pytest.mark.parametrize("what", ["disable", "roles"])
def test_last_admin_cannot_be_removed(engine, what):
    add_person(engine, "anna", Role.ADMIN)
    removals = {
        "disable": partial(accounts.disable_person, now=NOON),
        "roles": partial(accounts.change_roles, roles=[Role.REVIEWER], now=NOON),
    }
    with unit_of_work(engine) as db, pytest.raises(Refused, match="the only admin"):
        removals[what](db, by=BY, name="anna")


def test_admin_can_be_disabled_while_another_exists(engine):
    add_person(engine, "anna", Role.ADMIN)
    add_person(engine, "bert", Role.ADMIN)
    with unit_of_work(engine) as db:
        assert accounts.disable_person(db, by=BY, name="anna", now=NOON).disabled_at == NOON


@pytest.mark.parametrize("role", [Role.COORDINATOR, Role.REVIEWER, Role.READER])
def test_only_an_admin_manages_people(engine, role):
    by = add_person(engine, "anna", role)
    with unit_of_work(engine) as db:
        for request in (
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
                request()


# ----------------------------------------------------------------------------------------------- passwords
def test_matching_name_and_password_authenticate(engine):
    add_person(engine, password=PASSWORD)
    with read_only_session(engine) as db:
        assert accounts.authenticate(db, name="Anna", password=PASSWORD).name == "anna"


@pytest.mark.parametrize(
    ("name", "password"), [("anna", "wrong"), ("nobody", PASSWORD), ("anna", ""), ("", "")]
)
def test_wrong_name_and_wrong_password_get_the_same_answer(engine, name, password):
    add_person(engine, password=PASSWORD)
    with read_only_session(engine) as db, pytest.raises(NotSignedIn, match="name or password is wrong"):
        accounts.authenticate(db, name=name, password=password)


def test_account_without_a_password_cannot_authenticate(engine):
    add_person(engine)
    with read_only_session(engine) as db, pytest.raises(NotSignedIn, match="name or password is wrong"):
        accounts.authenticate(db, name="anna", password="nobody has this password")


def test_disabled_account_is_revealed_only_with_its_password(engine):
    add_person(engine, password=PASSWORD)
    with unit_of_work(engine) as db:
        accounts.disable_person(db, by=BY, name="anna", now=NOON)
    with read_only_session(engine) as db:
        with pytest.raises(NotSignedIn, match="is disabled"):
            accounts.authenticate(db, name="anna", password=PASSWORD)
        with pytest.raises(NotSignedIn, match="name or password is wrong"):
            accounts.authenticate(db, name="anna", password="wrong")


def test_cheap_password_hash_is_replaced_at_sign_in(sqlite_engine):
    anna = add_person(sqlite_engine)
    cheap_hash = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    with unit_of_work(sqlite_engine) as db:
        people.set_password_hash(db, person_id=anna.id, password_hash=cheap_hash)
    start_sign_in(sqlite_engine, anna, password=PASSWORD)
    with read_only_session(sqlite_engine) as db:
        assert people.load_password_hash(db, person_id=anna.id) != cheap_hash
        assert accounts.authenticate(db, name="anna", password=PASSWORD) == anna


def test_new_password_revokes_all_sign_ins(engine):
    start_sign_in(engine, add_person(engine, password=PASSWORD))
    with unit_of_work(engine) as db:
        accounts.set_password(db, by=BY, name="anna", password="another one, please", now=NOON)
    assert find_signed_in_name(engine) is None


def test_demo_people_have_the_published_password(engine):
    add_person(engine, demo=True)
    with read_only_session(engine) as db:
        assert accounts.authenticate(db, name="anna", password=accounts.DEMO_PASSWORD).demo


def test_demo_account_that_gets_its_own_password_stops_being_a_demo_account(engine):
    add_person(engine, demo=True)
    with unit_of_work(engine) as db:
        assert not accounts.set_password(db, by=BY, name="anna", password=PASSWORD, now=NOON).demo
        assert accounts.list_demo_people(db) == []
