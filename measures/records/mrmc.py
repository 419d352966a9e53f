"""The readers together against each model: readers random, and beside it these readers fixed.

``cases`` is the questions that the model and at least one reader answered. The difference is readers less
model.
"""

from __future__ import annotations

import numpy as np

from measures.coded import Coded
from measures.mrmc import against_model
from measures.records.settings import Settings
from measures.results import MrmcComparison, to_record


def mrmc(coded: Coded, settings: Settings) -> tuple[MrmcComparison, ...]:
    """Two comparisons for each model, over all tasks: readers random, then fixed; empty without a reader.

    Args:
        coded: the ratings.
        settings: the confidence is used.
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
            results.append(MrmcComparison(model=coded.raters[at], **to_record(found)))
    return tuple(results)
