"""The readers together against each model: readers random, and beside it these readers fixed.

``cases`` is the questions that the model and at least one reader answered. The difference is readers less
model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from measures.coded import Coded
from measures.mrmc import against_model
from measures.records.settings import Settings

Record = dict[str, Any]


def mrmc(coded: Coded, settings: Settings) -> list[Record]:
    """Two records a model, over all tasks; none without a reader."""
    readers = [at for at in coded.judged if coded.kinds[at] == "reader"]
    right = np.where(coded.right < 0, np.nan, coded.right).astype(np.float64)
    records: list[Record] = []
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
            records.append(
                {
                    "model": coded.raters[at],
                    "readers": found.readers,
                    "cases": found.cases,
                    "difference": found.difference,
                    "se": found.se,
                    "df": found.df,
                    "low": found.low,
                    "high": found.high,
                    "p": found.p,
                    "random_readers": random_readers,
                    "method": found.method,
                    "note": found.note,
                }
            )
    return records
