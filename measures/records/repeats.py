"""A rater against the same rater: hidden repeats, which count nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from measures.agreement import Weights, agreement_weights
from measures.kappa_intervals import kappa_interval
from measures.ratings import ALL
from measures.records.settings import Settings

Record = dict[str, Any]


def repeats(pairs: pd.DataFrame, settings: Settings) -> list[Record]:
    """One record a rater over all tasks: unweighted kappa and agreement of the first answer with the second.

    Args:
        pairs: as :func:`measures.ratings.repeats` gives them.
        settings: confidence, resamples, seed.
    """
    records: list[Record] = []
    for rater, own in pairs.sort_values(["rater", "question_id"]).groupby("rater", sort=True):
        labels = sorted({*own["first"], *own["again"]})
        first, again = (
            pd.Categorical(own[name], categories=labels).codes.astype(np.int64) for name in ("first", "again")
        )
        stated = own["exam"].where(own["exam"] != "", "question " + own["question_id"])
        found = kappa_interval(
            first,
            again,
            weights=agreement_weights(len(labels), Weights.NONE),
            clusters=pd.factorize(stated)[0],
            confidence=settings.confidence,
            draws=settings.bootstrap,
            seed=settings.seed,
        )
        records.append(
            {
                "rater": rater,
                "task": ALL,
                "n": len(own),
                "observed": float((first == again).mean()),
                "kappa": found.estimate,
                "se": found.se,
                "low": found.low,
                "high": found.high,
                "interval": found.kind,
                "note": found.note,
            }
        )
    return records
