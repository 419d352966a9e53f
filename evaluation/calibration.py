"""Calibration of a model's stated probabilities in one condition, and the AUC on yes/no questions.

A model may state with an answer the probability that it is correct. Scored questions with such an answer
count; questions without an answer have no probability, although they count as wrong in the accuracy. On a
yes/no question the probability of yes follows from it, and its AUC is the empirical one. Intervals are
clustered by patient, or by exam if no patient is stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.evaluations import Condition
from domain.questions import Answer, Question
from domain.vocabulary import AnswerFormat
from evaluation.cases import EvaluatedQuestion
from measures.calibration import Calibration, measure_calibration
from measures.estimate import Estimate
from measures.roc import auc_estimate, auc_figures

_YES = "yes"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedAnswer:
    """An answer with the probability (0 to 1) that the model states for it, and its patient's cluster."""

    question: Question
    answer: Answer
    probability: float
    cluster: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionCalibration:
    """The calibration in one condition, and the AUC of the probability of yes on yes/no questions.

    ``calibration`` and ``auc`` state the reason in their notes if they are not defined.
    """

    condition: Condition
    calibration: Calibration
    auc: Estimate


def compute_calibration(
    condition: Condition, stated: Sequence[StatedAnswer], *, confidence: float
) -> ConditionCalibration:
    """Compute the calibration and the AUC of the answers of a condition.

    Args:
        condition: the condition.
        stated: the answers with a probability; none for a model that states none.
        confidence: the confidence level of the intervals.
    """
    correct = np.array([item.question.is_correct(item.answer) for item in stated], dtype=np.bool_)
    return ConditionCalibration(
        condition=condition,
        calibration=measure_calibration(
            np.array([item.probability for item in stated], dtype=np.float64),
            correct,
            clusters=_list_clusters(stated),
            level=confidence,
        ),
        auc=_compute_auc(stated, confidence),
    )


def _compute_auc(stated: Sequence[StatedAnswer], confidence: float) -> Estimate:
    closed = [item for item in stated if item.question.format is AnswerFormat.CLOSED]
    if not closed:
        return Estimate(n=0, note="not defined: no yes/no question has an answer with a probability")
    truth = np.array([item.question.answer == _YES for item in closed], dtype=np.int64)
    of_yes = np.array(
        [item.probability if item.answer == _YES else 1 - item.probability for item in closed],
        dtype=np.float64,
    )
    figures = auc_figures(truth, of_yes[:, None], clusters=_list_clusters(closed))
    return auc_estimate(figures, 0, n=len(closed), confidence=confidence)


def _list_clusters(stated: Sequence[StatedAnswer]) -> NDArray[np.int64]:
    return np.array([item.cluster for item in stated], dtype=np.int64)


def select_stated(
    questions: Sequence[EvaluatedQuestion],
    answers: Mapping[int, Answer | None],
    probabilities: Mapping[int, float],
    clusters: Mapping[int, int],
) -> list[StatedAnswer]:
    """Return the answers with a probability; all mappings are by the id of the question in the database."""
    selected = []
    for item in questions:
        answer, probability = answers.get(item.number), probabilities.get(item.number)
        if answer is not None and probability is not None:
            selected.append(
                StatedAnswer(
                    question=item.question,
                    answer=answer,
                    probability=probability,
                    cluster=clusters[item.number],
                )
            )
    return selected
