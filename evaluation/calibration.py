"""Calibration of a model's stated probabilities in one condition, and the AUC on yes/no questions.

Only scored questions count, and only if the answer has a probability. Intervals are clustered by patient, or
by exam if no patient is stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.evaluations import Condition
from domain.questions import Answer
from evaluation.cases import EvaluatedQuestion
from measures.calibration import Calibration
from measures.estimate import Estimate
from reader_study.stated_probabilities import StatedAnswer, compute_yes_no_auc, measure_stated_probabilities


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
    return ConditionCalibration(
        condition=condition,
        calibration=measure_stated_probabilities(stated, confidence=confidence),
        auc=compute_yes_no_auc(stated, confidence=confidence),
    )


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
