"""Calibration of the probabilities that a model states for its answers, and the AUC on yes/no questions.

A model may state the probability that its answer is correct. Only answers with a probability count. Questions
without an answer do not count, although they count as wrong in the accuracy. On a yes/no question, the
probability of yes follows from the stated probability; its AUC is the empirical AUC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.questions import Answer, Question
from domain.vocabulary import AnswerFormat
from measures.calibration import Calibration, measure_calibration
from measures.estimate import Estimate
from measures.roc import auc_estimate, compute_aucs

_YES = "yes"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedAnswer:
    """An answer, the probability (0 to 1) that the model states for it, and the cluster of its question.

    The cluster is the number of the patient, or of the exam if no patient is stated.
    """

    question: Question
    answer: Answer
    probability: float
    cluster: int


def measure_stated_probabilities(stated: Sequence[StatedAnswer], *, confidence: float) -> Calibration:
    """Compute the calibration of the answers; if there are none, its note states that it is not defined."""
    return measure_calibration(
        np.array([stated_answer.probability for stated_answer in stated], dtype=np.float64),
        np.array(
            [stated_answer.question.is_correct(stated_answer.answer) for stated_answer in stated],
            dtype=np.bool_,
        ),
        clusters=_list_clusters(stated),
        level=confidence,
    )


def compute_yes_no_auc(stated: Sequence[StatedAnswer], *, confidence: float) -> Estimate:
    """Compute the AUC of the probability of yes; its note states the reason if it is not defined."""
    closed = [
        stated_answer for stated_answer in stated if stated_answer.question.format is AnswerFormat.CLOSED
    ]
    if not closed:
        return Estimate(n=0, note="not defined: no yes/no question has an answer with a probability")
    truth = np.array([stated_answer.question.answer == _YES for stated_answer in closed], dtype=np.int64)
    yes_probabilities = np.array(
        [
            stated_answer.probability if stated_answer.answer == _YES else 1 - stated_answer.probability
            for stated_answer in closed
        ],
        dtype=np.float64,
    )
    figures = compute_aucs(truth, yes_probabilities[:, None], clusters=_list_clusters(closed))
    return auc_estimate(figures, 0, n=len(closed), confidence=confidence)


def _list_clusters(stated: Sequence[StatedAnswer]) -> NDArray[np.int64]:
    return np.array([stated_answer.cluster for stated_answer in stated], dtype=np.int64)
