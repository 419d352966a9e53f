"""Chooses questions for a second opinion, and the reviewer, by the expected information of the verdict.

The information of a verdict is how much it is expected to reduce the uncertainty (entropy, in bits) about the
right decision of the question. It is the mutual information of verdict and right decision. Dawid and Skene's
model gives the probabilities, from the verdicts of the batch and ten assumed verdicts per reviewer and
decision, nine of which are right. With the assumed verdicts a choice is possible after the first verdict. The
model is used for this choice only.

Source: Lindley DV, Ann Math Stat 1956;27:986-1005 (the information of an experiment).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measures.dawid_skene import fit_dawid_skene
from records.columns import DECISIONS

#: Questions with this number of reviewers get no further reviewer and are left to adjudication.
MAXIMUM_REVIEWERS = 3
_ASSUMED_VERDICTS, _ASSUMED_RIGHT = 10, 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class InformativeOpinion:
    """A second opinion to ask for: indices of question and person, and the expected information in bits."""

    question: int
    person: int
    bits: float


def compute_expected_information(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute the expected information of a verdict of each person on each question, in bits.

    Args:
        counts: the decisions, shape (questions, people, decisions); at least one question.

    Returns:
        The expected information, shape (questions, people), 0 or more.
    """
    k = len(DECISIONS)
    assumed_errors = _ASSUMED_VERDICTS * (1 - _ASSUMED_RIGHT) / (k - 1)
    pseudo_counts = np.full((k, k), assumed_errors)
    np.fill_diagonal(pseudo_counts, _ASSUMED_VERDICTS * _ASSUMED_RIGHT)
    model = fit_dawid_skene(counts, pseudo_counts=pseudo_counts)
    predicted = np.einsum("nt,rtv->nrv", model.posteriors, model.confusion)
    information = _entropy(predicted) - model.posteriors @ _entropy(model.confusion).T
    return np.maximum(0.0, information)


def choose_informative_opinions(
    information: NDArray[np.float64], can_judge: NDArray[np.bool_], *, count: int
) -> list[InformativeOpinion]:
    """Choose up to ``count`` questions with the most information, and the person who judges each.

    Each person gets at most an equal share of ``count``, rounded up. If the best person for a question has a
    full share, the next best person gets the question.

    Args:
        information: the expected information, shape (questions, people).
        can_judge: whether the person can be given the question, shape (questions, people).
        count: the number of questions, 1 or more.
    """
    pairs = np.flatnonzero(can_judge.reshape(-1))
    bits = information.reshape(-1)[pairs]
    n_people = information.shape[1]
    max_per_person = math.ceil(count / max(1, n_people))
    counts_by_person, chosen_questions, opinions = [0] * n_people, set[int](), list[InformativeOpinion]()
    for index in np.argsort(-bits, kind="stable").tolist():
        question, person = divmod(int(pairs[index]), n_people)
        if question in chosen_questions or counts_by_person[person] == max_per_person:
            continue
        opinions.append(InformativeOpinion(question=question, person=person, bits=float(bits[index])))
        chosen_questions.add(question)
        counts_by_person[person] += 1
        if len(opinions) == count:
            break
    return opinions


def _entropy(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy over the last axis in bits; 0 log 0 is 0."""
    logs = np.log2(np.where(probabilities > 0, probabilities, 1.0))
    entropy: NDArray[np.float64] = -(probabilities * logs).sum(axis=-1)
    return entropy
