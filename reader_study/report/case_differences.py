"""Ranks the cases by how much the readers' share of correct answers differs from the models'."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from domain.studies import Case
from measures.rating_matrix import RatingMatrix
from reader_study.report.tables import CaseDifference

#: Maximum number of cases in the table.
MAX_CASES = 200


def rank_case_differences(matrix: RatingMatrix, cases: Iterable[Case]) -> tuple[CaseDifference, ...]:
    """Return the cases on which readers and models differ most, the greatest difference first.

    If only readers or only models answered a case, cases on which they are more evenly divided come first.
    Cases that all raters answered correctly, or all incorrectly, are left out. A reader's answers in two arms
    count as two.

    Args:
        matrix: the ratings of the study.
        cases: the cases of the study.
    """
    kinds = np.array(matrix.kinds)
    counts = {
        kind: [
            (matrix.correct[:, kinds == kind] == value).sum(axis=1) for value in (1, 0)
        ]  # correct, incorrect
        for kind in ("reader", "model")
    }
    answered = {kind: correct + incorrect for kind, (correct, incorrect) in counts.items()}
    shares = {
        kind: counts[kind][0] / np.where(answered[kind] > 0, answered[kind], np.nan)
        for kind in ("reader", "model")
    }
    difference = shares["reader"] - shares["model"]
    correct = counts["reader"][0] + counts["model"][0]
    total = answered["reader"] + answered["model"]
    division = np.minimum(correct, total - correct) / np.maximum(1, total)
    score = np.where(np.isnan(difference), division, np.abs(difference) + division / 1000)
    numbers = {case.question.id: case.blind_case.number for case in cases if case.scored}
    divided_rows = np.flatnonzero((correct > 0) & (correct < total))
    order = sorted(divided_rows.tolist(), key=lambda row: (-score[row], numbers[matrix.questions[row]]))
    return tuple(
        CaseDifference(
            case=numbers[matrix.questions[row]],
            question_id=matrix.questions[row],
            task=matrix.tasks[matrix.task[row]] if matrix.task[row] >= 0 else "",
            readers=int(answered["reader"][row]),
            readers_correct=int(counts["reader"][0][row]),
            models=int(answered["model"][row]),
            models_correct=int(counts["model"][0][row]),
            difference=None if np.isnan(difference[row]) else float(difference[row]),
            answers=len(set(matrix.answers[row, kinds != "reference"].tolist()) - {-1}),
        )
        for row in order[:MAX_CASES]
    )
