"""Joint bootstrap of several kappas over cases, for the differences between kappas.

Conventions. Each resample draws n cases (or exams) with replacement. All pairs of raters and all tasks use
the same resamples, so a difference of two kappas accounts for their correlation. For speed, resamples are not
built: the number of times that each case is drawn is multiplied with the cases' patterns, which gives the
agreement and the margins of all pairs. A pair uses the questions that both raters answered. The interval is a
percentile interval.

Edge cases. If a kappa is not defined in a resample (one category), it is NaN and not used for the
percentiles. If one rater is constant, kappa is 0.

Source: Vanbelle S, Albert A, Br J Math Stat Psychol 2008;61:369-378 (bootstrap for dependent kappas).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measures.agreement import CONFIDENCE
from measures.clusters import renumber_clusters
from measures.pairs import Matrix, build_pair_tables, compute_kappas


@dataclass(frozen=True, slots=True, kw_only=True)
class KappaDifference:
    """One kappa minus another on the same cases.

    ``defined`` is the share of resamples in which both kappas are defined.
    """

    difference: float | None
    low: float | None
    high: float | None
    defined: float


def bootstrap_kappas(
    answers: NDArray[np.int64],
    pairs: Sequence[tuple[int, int]],
    *,
    weights: Matrix,
    seed: int,
    resamples: int = 2000,
    strata: Sequence[NDArray[np.int64]] | None = None,
    clusters: NDArray[np.int64] | None = None,
) -> Matrix:
    """Compute kappa of each resample, stratum and pair in one joint bootstrap over cases.

    Args:
        answers: category indices 0 to k - 1, -1 where missing, shape (questions, raters).
        pairs: the two raters of each kappa.
        weights: the agreement weights, shape (k, k).
        seed: the seed of the resamples.
        resamples: the number of resamples.
        strata: the row indices of each stratum's questions; None for a single stratum.
        clusters: the exam number of each question; the questions of an exam are drawn together.

    Returns:
        Shape (resamples, strata, pairs); NaN if a resample has a single category.
    """
    questions, k = len(answers), len(weights)
    resample_counts = _draw_resample_counts(questions, clusters, seed, resamples)
    patterns = _build_patterns(answers, pairs, weights)
    kappa_by_stratum = []
    for rows in [np.arange(questions)] if strata is None else strata:
        products = resample_counts[:, rows] @ patterns[rows]
        products = products.reshape(resamples, len(pairs), 1 + 2 * k).astype(np.float64)
        agreed, first, second = products[..., 0], products[..., 1 : 1 + k], products[..., 1 + k :]
        n = first.sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = np.einsum("...i,ij,...j->...", first, weights, second, optimize=True) / n**2
            kappa = (agreed / n - chance) / (1.0 - chance)
        kappa_by_stratum.append(np.where(1.0 - chance < 1e-6, np.nan, kappa))
    return np.stack(kappa_by_stratum, axis=1)


def kappa_difference(
    answers: NDArray[np.int64],
    first_pair: tuple[int, int],
    second_pair: tuple[int, int],
    *,
    weights: Matrix,
    seed: int,
    resamples: int = 2000,
    clusters: NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
) -> KappaDifference:
    """Compute the difference of two kappas on the same cases, with a percentile bootstrap interval.

    Use this function to compare, for example, how well two readers agree with the reference. The two kappas
    share cases, so comparing their intervals would be wrong.

    Args:
        answers: category indices 0 to k - 1, -1 where missing, shape (questions, raters).
        first_pair: the two raters of the first kappa.
        second_pair: the two raters of the second kappa.
        weights: the agreement weights, shape (k, k).
        seed: the seed of the resamples.
        resamples: the number of resamples.
        clusters: the exam number of each question; the questions of an exam are drawn together.
        confidence: the confidence level of the interval.

    Returns:
        First kappa minus second kappa, -2 to 2; None if one of them is not defined.
    """
    tables = build_pair_tables(answers, [first_pair, second_pair], k=len(weights))[0]
    (first_kappa, second_kappa), _ = compute_kappas(tables, weights)
    resampled_kappas = bootstrap_kappas(
        answers, [first_pair, second_pair], weights=weights, seed=seed, resamples=resamples, clusters=clusters
    )[:, 0]
    differences = resampled_kappas[:, 0] - resampled_kappas[:, 1]
    defined_differences = differences[~np.isnan(differences)]
    if np.isnan(first_kappa - second_kappa) or not defined_differences.size:
        return KappaDifference(
            difference=None, low=None, high=None, defined=defined_differences.size / resamples
        )
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined_differences, [tail, 1 - tail])
    return KappaDifference(
        difference=float(first_kappa - second_kappa),
        low=float(low),
        high=float(high),
        defined=defined_differences.size / resamples,
    )


def _draw_resample_counts(
    questions: int, clusters: NDArray[np.int64] | None, seed: int, resamples: int
) -> NDArray[np.float32]:
    """Draw how often each question is in each resample, shape (resamples, questions)."""
    random = np.random.default_rng(seed)
    if clusters is None:
        counts = random.multinomial(questions, np.full(questions, 1 / questions), size=resamples)
        return counts.astype(np.float32)
    cluster_index, n_clusters = renumber_clusters(clusters)
    counts = random.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=resamples)
    return counts[:, cluster_index].astype(np.float32)


def _build_patterns(
    answers: NDArray[np.int64], pairs: Sequence[tuple[int, int]], weights: Matrix
) -> NDArray[np.float32]:
    """Build the agreement weight and the indicators of both answers for each question and pair.

    The shape is (questions, pairs * (1 + 2 k)). Values are 0 if one of the two raters did not answer.
    """
    k = len(weights)
    padded_weights = np.zeros((k + 1, k + 1))
    padded_weights[:k, :k] = weights
    indicator = np.eye(k + 1, k)
    columns = np.where(answers < 0, k, answers)
    patterns = np.zeros((len(answers), len(pairs), 1 + 2 * k), dtype=np.float32)
    for index, (first, second) in enumerate(pairs):
        a, b = columns[:, first], columns[:, second]
        both_answered = ((a < k) & (b < k))[:, None]
        patterns[:, index, 0] = padded_weights[a, b]
        patterns[:, index, 1 : 1 + k] = indicator[a] * both_answered
        patterns[:, index, 1 + k :] = indicator[b] * both_answered
    return patterns.reshape(len(answers), -1)
