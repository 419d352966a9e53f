"""Joint bootstrap of several kappas over cases, for contrasts of kappas.

Conventions. Each resample draws n cases (or exams) with replacement. All pairs of raters and all tasks use
the same resamples, so a difference of two kappas accounts for their correlation. For speed, resamples are not
built: the sums of agreements and answers are weighted by how often each case is drawn
(:mod:`measures.pair_sums`). A pair uses the questions that both raters answered.

Edge cases. If a kappa is not defined in a resample (one category), it is NaN and not used for the
percentiles. If one rater is constant, kappa is 0.

Source: Vanbelle S, Albert A, Br J Math Stat Psychol 2008;61:369-378 (bootstrap for dependent kappas).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.pair_sums import PairSums
from measures.pairs import Matrix

#: Maximum number of counts that are held at once.
_MAX_COUNTS = 4_000_000


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
    row_sets = [np.arange(len(answers))] if strata is None else strata
    kappas = np.empty((resamples, len(row_sets), len(pairs)))
    padded_weights = np.zeros((len(weights) + 1, len(weights) + 1))
    padded_weights[:-1, :-1] = weights
    start = 0
    for counts in _draw_resample_counts(len(answers), clusters, seed, resamples):
        end = start + counts.shape[1]
        for index, rows in enumerate(row_sets):
            codes_by_rater = np.ascontiguousarray(np.where(answers[rows] < 0, len(weights), answers[rows]).T)
            agreements = np.empty((len(pairs), len(rows)))
            for pair_index, (a, b) in enumerate(pairs):
                agreements[pair_index] = padded_weights[codes_by_rater[a], codes_by_rater[b]]
            sums = PairSums(answers[rows], counts[rows], k=len(weights))
            kappas[start:end, index] = _compute_kappas(sums, agreements, pairs, weights).T
        start = end
    return kappas


def _compute_kappas(
    sums: PairSums, agreements: Matrix, pairs: Sequence[tuple[int, int]], weights: Matrix
) -> Matrix:
    """Compute the kappas of one stratum, shape (pairs, resamples)."""
    categories = sums.used_categories
    weights = weights[np.ix_(categories, categories)]
    is_nominal = np.count_nonzero(weights) == len(weights)
    kappas = sums.sum_agreements(agreements)
    last_common, n, squared_n = b"", np.zeros(0), np.zeros(0)
    for index, (a, b) in enumerate(pairs):
        common = sums.find_common(a, b)
        first, second = (sums.sum_answers(rater, common, categories) for rater in (a, b))
        if common != last_common:  # most pairs have the same questions in common
            last_common, n = common, first.sum(axis=0)
            squared_n = n**2
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = np.einsum("kd,kd->d", first if is_nominal else weights.T @ first, second) / squared_n
            one_minus_chance = 1.0 - chance
            kappa = (kappas[index] / n - chance) / one_minus_chance
        kappa[one_minus_chance < 1e-6] = np.nan
        kappas[index] = kappa
    return kappas


def _draw_resample_counts(
    questions: int, clusters: NDArray[np.int64] | None, seed: int, resamples: int
) -> Iterator[Matrix]:
    """Draw how often each question is in some of the resamples, shape (questions, some resamples)."""
    random = np.random.default_rng(seed)
    cluster_index, n_clusters = renumber_clusters(np.arange(questions) if clusters is None else clusters)
    step = max(1, _MAX_COUNTS // max(1, questions))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        counts = random.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=size)
        yield np.ascontiguousarray(counts.T[cluster_index], dtype=np.float64)
