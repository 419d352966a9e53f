"""Questions that models answer differently, those with the most balanced votes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.score_table import QuestionTable
from evaluation.scoreboard import ScoredModel


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementQuestion:
    """A question (its id in the database) that ``correct`` of ``answered`` models answered correctly.

    ``answers`` is the number of different answers.
    """

    question_row_id: int
    correct: int
    answered: int
    answers: int


def list_disagreements(
    table: QuestionTable, models: Sequence[ScoredModel], rows: NDArray[np.bool_], *, limit: int
) -> tuple[list[DisagreementQuestion], int]:
    """Return the questions to which at least two models gave different answers, and their number.

    The number does not depend on ``limit``. Open questions are left out, because two texts are rarely equal.

    Args:
        table: the questions.
        models: the models.
        rows: whether each question is in the slice, shape (q,).
        limit: the maximum number of questions. Those with the smallest difference between the numbers of
            correct and incorrect answers come first, then those with more different answers.
    """
    if len(models) < 2:
        return [], 0
    answers = np.array([model.scores.answer[rows] for model in models])
    is_answered = answers >= 0
    answered_counts = is_answered.sum(axis=0)
    correct_counts = np.array([model.scores.correct[rows] == 1 for model in models]).sum(axis=0)
    sorted_answers = np.sort(answers, axis=0)
    is_new = np.vstack(
        [sorted_answers[:1] >= 0, (sorted_answers[1:] != sorted_answers[:-1]) & (sorted_answers[1:] >= 0)]
    )
    distinct_counts = is_new.sum(axis=0)
    with_disagreement = np.flatnonzero(distinct_counts > 1)
    numbers = table.numbers[rows]
    imbalance = np.abs(2 * correct_counts - answered_counts)
    order = sorted(
        with_disagreement.tolist(),
        key=lambda index: (imbalance[index], -distinct_counts[index], numbers[index]),
    )
    disagreements = [
        DisagreementQuestion(
            question_row_id=int(numbers[index]),
            correct=int(correct_counts[index]),
            answered=int(answered_counts[index]),
            answers=int(distinct_counts[index]),
        )
        for index in order[:limit]
    ]
    return disagreements, len(with_disagreement)
