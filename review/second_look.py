"""Chooses questions for a further reviewer, and the reviewer, by the expected information of the verdict.

The information of a verdict is how much it is expected to reduce the uncertainty (entropy, in bits) about the
right decision of the question: the mutual information of the two. Dawid and Skene's model gives the
probabilities, from the verdicts of the batch and ten assumed verdicts per reviewer and decision, nine of
which are right. So a plan exists from the first verdict on. Its figures are used for nothing else.

Source: Lindley DV, Ann Math Stat 1956;27:986-1005 (the information of an experiment).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measures.dawid_skene import fit_dawid_skene
from records.columns import DECISIONS

#: A question with so many reviewers is left to adjudication.
MAXIMUM_REVIEWERS = 3
_ASSUMED_VERDICTS, _ASSUMED_RIGHT = 10, 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondLook:
    """A question for a further reviewer, by indices, and the expected information of the verdict in bits."""

    question: int
    person: int
    bits: float


def compute_expected_information(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute the information that a verdict of each person would bring about each question, in bits.

    Args:
        counts: the decisions, shape (questions, people, decisions); at least one question.

    Returns:
        The expected information, shape (questions, people), 0 or more.
    """
    k = len(DECISIONS)
    wrong = _ASSUMED_VERDICTS * (1 - _ASSUMED_RIGHT) / (k - 1)
    assumed = np.full((k, k), wrong)
    np.fill_diagonal(assumed, _ASSUMED_VERDICTS * _ASSUMED_RIGHT)
    model = fit_dawid_skene(counts, pseudo_counts=assumed)
    stated = np.einsum("nt,rtv->nrv", model.posteriors, model.confusion)
    information = _entropy(stated) - model.posteriors @ _entropy(model.confusion).T
    return np.maximum(0.0, information)


def choose_second_looks(
    information: NDArray[np.float64], can_judge: NDArray[np.bool_], *, count: int
) -> list[SecondLook]:
    """Choose up to ``count`` questions with the most information, and the person who brings it.

    Each person gets at most the same share of ``count``, rounded up. A question of a person whose share is
    full goes to the next best one.

    Args:
        information: the expected information, shape (questions, people).
        can_judge: whether the person can be given the question, shape (questions, people).
        count: the number of questions, 1 or more.
    """
    pairs = np.flatnonzero(can_judge.reshape(-1))
    bits = information.reshape(-1)[pairs]
    n_people = information.shape[1]
    limit = math.ceil(count / max(1, n_people))
    load, taken, looks = [0] * n_people, set[int](), list[SecondLook]()
    for index in np.argsort(-bits, kind="stable").tolist():
        question, person = divmod(int(pairs[index]), n_people)
        if question in taken or load[person] == limit:
            continue
        looks.append(SecondLook(question=question, person=person, bits=float(bits[index])))
        taken.add(question)
        load[person] += 1
        if len(looks) == count:
            break
    return looks


def _entropy(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy over the last axis in bits; 0 log 0 is 0."""
    logs = np.log2(np.where(probabilities > 0, probabilities, 1.0))
    entropy: NDArray[np.float64] = -(probabilities * logs).sum(axis=-1)
    return entropy
