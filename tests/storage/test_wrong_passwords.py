"""Wrong passwords delay the next attempt, in all processes; nobody is locked out permanently."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from accounts import service as accounts
from accounts.service.attempts import ATTACK_THRESHOLD, COUNT_LIFETIME, FREE_ATTEMPTS
from storage.rows.sign_in_security import WrongPasswordRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.sign_ins import NOON, add_person, start_sign_in


def begin_attempt(engine, *, name="anna", address="192.0.2.1", token=None, now=NOON) -> accounts.Attempt:
    with unit_of_work(engine) as db:
        return accounts.begin_attempt(db, name=name, address=address, token=token, now=now)


def may_try(engine, **options) -> bool:
    try:
        begin_attempt(engine, **options)
    except accounts.TooManyAttempts:
        return False
    return True


def make_wrong_attempts(engine, count: int, **options) -> None:
    """Make ``count`` wrong attempts, each as soon as it is permitted."""
    now = NOON
    for _ in range(count):
        while True:
            try:
                begin_attempt(engine, now=now, **options)
                break
            except accounts.TooManyAttempts:
                now += timedelta(seconds=1)


def test_first_five_attempts_do_not_wait(engine):
    for _ in range(FREE_ATTEMPTS):
        begin_attempt(engine)
    with pytest.raises(accounts.TooManyAttempts, match="Try again in"):
        begin_attempt(engine)


def measure_wait(engine, count: int) -> int:
    """Return the seconds to wait after ``count`` wrong attempts, all at noon."""
    with unit_of_work(engine) as db:
        db.execute(WrongPasswordRow.__table__.update().values(count=count, last_at=NOON))
    for seconds in range(100):
        try:
            begin_attempt(engine, now=NOON + timedelta(seconds=seconds))
        except accounts.TooManyAttempts:
            continue
        return seconds
    raise AssertionError("locked out")


@pytest.mark.parametrize(("count", "seconds"), [(4, 0), (5, 2), (6, 4), (7, 8), (9, 32), (10, 60), (500, 60)])
def test_wait_doubles_from_the_fifth_attempt_up_to_a_minute(sqlite_engine, count, seconds):
    begin_attempt(sqlite_engine)
    assert measure_wait(sqlite_engine, count) == seconds


def test_other_spelling_of_the_name_counts_as_the_same_name(sqlite_engine):
    make_wrong_attempts(sqlite_engine, FREE_ATTEMPTS)
    with pytest.raises(accounts.TooManyAttempts):
        begin_attempt(sqlite_engine, name=" Anna ")


def test_other_people_and_other_addresses_do_not_wait(sqlite_engine):
    make_wrong_attempts(sqlite_engine, FREE_ATTEMPTS)
    assert not may_try(sqlite_engine)
    assert may_try(sqlite_engine, name="bert")
    assert may_try(sqlite_engine, address="192.0.2.2")


def test_right_password_clears_the_count(engine):
    for _ in range(FREE_ATTEMPTS):
        last_attempt = begin_attempt(engine)
    assert not may_try(engine)
    with unit_of_work(engine) as db:
        accounts.clear_attempt(db, attempt=last_attempt)
    assert may_try(engine)


def test_after_guesses_from_many_addresses_a_new_address_has_one_free_attempt(sqlite_engine):
    for number in range(ATTACK_THRESHOLD):
        begin_attempt(sqlite_engine, address=f"192.0.2.{number}")
    begin_attempt(sqlite_engine, address="198.51.100.1")
    with pytest.raises(accounts.TooManyAttempts):
        begin_attempt(sqlite_engine, address="198.51.100.1")


def test_known_browser_does_not_wait_for_guesses_from_elsewhere(engine):
    start_sign_in(engine, add_person(engine), token="of-her-browser")
    with unit_of_work(engine) as db:
        accounts.sign_out(db, token="of-her-browser", now=NOON)
    for number in range(ATTACK_THRESHOLD):
        begin_attempt(engine, address=f"192.0.2.{number}")
    assert may_try(engine, address="198.51.100.1")
    assert not may_try(engine, address="198.51.100.1")
    assert may_try(engine, address="198.51.100.1", token="of-her-browser")


def test_browser_of_another_person_does_not_avoid_the_wait(sqlite_engine):
    start_sign_in(sqlite_engine, add_person(sqlite_engine, "eve"), token="of-eve")
    make_wrong_attempts(sqlite_engine, FREE_ATTEMPTS)
    with pytest.raises(accounts.TooManyAttempts):
        begin_attempt(sqlite_engine, token="of-eve")


@pytest.mark.slow
def test_only_five_of_a_hundred_concurrent_guesses_are_allowed(engine):
    """Two processes are two connections to the database; both count in the same row."""
    allowed = []

    def guess() -> None:
        with suppress(accounts.TooManyAttempts):
            allowed.append(begin_attempt(engine))

    guesses = [threading.Thread(target=guess) for _ in range(100)]
    for thread in guesses:
        thread.start()
    for thread in guesses:
        thread.join()
    assert len(allowed) == FREE_ATTEMPTS


def test_count_expires_and_its_row_is_deleted(engine):
    for number in range(FREE_ATTEMPTS):
        begin_attempt(engine, address=f"192.0.2.{number}")
    begin_attempt(engine, name="bert", now=NOON + COUNT_LIFETIME + timedelta(seconds=1))
    with read_only_session(engine) as db:
        assert db.execute(select(func.count()).select_from(WrongPasswordRow)).scalar_one() == 4


def test_typed_name_is_stored_as_hash_only(engine):
    begin_attempt(engine, name="my secret password")
    with read_only_session(engine) as db:
        stored_names = db.execute(select(WrongPasswordRow.counted_for)).scalars().all()
    assert all(len(stored_name) == 64 and "secret" not in stored_name for stored_name in stored_names)
