"""Decisions by majority, by Dawid and Skene's model and by adjudication."""

from __future__ import annotations

import numpy as np

from domain.verdicts import Decision
from records.columns import DECISIONS, LatestVerdicts
from review.consensus import compute_consensus, format_share

ACCEPT, REVISE, REJECT = (DECISIONS.index(d) for d in (Decision.ACCEPT, Decision.REVISE, Decision.REJECT))


def make_verdicts(votes):
    """The latest verdicts of (question, person, decision)."""
    questions, people, decisions = (np.array(column, dtype=np.int64) for column in zip(*votes, strict=True))
    n = len(questions)
    times = np.zeros(n, dtype="datetime64[us]")
    return LatestVerdicts(
        questions=questions, exams=questions, batches=np.ones(n, dtype=np.int64), people=people,
        decisions=decisions.astype(np.int8), errors=np.zeros(n, dtype=np.int64), error_sets=(frozenset(),),
        tiers=np.zeros(n, dtype=np.int8), corrects=np.zeros(n, dtype=bool),
        changes_key=np.zeros(n, dtype=bool),
        given_at=times, first_given_at=times, first_seconds=np.zeros(n),
        ratings=np.zeros((n, 0), dtype=np.int8), flags=np.zeros((n, 0), dtype=np.int8),
    )  # fmt: skip


def test_the_majority_of_two_against_one_decides_and_a_tie_is_left_out():
    votes = [(1, 1, ACCEPT), (1, 2, ACCEPT), (1, 3, REJECT), (2, 1, ACCEPT), (2, 2, REVISE), (3, 1, REJECT)]
    consensus = compute_consensus(make_verdicts(votes), {1: Decision.REJECT, 2: Decision.ACCEPT})
    assert (consensus.questions, consensus.ties, consensus.adjudicated) == (3, 1, 2)
    assert {d: share.count for d, share in consensus.majority.items()} == {
        Decision.ACCEPT: 1, Decision.REVISE: 0, Decision.REJECT: 1,
    }  # fmt: skip
    assert (consensus.majority_agrees.count, consensus.majority_agrees.n) == (0, 1)
    assert consensus.note == (
        "not defined: 1 question judged by three or more reviewers; at least 20 are needed"
    )
    assert (consensus.model, consensus.confusion, consensus.model_agrees.n) == ({}, {}, 0)


def test_the_model_decides_against_the_majority_if_two_reviewers_guess():
    random = np.random.default_rng(1)
    truth = random.integers(0, 2, 150) * REJECT
    votes = []
    for question, decision in enumerate(truth.tolist()):
        votes += [(question, person, decision) for person in (1, 2)]
        votes += [(question, person, int(random.integers(0, 2)) * REJECT) for person in (3, 4)]
        votes.append((question, 5, int(random.integers(0, 2)) * REJECT))
    settled = {question: DECISIONS[decision] for question, decision in enumerate(truth.tolist())}
    consensus = compute_consensus(make_verdicts(votes), settled)
    assert consensus.changed > 5
    assert consensus.model_agrees.estimate > consensus.majority_agrees.estimate
    share_of_guesser = consensus.confusion[3][Decision.ACCEPT][Decision.ACCEPT]
    assert share_of_guesser.low < 0.5 < share_of_guesser.high
    # nobody chose REVISE, so no error rate is known for it
    assert format_share(consensus.confusion[1][Decision.REVISE][Decision.REVISE]) == "not defined"
