"""Agreement of each rater with themselves on hidden repeats, which are used for nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd

from measures.agreement import Weights, agreement_weights
from measures.kappa_intervals import kappa_interval
from measures.ratings import ALL
from measures.records.settings import Settings
from measures.results import RepeatAgreement


def repeats(pairs: pd.DataFrame, settings: Settings) -> tuple[RepeatAgreement, ...]:
    """Unweighted kappa of each rater's first answers with the second ones, over all tasks.

    Args:
        pairs: as :func:`measures.ratings.repeats` returns them.
        settings: confidence, resamples, seed.

    Returns:
        One result per rater with a repeat, in the order of the names.
    """
    results: list[RepeatAgreement] = []
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
        results.append(
            RepeatAgreement(
                rater=str(rater),
                task=ALL,
                n=len(own),
                observed=float((first == again).mean()),
                kappa=found.value,
                se=found.se,
                low=found.low,
                high=found.high,
                interval=found.method,
                note=found.note,
            )
        )
    return tuple(results)
