"""The estimated finish of a batch at the current pace."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from review.pace import estimate_finish

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def make_times(minutes, count):
    return [START + timedelta(minutes=minutes * index) for index in range(count)]


def test_the_finish_is_extrapolated_from_the_pace_so_far():
    # 11 verdicts, one every 2 minutes, the last one now: 10 in 20 minutes; 30 left take 60 minutes
    verdict_times = make_times(2, 11)
    assert estimate_finish(verdict_times, left=30, now=verdict_times[-1]).expected_at == verdict_times[
        -1
    ] + timedelta(minutes=60)


def test_a_pause_before_now_slows_the_pace():
    # 10 in 20 minutes, then 20 minutes without any: 10 in 40; 30 left take 120 minutes
    now = START + timedelta(minutes=40)
    assert estimate_finish(make_times(2, 11), left=30, now=now).expected_at == now + timedelta(minutes=120)


def test_only_the_last_fifty_verdicts_count():
    old_times = [START - timedelta(days=day) for day in range(1, 100)]
    now = START + timedelta(minutes=49)
    assert estimate_finish([*old_times, *make_times(1, 50)], left=10, now=now).expected_at == now + timedelta(
        minutes=10
    )


def test_fewer_than_five_verdicts_give_no_pace():
    finish = estimate_finish(make_times(2, 4), left=3, now=START + timedelta(hours=1))
    assert (finish.expected_at, finish.note) == (None, "not enough verdicts yet")


def test_five_verdicts_at_one_moment_give_no_pace():
    assert estimate_finish([START] * 5, left=3, now=START).note == "not enough verdicts yet"


def test_a_batch_without_open_questions_has_no_remaining_time():
    assert estimate_finish(make_times(2, 11), left=0, now=START).note == "nothing left"


def test_a_finish_beyond_ten_years_has_no_date():
    finish = estimate_finish(make_times(60 * 24 * 30, 5), left=10_000, now=START + timedelta(days=3650))
    assert (finish.expected_at, finish.note) == (None, "more than ten years at this pace")
