"""Quotas, the choice of the submission that counts, and the Ladder."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from domain.errors import InvalidValue
from domain.leaderboards import (
    DisclosedScore,
    ModelAccess,
    Quotas,
    QuotaUse,
    Submission,
    SubmissionDetails,
    quota_periods,
)
from leaderboard import ladder
from leaderboard.ladder import is_significant_gain
from leaderboard.outcomes import decode_outcomes, encode_outcomes
from leaderboard.standings import choose_submission
from measures.paired import sign_flip_test

NOW = datetime(2026, 3, 31, 23, 59, tzinfo=UTC)


def make_submission(number, *, is_public=True):
    details = SubmissionDetails(method="m", access=ModelAccess.OWN, is_public=is_public)
    return Submission(
        id=number, team_id=1, details=details, file_sha256="", file_bytes=1, submitted_by=None,
        submitted_at=NOW
    )  # fmt: skip


def make_score(number, correct):
    return DisclosedScore(
        submission_id=number, version=1, n=10, correct=correct, low=None, high=None, code_version="",
        scored_at=NOW
    )  # fmt: skip


@pytest.mark.parametrize("quotas", [(0, 1, 1), (2, 1, 3), (1, 4, 3), (1, 1, 10_001)])
def test_quotas_that_contradict_each_other_are_refused(quotas):
    with pytest.raises(InvalidValue):
        Quotas(per_day=quotas[0], per_month=quotas[1], total=quotas[2])


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-03-31T23:59:59.999999+00:00", ["03-31", "04-01", "03-01", "04-01"]),
        ("2026-04-01T00:00:00+00:00", ["04-01", "04-02", "04-01", "05-01"]),
        ("2026-03-31T20:00:00-05:00", ["04-01", "04-02", "04-01", "05-01"]),  # 01:00 in UTC
        ("2026-04-01T01:00:00+02:00", ["03-31", "04-01", "03-01", "04-01"]),  # 23:00 in UTC
        ("2024-02-29T12:00:00+00:00", ["02-29", "03-01", "02-01", "03-01"]),
    ],
)
def test_the_periods_are_calendar_days_and_months_in_utc(now, expected):
    day, month = quota_periods(datetime.fromisoformat(now))
    assert [f"{moment:%m-%d}" for moment in (*day, *month)] == expected


def test_remaining_submissions_are_limited_by_the_tightest_quota():
    quotas = Quotas(per_day=3, per_month=5, total=9)
    assert QuotaUse(day=1, month=4, total=8).remaining(quotas).smallest == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"method": " "}, "method"),
        ({"url": "javascript:alert(1)"}, "URL"),
        ({"description": "\x00"}, "description"),
    ],
)
def test_details_that_cannot_be_shown_are_refused(changes, field):
    with pytest.raises(InvalidValue, match=field):
        SubmissionDetails(**{"method": "m", "access": ModelAccess.OWN, "is_public": True} | changes)


def test_the_best_public_submission_counts_unless_another_is_selected():
    submissions = [make_submission(1), make_submission(2), make_submission(3, is_public=False)]
    scores = {number: make_score(number, correct) for number, correct in ((1, 6), (2, 6), (3, 9))}
    for selected, expected in (([], 1), ([2], 2), ([3, 2], 3), ([4, 2, 1], 2)):  # submission 4 has no score
        chosen = choose_submission(submissions, scores, selected_ids=selected, uses_ladder=False)
        assert chosen.id == expected
    assert choose_submission(submissions, scores, selected_ids=[], uses_ladder=True).id == 2
    assert choose_submission(submissions, {}, selected_ids=[1], uses_ladder=True) is None


@pytest.mark.parametrize("n", [1, 7, 8, 9, 100])
def test_outcomes_are_unchanged_by_encoding_and_decoding(n):
    correct = np.random.default_rng(n).random(n) < 0.5
    assert decode_outcomes(encode_outcomes(correct), n=n).tolist() == correct.tolist()


def test_the_ladder_needs_ten_gains_of_independent_patients_for_a_quota_of_fifty():
    """p = 2 ** -10 = 0.00098 is at most 0.05 / 50 = 0.001; 2 ** -9 = 0.00195 is not."""
    displayed = np.zeros(40, dtype=bool)
    for gains, is_gain in ((9, False), (10, True)):
        new = np.arange(40) < gains
        assert is_significant_gain(new, displayed, clusters=np.arange(40), total_quota=50) is is_gain


def test_gains_of_one_patient_count_once_for_the_ladder():
    new, displayed = np.ones(40, dtype=bool), np.zeros(40, dtype=bool)
    assert is_significant_gain(new, displayed, clusters=np.arange(40), total_quota=50)
    assert not is_significant_gain(new, displayed, clusters=np.arange(40) // 10, total_quota=50)


def test_a_loss_is_no_gain_for_the_ladder():
    new, displayed = np.zeros(40, dtype=bool), np.ones(40, dtype=bool)
    assert not is_significant_gain(new, displayed, clusters=np.arange(40), total_quota=1)


@pytest.mark.parametrize("wins_and_losses", [(12, 3), (3, 12), (7, 8), (8, 7), (0, 15), (15, 0)])
def test_the_ladder_does_the_same_work_for_a_gain_and_a_loss(monkeypatch, wins_and_losses):
    """The time of an answer must not tell a team the sign of the difference."""
    calls = []

    def count_call(differences):
        calls.append(np.abs(differences).tolist())
        return sign_flip_test(differences)

    monkeypatch.setattr(ladder, "sign_flip_test", count_call)
    wins, losses = wins_and_losses
    positions = np.arange(40)
    new, displayed = positions < wins, (positions >= wins) & (positions < wins + losses)
    ladder.is_significant_gain(new, displayed, clusters=positions, total_quota=50)
    assert calls == [[1] * 15 + [0] * 25]
