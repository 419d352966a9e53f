"""Wrong passwords make the next try wait."""

from datetime import UTC, datetime, timedelta

import pytest

from ui.door.throttle import FREE, Throttle, TooManyWrong

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def tried(times: int) -> Throttle:
    throttle = Throttle()
    for _ in range(times):
        throttle.wrong("anna", now=NOON)
    return throttle


def test_four_wrong_ones_cost_nothing():
    tried(FREE - 1).check("anna", now=NOON)


@pytest.mark.parametrize(("times", "seconds"), [(5, 2), (6, 4), (7, 8), (9, 32), (10, 60), (500, 60)])
def test_from_the_fifth_on_the_wait_doubles_up_to_a_minute(times, seconds):
    throttle = tried(times)
    with pytest.raises(TooManyWrong):
        throttle.check("anna", now=NOON + timedelta(seconds=seconds - 1))
    throttle.check("anna", now=NOON + timedelta(seconds=seconds))


def test_another_spelling_of_the_name_is_the_same_name():
    with pytest.raises(TooManyWrong):
        tried(FREE).check(" Anna ", now=NOON)


def test_other_people_do_not_wait():
    tried(50).check("bert", now=NOON)


def test_the_right_password_forgives():
    throttle = tried(50)
    throttle.right("anna")
    throttle.check("anna", now=NOON)


def test_an_hour_later_it_is_forgotten():
    throttle = tried(50)
    throttle.wrong("anna", now=NOON + timedelta(hours=2))
    throttle.check("anna", now=NOON + timedelta(hours=2))
