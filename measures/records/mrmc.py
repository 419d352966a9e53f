"""Compares the readers together with each model, with readers random and with readers fixed.

``cases`` is the number of questions that the model and at least one reader answered. The difference is
readers minus model.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from measures.mrmc import compare_with_model
from measures.rating_matrix import RatingMatrix
from measures.records.settings import Settings
from measures.results import MrmcComparison


def compute_mrmc(matrix: RatingMatrix, settings: Settings) -> tuple[MrmcComparison, ...]:
    """Compare the readers with each model, over all tasks.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence is used.

    Returns:
        Two results for each model, with random and with fixed readers; empty without a reader or a model.
    """
    readers = [column for column in matrix.non_reference_raters if matrix.kinds[column] == "reader"]
    correct = np.where(matrix.correct < 0, np.nan, matrix.correct).astype(np.float64)
    results: list[MrmcComparison] = []
    for column in matrix.non_reference_raters:
        if matrix.kinds[column] != "model" or not readers:
            continue
        for random_readers in (True, False):
            comparison = compare_with_model(
                correct[:, readers],
                correct[:, column],
                exams=matrix.exam,
                random_readers=random_readers,
                confidence=settings.confidence,
            )
            results.append(replace(comparison, model=matrix.raters[column]))
    return tuple(results)
