"""Agreement of each rater with themselves on hidden repeats. Repeats are not used for any other measure."""

from __future__ import annotations

import numpy as np
import pandas as pd

from measures.agreement import Weights, agreement_weights
from measures.kappa_intervals import kappa_interval
from measures.rating_values import ALL
from measures.records.settings import Settings
from measures.results import RepeatAgreement


def compute_repeat_agreement(pairs: pd.DataFrame, settings: Settings) -> tuple[RepeatAgreement, ...]:
    """Compute the unweighted kappa of each rater's first and repeated answers, over all tasks.

    Args:
        pairs: the pairs that :func:`measures.ratings.pair_repeats` returned.
        settings: the settings; confidence, resamples and seed are used.

    Returns:
        One result per rater with a repeat, in the order of the names.
    """
    results: list[RepeatAgreement] = []
    for rater, rater_pairs in pairs.sort_values(["rater", "question_id"]).groupby("rater", sort=True):
        labels = sorted({*rater_pairs["first_answer"], *rater_pairs["second_answer"]})
        first, second = (
            pd.Categorical(rater_pairs[name], categories=labels).codes.astype(np.int64)
            for name in ("first_answer", "second_answer")
        )
        cluster_or_question = rater_pairs["cluster"].where(
            rater_pairs["cluster"] != "", "question " + rater_pairs["question_id"]
        )
        estimate = kappa_interval(
            first,
            second,
            weights=agreement_weights(len(labels), Weights.NONE),
            clusters=pd.factorize(cluster_or_question)[0],
            confidence=settings.confidence,
            draws=settings.bootstrap,
            seed=settings.seed,
        )
        results.append(
            RepeatAgreement(
                rater=str(rater),
                task=ALL,
                n=len(rater_pairs),
                observed=float((first == second).mean()),
                kappa=estimate.value,
                se=estimate.se,
                low=estimate.low,
                high=estimate.high,
                interval=estimate.method,
                note=estimate.note,
            )
        )
    return tuple(results)
