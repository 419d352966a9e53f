"""The expected information of a further verdict, and the choice of questions and reviewers by it."""

from __future__ import annotations

import numpy as np
import pytest

from records.columns import DECISIONS
from review.informative_opinions import choose_informative_opinions, compute_expected_information


def count_votes(votes):
    return (np.asarray(votes)[:, :, None] == np.arange(len(DECISIONS))).astype(np.int64)


def test_information_is_the_mutual_information_of_verdict_and_decision():
    # One question without a verdict: equally likely decisions, and nine of ten verdicts are assumed right.
    # log2 3 - (0.9 log2 (1 / 0.9) + 0.1 log2 20) = 1.585 - 0.569 = 1.016 bits
    information = compute_expected_information(count_votes([[-1, -1]]))
    assert information == pytest.approx(np.full((1, 2), 1.016), abs=0.001)


def test_a_disagreement_and_a_reliable_reviewer_bring_more_information():
    # persons 0 and 1 disagree about the last question only, person 2 answers at random, 3 has no verdict
    random = np.random.default_rng(1)
    truth = random.integers(0, 3, 120)
    votes = np.stack([truth, truth, random.integers(0, 3, 120), np.full(120, -1)], axis=1)
    votes[-1] = [0, 1, -1, -1]
    information = compute_expected_information(count_votes(votes))
    assert information[:, 3].argmax() == 119
    assert information[119, 2] < 0.2 * information[119, 3]


def test_each_person_gets_at_most_an_even_share():
    information = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.5]])
    opinions = choose_informative_opinions(information, np.ones((4, 2), dtype=np.bool_), count=4)
    assert [(opinion.question, opinion.person) for opinion in opinions] == [(0, 0), (1, 0), (3, 1), (2, 1)]


def test_nobody_gets_a_question_that_they_cannot_judge():
    can_judge = np.array([[False, False], [False, True]])
    opinions = choose_informative_opinions(np.ones((2, 2)), can_judge, count=5)
    assert [(opinion.question, opinion.person) for opinion in opinions] == [(1, 1)]
    assert choose_informative_opinions(np.ones((2, 2)), np.zeros((2, 2), dtype=np.bool_), count=1) == []
