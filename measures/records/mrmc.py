"""The readers together against each model, with readers random and with readers fixed.

``cases`` counts the questions that the model and at least one reader answered. The difference is readers
minus model.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from measures.coded import Coded
from measures.mrmc import against_model
from measures.records.settings import Settings
from measures.results import MrmcComparison


def mrmc(coded: Coded, settings: Settings) -> tuple[MrmcComparison, ...]:
    """Compare the readers with each model, over all tasks.

    Args:
        coded: the ratings.
        settings: the confidence is used.

    Returns:
        Two results for each model, readers random and readers fixed; empty without a reader or a model.
    """
    readers = [at for at in coded.judged if coded.kinds[at] == "reader"]
    right = np.where(coded.right < 0, np.nan, coded.right).astype(np.float64)
    results: list[MrmcComparison] = []
    for at in coded.judged:
        if coded.kinds[at] != "model" or not readers:
            continue
        for random_readers in (True, False):
            found = against_model(
                right[:, readers],
                right[:, at],
                exams=coded.exam,
                random_readers=random_readers,
                confidence=settings.confidence,
            )
            results.append(replace(found, model=coded.raters[at]))
    return tuple(results)
