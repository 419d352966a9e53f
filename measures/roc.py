"""Area under the empirical ROC curve (AUC) of readers and models, and its comparison over readers and cases.

Conventions. ``truth`` (cases,) is 1 for positive and 0 for negative cases. Scores have shape (cases, readers)
and are NaN where not read; a higher score means that the case is more likely to be positive. Ties count half.

The covariance over cases is DeLong's, or the jackknife's. If cases share clusters (patients or exams),
DeLong's placements are summed by cluster. Readers and cases are random in Obuchowski-Rockette's analysis and
in the analysis by U-statistics. The latter uses unbiased moments of products of two comparisons of a positive
with a negative case: one moment for each set of indices (reader, positive case, negative case) that the two
comparisons have in common.

Edge cases. A reader without a positive or without a negative case has no AUC and is left out. If an AUC is 0
or 1, it has no standard error. U-statistics need independent cases.

Sources: DeLong ER, DeLong DM, Clarke-Pearson DL, Biometrics 1988;44:837-845; Obuchowski NA, Biometrics
1997;53:567-578 (clusters); Obuchowski NA, Rockette HE, Commun Stat Simul 1995;24:285-308; Gallas BD, Acad
Radiol 2006;13:353-362 and Gallas BD, Bandos A, Samuelson FW, Wagner RF, Commun Stat Theory Methods
2009;38:2586-2603 (U-statistics).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from statistics import NormalDist

import numpy as np
import scipy
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.estimate import Estimate
from measures.mrmc import (
    Matrix,
    build_comparison,
    fixed_case_analysis,
    fixed_readers,
    obuchowski_rockette,
)
from measures.proportions import CONFIDENCE
from measures.results import MrmcComparison

#: U-statistics are computed up to this number of pairs of a positive and a negative case.
MAX_PAIRS = 25_000_000
_INDICES = ("positive", "negative", "reader")


@dataclass(frozen=True, slots=True, kw_only=True)
class AucFigures:
    """The AUC of each reader, shape (readers,), and ``influence``, shape (cases or clusters, readers).

    The covariance of the AUCs over cases is ``influence.T @ influence``. ``values`` is NaN for a reader
    without a positive or negative case.
    """

    values: Matrix
    influence: Matrix

    @property
    def covariance(self) -> Matrix:
        """The covariance of the AUCs over cases, shape (readers, readers)."""
        covariance: Matrix = self.influence.T @ self.influence
        return covariance


def compute_aucs(
    truth: NDArray[np.int64],
    scores: Matrix,
    *,
    clusters: NDArray[np.int64] | None = None,
    jackknife: bool = False,
) -> AucFigures:
    """Compute the AUC of each reader, with the influence of each case.

    Args:
        truth: 1 for positive, 0 for negative, shape (cases,).
        scores: shape (cases, readers), NaN where not read.
        clusters: the exam or patient number of each case; None if all cases are independent.
        jackknife: whether the covariance is the jackknife's instead of DeLong's; not with clusters.

    Raises:
        ValueError: the jackknife is requested with clusters.

    >>> figures = compute_aucs(np.array([1, 1, 0, 0]), np.array([[3.0], [2.0], [2.0], [1.0]]))
    >>> float(figures.values[0])
    0.875
    """
    if jackknife and clusters is not None:
        raise ValueError("the jackknife is not available for clusters")
    columns = [_compute_auc(truth, column, clusters, jackknife=jackknife) for column in scores.T]
    return AucFigures(
        values=np.array([value for value, _ in columns]),
        influence=np.stack([influence for _, influence in columns], axis=1)
        if columns
        else np.zeros((len(truth), 0)),
    )


def auc_estimate(figures: AucFigures, reader: int, *, n: int, confidence: float = CONFIDENCE) -> Estimate:
    """Return the AUC of one reader with its interval, which is symmetric on the logit scale.

    Args:
        figures: the AUCs.
        reader: the column of the reader.
        n: the number of cases, which is part of the result.
        confidence: the confidence level of the interval.
    """
    value = float(figures.values[reader])
    if math.isnan(value):
        return Estimate(n=n, note="not defined: no positive or no negative case")
    se = float(np.linalg.norm(figures.influence[:, reader]))
    if not 0 < value < 1 or not 0 < se < math.inf:
        return Estimate(n=n, value=value, note="no interval: the scores separate the cases completely")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    logit, width = math.log(value / (1 - value)), z * se / (value * (1 - value))
    low, high = (1 / (1 + math.exp(-limit)) for limit in (logit - width, logit + width))
    return Estimate(n=n, value=value, se=se, low=low, high=high, method="DeLong, logit")


def compare_auc_with_model(
    truth: NDArray[np.int64],
    readers: Matrix,
    model: Matrix,
    *,
    clusters: NDArray[np.int64] | None = None,
    random_readers: bool = True,
    jackknife: bool = False,
    confidence: float = CONFIDENCE,
) -> MrmcComparison:
    """Compare the mean AUC of the readers with that of a model on the same cases.

    For random readers the method is Obuchowski-Rockette if each reader read each case or if cases share
    clusters, otherwise U-statistics.

    Args:
        truth: 1 for positive, 0 for negative, shape (cases,).
        readers: scores, shape (cases, readers), NaN where not read.
        model: scores, shape (cases,), NaN where missing.
        clusters: the exam or patient number of each case; None if all cases are independent.
        random_readers: whether the result should also hold for other, similar readers.
        jackknife: whether the covariance is the jackknife's instead of DeLong's.
        confidence: the confidence level of the interval.

    Returns:
        Mean AUC of the readers minus that of the model, -1 to 1.
    """
    model_scores = np.where(np.isnan(readers), np.nan, model[:, None])
    results = _compare(
        truth,
        np.where(np.isnan(model_scores), np.nan, readers),
        model_scores,
        clusters=clusters,
        jackknife=jackknife,
        as_differences=True,
        confidence=confidence,
    )
    if not results:
        return MrmcComparison(
            readers=0, cases=0, difference=None, random_readers=random_readers,
            note="not defined: no reader and model with scores of positive and negative cases",
        )  # fmt: skip
    if not random_readers:
        return next(result for result in results if not result.random_readers)
    return results[0]


def compare_auc_of_arms(
    truth: NDArray[np.int64],
    first: Matrix,
    second: Matrix,
    *,
    clusters: NDArray[np.int64] | None = None,
    jackknife: bool = False,
    confidence: float = CONFIDENCE,
) -> tuple[MrmcComparison, ...]:
    """Compare the mean AUC of the readers in two arms.

    Args:
        truth: 1 for positive, 0 for negative, shape (cases,).
        first: scores in the first arm, shape (cases, readers), NaN where not read.
        second: scores in the second arm, same shape.
        clusters: the exam or patient number of each case; None if all cases are independent.
        jackknife: whether the covariance is the jackknife's instead of DeLong's.
        confidence: the confidence level of the intervals.

    Returns:
        First arm minus second arm: Obuchowski-Rockette (if each reader read each case in both arms or cases
        share clusters), U-statistics (without clusters), fixed readers, fixed cases. All but the U-statistics
        use the readers with an AUC in both arms. Empty if there is none.
    """
    return _compare(
        truth,
        first,
        second,
        clusters=clusters,
        jackknife=jackknife,
        as_differences=False,
        confidence=confidence,
    )


def analyse_mean_auc(
    truth: NDArray[np.int64],
    readers: Matrix,
    *,
    clusters: NDArray[np.int64] | None = None,
    random_readers: bool = True,
    jackknife: bool = False,
    confidence: float = CONFIDENCE,
) -> MrmcComparison:
    """Analyse the mean AUC of the readers, by the methods of :func:`compare_auc_with_model`.

    Args:
        truth: 1 for positive, 0 for negative, shape (cases,).
        readers: scores, shape (cases, readers), NaN where not read.
        clusters: the exam or patient number of each case; None if all cases are independent.
        random_readers: whether the result should also hold for other, similar readers.
        jackknife: whether the covariance is the jackknife's instead of DeLong's.
        confidence: the confidence level of the interval.

    Returns:
        The mean AUC as ``difference``; p tests an AUC of 0.
    """
    figures = compute_aucs(truth, readers, clusters=clusters, jackknife=jackknife)
    is_defined = ~np.isnan(figures.values)
    if not is_defined.any():
        return MrmcComparison(
            readers=0, cases=0, difference=None, random_readers=random_readers,
            note="not defined: no reader with scores of positive and negative cases",
        )  # fmt: skip
    scores = readers[:, is_defined]
    has_reading = np.any(~np.isnan(scores), axis=1)
    results = _analyse(
        truth,
        AucFigures(values=figures.values[is_defined], influence=figures.influence[:, is_defined]),
        [_Arm(scores=scores, subtracted=None)],
        has_reading=has_reading,
        is_fully_crossed=not np.isnan(scores[has_reading]).any(),
        clusters=clusters,
        jackknife=jackknife,
        confidence=confidence,
    )
    if not random_readers:
        return next(result for result in results if not result.random_readers)
    return results[0]


def mean_auc_of_readers(
    truth: NDArray[np.int64], scores: Matrix, *, confidence: float = CONFIDENCE
) -> MrmcComparison:
    """Estimate the mean AUC of the readers by U-statistics, with readers and cases random.

    Args:
        truth: 1 for positive, 0 for negative, shape (cases,).
        scores: shape (cases, readers), NaN where not read; cases are independent.
        confidence: the confidence level of the interval.

    Returns:
        The mean AUC as ``difference``, weighted by the pairs of cases of each reader; p tests an AUC of 0.
    """
    return _compute_u_statistic(truth, [_Arm(scores=scores, subtracted=None)], confidence)


def _compare(
    truth: NDArray[np.int64],
    first: Matrix,
    second: Matrix,
    *,
    clusters: NDArray[np.int64] | None,
    jackknife: bool,
    as_differences: bool,
    confidence: float,
) -> tuple[MrmcComparison, ...]:
    figures = [compute_aucs(truth, arm, clusters=clusters, jackknife=jackknife) for arm in (first, second)]
    has_both_aucs = ~np.isnan(figures[0].values - figures[1].values)
    if not has_both_aucs.any():
        return ()
    has_reading = np.any(~(np.isnan(first[:, has_both_aucs]) & np.isnan(second[:, has_both_aucs])), axis=1)
    return _analyse(
        truth,
        AucFigures(
            values=(figures[0].values - figures[1].values)[has_both_aucs],
            influence=(figures[0].influence - figures[1].influence)[:, has_both_aucs],
        ),
        [_Arm(scores=first, subtracted=second)]
        if as_differences
        else [_Arm(scores=first, subtracted=None), _Arm(scores=second, subtracted=None)],
        has_reading=has_reading,
        is_fully_crossed=not np.isnan(first[has_reading] - second[has_reading]).any(),
        clusters=clusters,
        jackknife=jackknife,
        confidence=confidence,
    )


def _analyse(
    truth: NDArray[np.int64],
    figures: AucFigures,
    arms: Sequence[_Arm],
    *,
    has_reading: NDArray[np.bool_],
    is_fully_crossed: bool,
    clusters: NDArray[np.int64] | None,
    jackknife: bool,
    confidence: float,
) -> tuple[MrmcComparison, ...]:
    """Analyse the readers' AUCs, or their differences, with each method that fits."""
    cases, values = int(has_reading.sum()), figures.values
    covariance = figures.influence.T @ figures.influence
    n_clusters = cases if clusters is None else len(np.unique(clusters[has_reading]))
    covariance_name = "jackknife" if jackknife else "DeLong"
    results = []
    if is_fully_crossed or clusters is not None:
        result = obuchowski_rockette(values, covariance, cases=cases, confidence=confidence)
        results.append(replace(result, method=f"{result.method} ({covariance_name})"))
    if clusters is None and int((truth == 1).sum()) * int((truth == 0).sum()) <= MAX_PAIRS:
        results.append(_compute_u_statistic(truth, arms, confidence))
    fixed = fixed_readers(values, covariance, cases=cases, n_clusters=n_clusters, confidence=confidence)
    results.append(replace(fixed, method=f"{fixed.method} ({covariance_name})"))
    results.append(fixed_case_analysis(values, cases=cases, confidence=confidence))
    return tuple(results)


def _compute_auc(
    truth: NDArray[np.int64],
    scores: Matrix,
    clusters: NDArray[np.int64] | None,
    *,
    jackknife: bool,
) -> tuple[float, Matrix]:
    """Return the AUC and the influence of each case or cluster, shape (cases or clusters,)."""
    is_known = ~np.isnan(scores)
    is_positive, is_negative = is_known & (truth == 1), is_known & (truth == 0)
    m, n = int(is_positive.sum()), int(is_negative.sum())
    cluster_index, n_clusters = (
        (np.arange(len(truth)), len(truth)) if clusters is None else renumber_clusters(clusters)
    )
    if not m or not n:
        return math.nan, np.zeros(n_clusters)
    is_compared = is_positive | is_negative
    overall_ranks = np.zeros(len(truth))
    overall_ranks[is_compared] = scipy.stats.rankdata(scores[is_compared])
    group_ranks = np.zeros(len(truth))
    for group in (is_positive, is_negative):
        group_ranks[group] = scipy.stats.rankdata(scores[group])
    # The placement of a positive case is the share of negative cases below it, and the reverse.
    placements = np.where(
        is_positive, (overall_ranks - group_ranks) / n, 1 - (overall_ranks - group_ranks) / m
    )
    auc = float(placements[is_positive].mean())
    total_influence = np.zeros(n_clusters)
    for group, size in ((is_positive, m), (is_negative, n)):
        influence = np.where(group, placements - auc, 0.0)
        sums = np.bincount(cluster_index, weights=influence, minlength=n_clusters)
        n_group_clusters = len(np.unique(cluster_index[group]))
        if jackknife:
            total_influence += sums / max(1, size - 1) * math.sqrt((m + n - 1) / (m + n))
        else:
            total_influence += sums / size * math.sqrt(n_group_clusters / max(1, n_group_clusters - 1))
    return auc, total_influence


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arm:
    """The scores of an arm; ``subtracted`` are the scores of a model whose comparisons are subtracted."""

    scores: Matrix
    subtracted: Matrix | None

    def compare_pairs(self, reader: int, positive: NDArray[np.int64], negative: NDArray[np.int64]) -> Matrix:
        """Return 1, 1/2 or 0 (or a difference of these) for each positive with each negative case, or NaN."""
        pairs = _compare_pairs(self.scores[positive, reader], self.scores[negative, reader])
        if self.subtracted is not None:
            pairs = pairs - _compare_pairs(
                self.subtracted[positive, reader], self.subtracted[negative, reader]
            )
        return pairs


def _compare_pairs(positive: Matrix, negative: Matrix) -> Matrix:
    difference = positive[:, None] - negative[None, :]
    pairs: Matrix = np.where(np.isnan(difference), np.nan, (np.sign(difference) + 1) / 2)
    return pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class _Margins:
    """Sums of an array with the indices positive, negative and reader; keys are the indices that are kept."""

    sums: dict[tuple[str, ...], NDArray[np.float64]]


def _compute_u_statistic(truth: NDArray[np.int64], arms: Sequence[_Arm], confidence: float) -> MrmcComparison:
    """Analyse the AUC, or its difference between arms, with readers and cases random."""
    positive, negative = np.flatnonzero(truth == 1), np.flatnonzero(truth == 0)
    readers = arms[0].scores.shape[1]
    values, counts = (
        [_sum_over_indices(arm, positive, negative, readers, counts_pairs=counts_pairs) for arm in arms]
        for counts_pairs in (False, True)
    )
    totals = [float(margins.sums[()]) for margins in counts]
    is_read = np.any([(~np.isnan(arm.scores)) for arm in arms], axis=0)
    cases = int((is_read.any(axis=1) & np.isin(truth, (0, 1))).sum())
    n_readers = int(np.any([margins.sums[("reader",)] > 0 for margins in counts], axis=0).sum())
    if min(totals) == 0:
        return MrmcComparison(
            readers=n_readers, cases=cases, difference=None, method="U-statistic",
            note="not defined: an arm has no positive or no negative case",
        )  # fmt: skip
    signs = (1.0, -1.0)[: len(arms)]
    means = [float(margins.sums[()]) / total for margins, total in zip(values, totals, strict=True)]
    difference = sum(sign * mean for sign, mean in zip(signs, means, strict=True))
    if n_readers < 2:
        return MrmcComparison(
            readers=n_readers, cases=cases, difference=difference, method="U-statistic",
            note="no interval: only one reader",
        )  # fmt: skip
    variance = 0.0
    for a, b in ((a, b) for a in range(len(arms)) for b in range(len(arms))):
        same_cell = [
            _sum_same_cell(arms[a], arms[b], positive, negative, readers, counts_pairs=counts_pairs)
            for counts_pairs in (False, True)
        ]
        products = _split_by_common_indices(values[a], values[b], same_cell[0])
        pairs = _split_by_common_indices(counts[a], counts[b], same_cell[1])
        baseline = products[()] / pairs[()] if pairs[()] else 0.0
        excess = sum(
            products[common] - pairs[common] * baseline for common in products if common and pairs[common]
        )
        variance += signs[a] * signs[b] * excess / (totals[a] * totals[b])
    by_reader = sum(
        sign * (margins.sums[("reader",)] - mean * pair_counts.sums[("reader",)]) / total
        for sign, margins, pair_counts, mean, total in zip(signs, values, counts, means, totals, strict=True)
    )
    reader_variance = float(np.sum(np.asarray(by_reader) ** 2)) * n_readers / (n_readers - 1)
    note = ""
    if variance <= 0:
        variance, note = reader_variance, "variance between readers: the unbiased variance is not above 0"
    degrees = variance**2 / (reader_variance**2 / (n_readers - 1)) if reader_variance > 0 else math.inf
    return build_comparison(
        difference, math.sqrt(variance), max(degrees, n_readers - 1.0), readers=n_readers, cases=cases,
        confidence=confidence, method="U-statistic", note=note,
    )  # fmt: skip


def _sum_over_indices(
    arm: _Arm, positive: NDArray[np.int64], negative: NDArray[np.int64], readers: int, *, counts_pairs: bool
) -> _Margins:
    """Sum the comparisons of pairs (or count them) over each subset of the three indices."""
    by_pair = np.zeros((len(positive), len(negative)))
    by_positive, by_negative = np.zeros((len(positive), readers)), np.zeros((len(negative), readers))
    for reader in range(readers):
        pairs = arm.compare_pairs(reader, positive, negative)
        pairs = (~np.isnan(pairs)).astype(np.float64) if counts_pairs else np.nan_to_num(pairs)
        by_pair += pairs
        by_positive[:, reader], by_negative[:, reader] = pairs.sum(axis=1), pairs.sum(axis=0)
    return _Margins(
        sums={
            (): by_pair.sum(),
            ("positive",): by_pair.sum(axis=1),
            ("negative",): by_pair.sum(axis=0),
            ("reader",): by_positive.sum(axis=0),
            ("positive", "negative"): by_pair,
            ("positive", "reader"): by_positive,
            ("negative", "reader"): by_negative,
        }
    )


def _sum_same_cell(
    a: _Arm,
    b: _Arm,
    positive: NDArray[np.int64],
    negative: NDArray[np.int64],
    readers: int,
    *,
    counts_pairs: bool,
) -> float:
    """Sum the products of two comparisons with all three indices in common."""
    total = 0.0
    for reader in range(readers):
        first = a.compare_pairs(reader, positive, negative)
        product = first * (first if a is b else b.compare_pairs(reader, positive, negative))
        total += float((~np.isnan(product)).sum() if counts_pairs else np.nansum(product))
    return total


def _split_by_common_indices(a: _Margins, b: _Margins, same_cell: float) -> dict[tuple[str, ...], float]:
    """Return the sums of products of pairs that have exactly these indices in common.

    The sum over the pairs with at least these indices in common is a sum of products of margins; the pairs
    with more indices in common are then subtracted (inclusion-exclusion).
    """
    subsets = list(chain.from_iterable(combinations(_INDICES, size) for size in range(4)))
    at_least = {
        common: same_cell if len(common) == len(_INDICES) else float(np.sum(a.sums[common] * b.sums[common]))
        for common in subsets
    }
    return {
        common: sum(
            (-1) ** (len(superset) - len(common)) * at_least[superset]
            for superset in subsets
            if set(common) <= set(superset)
        )
        for common in subsets
    }
