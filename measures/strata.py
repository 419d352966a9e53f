"""Estimates for a whole dataset from a stratified sample, weighted by stratum size.

Conventions. A stratum has ``size`` questions, of which ``reviewed`` were drawn and judged and ``hits`` had
the property (an error). The estimate weights each stratum's rate by its size. The unweighted rate is biased
if strata were sampled at different rates. The standard error has the finite-population correction and divides
by n - 1. A completely judged stratum contributes no error.

The interval. It is Clopper and Pearson's interval at the effective sample size, as Korn and Graubard use it
for surveys. The effective size is estimate x (1 - estimate) / variance. Three rules limit it:

- In the variance, one question at the overall rate is added to each stratum. A stratum without a hit then has
  a variance, and a stratum with one judged question can be used.
- The effective size is at most Kish's, which assumes equal rates in all strata: 1 / sum(weight^2 x (1 - n /
  size) / n). Without a hit or without a miss it is Kish's.
- If several questions belong to one patient or exam, the effective size is divided by the design effect.

Completely judged strata are certain, so the interval is computed for the other strata and the certain hits
are added. The limits are never below the rate of the observed hits in the dataset, nor above 1 minus the rate
of the observed misses. A limit equals the estimate only if the rate cannot lie beyond it. The method was
chosen by simulation (``docs/coverage.md``).

Edge cases. If a stratum has no judged question, there is no estimate, and the note contains the stratum. If a
stratum has one judged question, there is no standard error. Skipped questions count as not judged; ``bounds``
contains the rates if none of them and if all of them were hits.

Sources: Cochran WG, Sampling Techniques, 3rd ed., 1977, ch. 5; Lohr SL, Sampling: Design and Analysis, 1999;
Korn EL, Graubard BI, Surv Methodol 1998;24:193-201; Kish L, Survey Sampling, 1965; Clopper CJ, Pearson ES,
Biometrika 1934;26:404-413.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.proportions import CONFIDENCE

#: Weight, in hits, of the assumption that all questions of a cluster are equal, in the design effect.
EXAM_PRIOR_HITS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumCount:
    """The counts of one stratum. ``skipped`` questions were drawn but not judged.

    Raises:
        ValueError: the counts contradict each other.
    """

    name: str
    size: int
    reviewed: int
    hits: int
    skipped: int = 0

    def __post_init__(self) -> None:
        if not (0 <= self.hits <= self.reviewed and self.reviewed + self.skipped <= self.size):
            raise ValueError(
                f"stratum {self.name}: contradictory counts: {self.hits} hits, {self.reviewed} reviewed, "
                f"{self.skipped} skipped, size {self.size}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class StratifiedRate:
    """The rate in the whole dataset, 0 to 1, or None with the reason in ``note``.

    ``unweighted`` is the rate among the judged questions, for comparison only. ``bounds`` contains the rates
    if no skipped question is a hit and if all are; it is None if no question was skipped.
    """

    reviewed: int
    size: int
    estimate: float | None
    se: float | None
    low: float | None
    high: float | None
    unweighted: float | None
    bounds: tuple[float, float] | None = None
    design_effect: float = 1.0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StratifiedMean:
    """Mean and total of the whole dataset from a stratified sample, with Student's interval of the mean.

    The degrees of freedom ``df`` are the number of sampled questions minus the number of strata.
    """

    n: int
    mean: float
    se: float
    low: float
    high: float
    total: float
    total_se: float
    df: int


def stratified_rate(
    strata: Sequence[StratumCount],
    *,
    design_effect: float = 1.0,
    confidence: float = CONFIDENCE,
) -> StratifiedRate:
    """Estimate the rate of hits in all strata together from a stratified sample.

    Args:
        strata: all strata of the dataset, including those without a sampled question.
        design_effect: the result of :func:`cluster_design_effect`, 1 or more.
        confidence: the confidence level of the interval.

    Returns:
        The rate, 0 to 1, weighted by stratum size. It is not defined if a stratum has no judged question.

    >>> strata = [StratumCount(name="a", size=900, reviewed=50, hits=5),
    ...           StratumCount(name="b", size=100, reviewed=50, hits=25)]
    >>> result = stratified_rate(strata)
    >>> (round(result.estimate, 3), round(result.low, 3), round(result.high, 3), result.unweighted)
    (0.14, 0.066, 0.249, 0.3)
    """
    nonempty = [stratum for stratum in strata if stratum.size]
    size, reviewed = sum(stratum.size for stratum in nonempty), sum(stratum.reviewed for stratum in nonempty)
    unweighted = sum(stratum.hits for stratum in nonempty) / reviewed if reviewed else None
    unjudged = [stratum.name for stratum in nonempty if stratum.reviewed == 0]
    if unjudged or not nonempty:
        note = (
            f"not defined: nothing judged in {', '.join(unjudged)}"
            if unjudged
            else "not defined: no question"
        )
        return StratifiedRate(
            reviewed=reviewed, size=size, estimate=None, se=None, low=None, high=None, unweighted=unweighted,
            note=note,
        )  # fmt: skip
    rates = [stratum.hits / stratum.reviewed for stratum in nonempty]
    estimate = sum(stratum.size * rate for stratum, rate in zip(nonempty, rates, strict=True)) / size
    low, high = stratified_limits(
        np.array([stratum.hits for stratum in nonempty]),
        np.array([stratum.reviewed for stratum in nonempty]),
        np.array([stratum.size for stratum in nonempty]),
        design_effect=design_effect,
        confidence=confidence,
    )
    return StratifiedRate(
        reviewed=reviewed,
        size=size,
        estimate=estimate,
        se=_compute_standard_error(nonempty, rates, size, design_effect),
        low=float(low),
        high=float(high),
        unweighted=unweighted,
        bounds=_compute_bounds(nonempty, size),
        design_effect=design_effect,
        note="clustered by patient" if design_effect > 1 else "",
    )


def stratified_limits(
    hits: NDArray[np.int64],
    reviewed: NDArray[np.int64],
    sizes: NDArray[np.int64],
    *,
    design_effect: float | NDArray[np.float64] = 1.0,
    confidence: float = CONFIDENCE,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the limits of the rate in all strata together, for one or many samples of the same plan.

    Args:
        hits: the number of hits, shape (..., strata).
        reviewed: the number of judged questions of each stratum, 1 or more, shape (strata,).
        sizes: the number of questions of each stratum, shape (strata,).
        design_effect: the design effect of clusters, 1 or more, shape (...).
        confidence: the confidence level of the interval.

    Returns:
        The lower and the upper limits, 0 to 1, each of shape (...).

    Source: Korn EL, Graubard BI, Surv Methodol 1998;24:193-201, with the rules of this module.
    """
    size, judged_hits = sizes.sum(), hits.sum(axis=-1)
    least, most = judged_hits / size, (size - reviewed.sum() + judged_hits) / size
    is_open = reviewed < sizes
    if not is_open.any():
        return least, most
    open_hits, open_reviewed, open_sizes = hits[..., is_open], reviewed[is_open], sizes[is_open]
    certain_hits, open_size = judged_hits - open_hits.sum(axis=-1), open_sizes.sum()
    rate = (open_hits / open_reviewed) @ (open_sizes / open_size)
    effective_size = _compute_effective_size(open_hits, open_reviewed, open_sizes, rate) / design_effect
    count, tail = rate * effective_size, (1 - confidence) / 2
    has_hit, has_miss = open_hits.sum(axis=-1) > 0, open_hits.sum(axis=-1) < open_reviewed.sum()
    low = scipy.special.betaincinv(np.where(has_hit, count, 1.0), effective_size - count + 1, tail)
    high = scipy.special.betaincinv(count + 1, np.where(has_miss, effective_size - count, 1.0), 1 - tail)
    low, high = np.where(has_hit, low, 0.0), np.where(has_miss, high, 1.0)
    return (
        np.maximum(least, (certain_hits + open_size * low) / size),
        np.minimum(most, (certain_hits + open_size * high) / size),
    )


def cluster_design_effect(
    hits: Sequence[bool] | NDArray[np.bool_],
    strata: Sequence[int] | NDArray[np.int64],
    clusters: Sequence[int] | NDArray[np.int64],
    weights: Sequence[float] | NDArray[np.float64],
) -> float:
    """Compute the design effect of patients or exams on the weighted rate.

    It is the clustered variance divided by the variance of independent questions, each corrected for the
    estimated rates of the strata, as in R's survey package. Few hits estimate it badly, so it is averaged
    with the design effect of clusters whose questions are all equal, which counts as half a hit.

    Args:
        hits: whether each judged question has the property.
        strata: the stratum number of each question.
        clusters: the patient or exam of each question; a cluster may have questions in several strata.
        weights: for each question, the stratum size divided by the number of judged questions in the stratum.

    Returns:
        1 or more; 1 if each question has its own cluster.

    >>> cluster_design_effect([False] * 6, [0] * 6, [1, 1, 2, 2, 3, 3], [1.0] * 6)
    2.0
    """
    values, question_weights = np.asarray(hits, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    stratum_index, n_strata = renumber_clusters(strata)
    cluster_index, n_clusters = renumber_clusters(clusters)
    if n_clusters == len(values):
        return 1.0
    stratum_counts = np.bincount(stratum_index)
    rates = np.bincount(stratum_index, weights=values) / stratum_counts
    influence = question_weights * (values - rates[stratum_index])
    _, part_index, part_counts = np.unique(
        cluster_index * n_strata + stratum_index, return_inverse=True, return_counts=True
    )
    n_in_stratum = stratum_counts[stratum_index]
    independent_variance = float(np.sum(influence**2 / _compute_residual_share(1, n_in_stratum)))
    clustered_influence = influence / np.sqrt(_compute_residual_share(part_counts[part_index], n_in_stratum))
    clustered_variance = _sum_of_squares(clustered_influence, cluster_index)
    effect_if_equal = _sum_of_squares(question_weights, cluster_index) / float(np.sum(question_weights**2))
    if independent_variance <= 0:
        return max(1.0, effect_if_equal)
    n_rarer = min(values.sum(), len(values) - values.sum())
    effect = (n_rarer * clustered_variance / independent_variance + EXAM_PRIOR_HITS * effect_if_equal) / (
        n_rarer + EXAM_PRIOR_HITS
    )
    return max(1.0, float(effect))


def _compute_residual_share(n_removed: int | NDArray[np.int64], n: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share of a variance that remains after the mean of ``n`` questions was subtracted."""
    share: NDArray[np.float64] = 1 - n_removed / n
    return np.where(share > 0, share, 1.0)


def _sum_of_squares(values: NDArray[np.float64], cluster_index: NDArray[np.int64]) -> float:
    return float(np.sum(np.bincount(cluster_index, weights=values) ** 2))


def stratified_mean(
    values: Sequence[NDArray[np.float64]], sizes: Sequence[int], *, confidence: float = CONFIDENCE
) -> StratifiedMean:
    """Estimate the mean and total of a quantity that was measured on the sampled questions.

    Args:
        values: one array per stratum with two or more values in any unit.
        sizes: the number of questions of each stratum, in the same order.
        confidence: the confidence level of Student's interval.

    Returns:
        The mean in the unit of the values, and the total over all questions of the dataset.

    Raises:
        ValueError: there is no stratum, or a stratum has fewer than two values.

    Source: Lohr SL, Sampling: Design and Analysis, 1999, ch. 4.

    >>> result = stratified_mean([np.array([1.0, 3.0]), np.array([10.0, 10.0])], [30, 10])
    >>> (result.mean, result.total)
    (4.0, 160.0)
    """
    if not values or any(len(stratum_values) < 2 for stratum_values in values):
        raise ValueError("values must contain at least one stratum, and each stratum at least two values")
    size = sum(sizes)
    mean = (
        sum(n * float(stratum_values.mean()) for stratum_values, n in zip(values, sizes, strict=True)) / size
    )
    variance = sum(
        (n / size) ** 2
        * (1 - len(stratum_values) / n)
        * float(stratum_values.var(ddof=1))
        / len(stratum_values)
        for stratum_values, n in zip(values, sizes, strict=True)
    )
    se, count = math.sqrt(variance), sum(len(stratum_values) for stratum_values in values)
    degrees = count - len(values)
    half_width = float(scipy.special.stdtrit(degrees, 0.5 + confidence / 2)) * se
    return StratifiedMean(
        n=count, mean=mean, se=se, low=mean - half_width, high=mean + half_width, total=size * mean,
        total_se=size * se, df=degrees,
    )  # fmt: skip


def _compute_standard_error(
    strata: Sequence[StratumCount], rates: Sequence[float], size: int, effect: float
) -> float | None:
    variance = 0.0
    for stratum, rate in zip(strata, rates, strict=True):
        unsampled_share = 1 - stratum.reviewed / stratum.size
        if unsampled_share == 0:
            continue
        if stratum.reviewed < 2:
            return None
        variance += (stratum.size / size) ** 2 * unsampled_share * rate * (1 - rate) / (stratum.reviewed - 1)
    return math.sqrt(variance * effect)


def _compute_effective_size(
    hits: NDArray[np.int64], reviewed: NDArray[np.int64], sizes: NDArray[np.int64], rate: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute the effective sample size of the weighted rate, at most Kish's."""
    weights = sizes / sizes.sum()
    variance_weights = weights**2 * (1 - reviewed / sizes) / reviewed
    kish_size = 1 / float(variance_weights.sum())
    smoothed = (hits + rate[..., None]) / (reviewed + 1)
    # The rate of n questions and one more has 1 - n / (n + 1)^2 of the binomial variance as its expectation.
    variance = (smoothed * (1 - smoothed) / (1 - reviewed / (reviewed + 1) ** 2)) @ variance_weights
    binomial_variance = rate * (1 - rate)
    # Without a hit or without a miss both variances are 0. The comparison avoids the division.
    has_more_variance = variance > binomial_variance / kish_size
    return np.where(
        has_more_variance, binomial_variance / np.where(has_more_variance, variance, 1.0), kish_size
    )


def _compute_bounds(strata: Sequence[StratumCount], size: int) -> tuple[float, float] | None:
    """Compute the rates if no skipped question is a hit and if all are; None if no question was skipped."""
    if not any(stratum.skipped for stratum in strata):
        return None
    minimum = sum(stratum.size * stratum.hits / (stratum.reviewed + stratum.skipped) for stratum in strata)
    maximum = sum(
        stratum.size * (stratum.hits + stratum.skipped) / (stratum.reviewed + stratum.skipped)
        for stratum in strata
    )
    return minimum / size, maximum / size
