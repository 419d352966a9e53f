"""Budgets of wrong passwords per address and overall; they never lock a person out at a new address."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from accounts import service as accounts
from accounts.service.attempts import (
    ADDRESS_BUDGET,
    ATTACK_THRESHOLD,
    COUNT_LIFETIME,
    FREE_ATTEMPTS,
    OVERALL_BUDGET,
)
from storage.unit_of_work import unit_of_work
from tests.storage.sign_ins import NOON, add_person, start_sign_in

pytestmark = pytest.mark.database

GUESSER, NEW_ADDRESS = "203.0.113.9", "198.51.100.1"


def attempt(engine, name, address, *, token=None, now=NOON) -> accounts.Attempt:
    with unit_of_work(engine) as db:
        return accounts.begin_attempt(db, name=name, address=address, token=token, now=now)


def succeed(engine, name, address, *, now=NOON) -> None:
    new_attempt = attempt(engine, name, address, now=now)
    with unit_of_work(engine) as db:
        accounts.clear_attempt(db, attempt=new_attempt)


def may_try(engine, name, address, **options) -> bool:
    try:
        attempt(engine, name, address, **options)
    except accounts.TooManyAttempts:
        return False
    return True


def test_an_address_that_tries_25_names_is_refused_after_its_budget(engine):
    allowed = [may_try(engine, f"person{number}", GUESSER) for number in range(25)]
    assert allowed == [True] * ADDRESS_BUDGET.size + [False] * 5


def test_an_address_with_a_spent_budget_gets_one_attempt_per_interval(sqlite_engine):
    for number in range(ADDRESS_BUDGET.size):
        attempt(sqlite_engine, f"person{number}", GUESSER)
    with pytest.raises(accounts.TooManyAttempts, match="your network address"):
        attempt(sqlite_engine, "next", GUESSER)
    later = NOON + ADDRESS_BUDGET.interval
    assert may_try(sqlite_engine, "next", GUESSER, now=later)
    assert not may_try(sqlite_engine, "another", GUESSER, now=later)


@pytest.mark.slow
def test_correct_passwords_do_not_reduce_the_budget_of_a_shared_address(sqlite_engine):
    for number in range(10 * ADDRESS_BUDGET.size):
        succeed(sqlite_engine, f"person{number}", GUESSER)
    assert may_try(sqlite_engine, "anna", GUESSER)


def test_one_right_password_does_not_restore_the_whole_budget(sqlite_engine):
    for number in range(ADDRESS_BUDGET.size - 1):
        attempt(sqlite_engine, f"person{number}", GUESSER)
    succeed(sqlite_engine, "eve", GUESSER)
    assert may_try(sqlite_engine, "anna", GUESSER)
    assert not may_try(sqlite_engine, "bert", GUESSER)


@pytest.mark.slow
def test_a_person_at_a_new_address_may_try_while_many_addresses_try_their_name(engine):
    for number in range(3 * ATTACK_THRESHOLD):
        attempt(engine, "anna", f"192.0.2.{number}")
    assert may_try(engine, "anna", NEW_ADDRESS)


@pytest.mark.slow
def test_a_person_at_a_new_address_may_try_while_the_overall_budget_is_spent(engine):
    for number in range(OVERALL_BUDGET.size + 50):
        attempt(engine, f"person{number}", f"192.0.2.{number}")
    assert may_try(engine, "anna", NEW_ADDRESS)


@pytest.mark.slow
def test_a_spent_overall_budget_leaves_each_address_one_free_attempt_at_a_name(sqlite_engine):
    for number in range(OVERALL_BUDGET.size):
        attempt(sqlite_engine, f"person{number}", f"192.0.2.{number}")
    assert may_try(sqlite_engine, "anna", NEW_ADDRESS)
    assert not may_try(sqlite_engine, "anna", NEW_ADDRESS)
    quiet = NOON + 2 * FREE_ATTEMPTS * OVERALL_BUDGET.interval
    assert all(may_try(sqlite_engine, "bert", NEW_ADDRESS, now=quiet) for _ in range(FREE_ATTEMPTS))


def test_a_known_browser_does_not_use_the_budget_of_its_address(engine):
    start_sign_in(engine, add_person(engine), token="of-her-browser")
    for number in range(ADDRESS_BUDGET.size):
        attempt(engine, f"person{number}", GUESSER)
    assert not may_try(engine, "anna", GUESSER)
    assert may_try(engine, "anna", GUESSER, token="of-her-browser")


def test_addresses_of_one_ipv6_network_share_a_budget(sqlite_engine):
    allowed = [may_try(sqlite_engine, f"person{number}", f"2001:db8::{number:x}") for number in range(25)]
    assert allowed.count(True) == ADDRESS_BUDGET.size
    assert may_try(sqlite_engine, "anna", "2001:db8:0:1::1")


def test_an_ipv4_address_written_as_ipv6_is_the_same_address(sqlite_engine):
    for number in range(ADDRESS_BUDGET.size):
        attempt(sqlite_engine, f"person{number}", GUESSER)
    assert not may_try(sqlite_engine, "anna", f"::ffff:{GUESSER}")


def test_concurrent_attempts_after_a_quiet_hour_do_not_deadlock(engine):
    """Old counts are deleted in the same transaction; both databases must let everybody through."""
    names = [f"person{number}" for number in range(8)]
    for name in names:
        attempt(engine, name, NEW_ADDRESS)
    later = NOON + COUNT_LIFETIME + timedelta(minutes=5)
    errors: list[Exception] = []

    def guess(name: str) -> None:
        try:
            succeed(engine, name, NEW_ADDRESS, now=later)
        except Exception as error:  # noqa: BLE001 - all errors are collected and asserted below
            errors.append(error)

    threads = [threading.Thread(target=guess, args=(name,)) for name in names * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_person_with_too_many_wrong_codes_must_wait(engine):
    def try_code() -> None:
        with unit_of_work(engine) as db:
            accounts.begin_code_attempt(db, person_id=7, now=NOON)

    for _ in range(FREE_ATTEMPTS):
        try_code()
    with pytest.raises(accounts.TooManyAttempts, match="Too many wrong codes"):
        try_code()
