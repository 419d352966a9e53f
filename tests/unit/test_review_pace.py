"""The predicted end of a batch at the present pace."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from review.pace import estimate_finish

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def every(minutes, count):
    return [START + timedelta(minutes=minutes * place) for place in range(count)]


def test_the_rate_of_the_verdicts_so_far_carries_on():
    # 11 verdicts, one every 2 minutes, the last one now: 10 in 20 minutes; 30 left take 60 minutes
    given = every(2, 11)
    assert estimate_finish(given, left=30, now=given[-1]).expected_at == given[-1] + timedelta(minutes=60)


def test_a_pause_until_now_slows_the_pace():
    # 10 in 20 minutes, then 20 minutes without any: 10 in 40; 30 left take 120 minutes
    now = START + timedelta(minutes=40)
    assert estimate_finish(every(2, 11), left=30, now=now).expected_at == now + timedelta(minutes=120)


def test_only_the_last_fifty_count():
    slow = [START - timedelta(days=day) for day in range(1, 100)]
    now = START + timedelta(minutes=49)
    assert estimate_finish([*slow, *every(1, 50)], left=10, now=now).expected_at == now + timedelta(
        minutes=10
    )


def test_fewer_than_five_verdicts_give_no_pace():
    found = estimate_finish(every(2, 4), left=3, now=START + timedelta(hours=1))
    assert (found.expected_at, found.note) == (None, "not enough verdicts yet")


def test_five_verdicts_at_one_moment_give_no_pace():
    assert estimate_finish([START] * 5, left=3, now=START).note == "not enough verdicts yet"


def test_nothing_left_needs_no_time():
    assert estimate_finish(every(2, 11), left=0, now=START).note == "nothing left"


def test_a_pace_that_never_ends_is_not_a_date():
    found = estimate_finish(every(60 * 24 * 30, 5), left=10_000, now=START + timedelta(days=3650))
    assert (found.expected_at, found.note) == (None, "more than ten years at this pace")
