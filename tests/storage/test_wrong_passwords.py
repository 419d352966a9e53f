"""Wrong passwords delay the next attempt, in all processes; nobody is locked out permanently."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from accounts import service as accounts
from accounts.service.attempts import COUNT_LIFETIME, FREE_ATTEMPTS, FREE_ATTEMPTS_ANYWHERE
from storage.rows import WrongPasswordRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.signing_in import NOON, add, begin


def attempt(engine, *, name="anna", address="192.0.2.1", token=None, now=NOON) -> accounts.Attempt:
    with unit_of_work(engine) as db:
        return accounts.begin_attempt(db, name=name, address=address, token=token, now=now)


def may_try(engine, **where) -> bool:
    try:
        attempt(engine, **where)
    except accounts.TooManyAttempts:
        return False
    return True


def wrong(engine, times: int, **where) -> None:
    """That many wrong attempts, each as soon as it is permitted."""
    now = NOON
    for _ in range(times):
        while True:
            try:
                attempt(engine, now=now, **where)
                break
            except accounts.TooManyAttempts:
                now += timedelta(seconds=1)


def test_the_first_five_cost_nothing(engine):
    for _ in range(FREE_ATTEMPTS):
        attempt(engine)
    with pytest.raises(accounts.TooManyAttempts, match="Try again in"):
        attempt(engine)


def wait_after(engine, count: int) -> int:
    """Seconds to wait after that many wrong attempts, all at noon."""
    with unit_of_work(engine) as db:
        db.execute(WrongPasswordRow.__table__.update().values(count=count, last_at=NOON))
    for seconds in range(100):
        try:
            attempt(engine, now=NOON + timedelta(seconds=seconds))
        except accounts.TooManyAttempts:
            continue
        return seconds
    raise AssertionError("out for good")


@pytest.mark.parametrize(("count", "seconds"), [(4, 0), (5, 2), (6, 4), (7, 8), (9, 32), (10, 60), (500, 60)])
def test_from_the_fifth_on_the_wait_doubles_up_to_a_minute(sqlite_engine, count, seconds):
    attempt(sqlite_engine)
    assert wait_after(sqlite_engine, count) == seconds


def test_another_spelling_of_the_name_is_the_same_name(sqlite_engine):
    wrong(sqlite_engine, FREE_ATTEMPTS)
    with pytest.raises(accounts.TooManyAttempts):
        attempt(sqlite_engine, name=" Anna ")


def test_other_people_and_other_addresses_do_not_wait(sqlite_engine):
    wrong(sqlite_engine, FREE_ATTEMPTS)
    assert not may_try(sqlite_engine)
    assert may_try(sqlite_engine, name="bert")
    assert may_try(sqlite_engine, address="192.0.2.2")


def test_the_right_password_forgives(engine):
    for _ in range(FREE_ATTEMPTS):
        last = attempt(engine)
    assert not may_try(engine)
    with unit_of_work(engine) as db:
        accounts.clear_attempt(db, attempt=last)
    assert may_try(engine)


def test_after_guesses_from_many_addresses_a_new_address_has_one_free_attempt(sqlite_engine):
    for number in range(FREE_ATTEMPTS_ANYWHERE):
        attempt(sqlite_engine, address=f"192.0.2.{number}")
    attempt(sqlite_engine, address="198.51.100.1")
    with pytest.raises(accounts.TooManyAttempts):
        attempt(sqlite_engine, address="198.51.100.1")


def test_the_owners_own_browser_does_not_wait_for_guesses_from_elsewhere(engine):
    begin(engine, add(engine), token="of-her-browser")
    with unit_of_work(engine) as db:
        accounts.sign_out(db, token="of-her-browser", now=NOON)
    for number in range(FREE_ATTEMPTS_ANYWHERE):
        attempt(engine, address=f"192.0.2.{number}")
    assert may_try(engine, address="198.51.100.1")
    assert not may_try(engine, address="198.51.100.1")
    assert may_try(engine, address="198.51.100.1", token="of-her-browser")


def test_somebody_elses_browser_is_no_way_round(sqlite_engine):
    begin(sqlite_engine, add(sqlite_engine, "eve"), token="of-eve")
    wrong(sqlite_engine, FREE_ATTEMPTS)
    with pytest.raises(accounts.TooManyAttempts):
        attempt(sqlite_engine, token="of-eve")


def test_a_hundred_guesses_at_once_are_let_through_as_five(engine):
    """Two processes are two connections to the database; both count in the same row."""
    let_through = []

    def guess() -> None:
        with suppress(accounts.TooManyAttempts):
            let_through.append(attempt(engine))

    guesses = [threading.Thread(target=guess) for _ in range(100)]
    for each in guesses:
        each.start()
    for each in guesses:
        each.join()
    assert len(let_through) == FREE_ATTEMPTS


def test_an_hour_later_it_is_forgotten_and_takes_no_room(engine):
    for number in range(FREE_ATTEMPTS):
        attempt(engine, address=f"192.0.2.{number}")
    attempt(engine, name="bert", now=NOON + COUNT_LIFETIME + timedelta(seconds=1))
    with read_only_session(engine) as db:
        assert db.execute(select(func.count()).select_from(WrongPasswordRow)).scalar_one() == 4


def test_what_was_typed_as_name_is_not_kept(engine):
    attempt(engine, name="my secret password")
    with read_only_session(engine) as db:
        kept = db.execute(select(WrongPasswordRow.counted_for)).scalars().all()
    assert all(len(each) == 64 and "secret" not in each for each in kept)
