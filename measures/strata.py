"""Estimates for a whole dataset from a stratified sample, weighted by stratum size.

Conventions. A stratum has ``size`` questions, of which ``reviewed`` were drawn and judged and ``hits`` had
the property (an error). The estimate weights each stratum's rate by its size. The unweighted rate is biased
if strata were sampled at different rates. The standard error has the finite-population correction and divides
by n - 1. A completely judged stratum contributes no error.

The interval. Each stratum's rate is drawn from its Jeffreys posterior, Beta(hits + 1/2, others + 1/2). The
number of hits among the questions that were not judged is drawn at that rate and added to the observed hits.
The limits are quantiles of the resulting rate of the whole dataset. If several questions belong to one exam,
the counts are divided by the design effect.

Edge cases. If a stratum has no judged question, there is no estimate, and the note contains the stratum. If a
stratum has one judged question, there is no standard error. Skipped questions count as not judged; ``bounds``
contains the rates if none of them and if all of them were hits.

Sources: Cochran WG, Sampling Techniques, 3rd ed., 1977, ch. 5; Lohr SL, Sampling: Design and Analysis, 1999;
Brown LD, Cai TT, DasGupta A, Stat Sci 2001;16:101-133 (Jeffreys).
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

#: Number of posterior draws for an interval.
DRAWS = 20_000


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
    seed: int,
    design_effect: float = 1.0,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
) -> StratifiedRate:
    """Estimate the rate of hits in all strata together from a stratified sample.

    Args:
        strata: all strata of the dataset, including those without a sampled question.
        seed: the seed of the draws.
        design_effect: the result of :func:`exam_design_effect`, 1 or more.
        draws: the number of posterior draws.
        confidence: the confidence level of the interval.

    Returns:
        The rate, 0 to 1, weighted by stratum size. It is not defined if a stratum has no judged question.

    >>> strata = [StratumCount(name="a", size=900, reviewed=50, hits=5),
    ...           StratumCount(name="b", size=100, reviewed=50, hits=25)]
    >>> result = stratified_rate(strata, seed=1)
    >>> (round(result.estimate, 3), result.unweighted)
    (0.14, 0.3)
    """
    filled = [stratum for stratum in strata if stratum.size]
    size, reviewed = sum(stratum.size for stratum in filled), sum(stratum.reviewed for stratum in filled)
    pooled = sum(stratum.hits for stratum in filled) / reviewed if reviewed else None
    empty = [stratum.name for stratum in filled if stratum.reviewed == 0]
    if empty or not filled:
        note = f"not defined: nothing judged in {', '.join(empty)}" if empty else "not defined: no question"
        return StratifiedRate(
            reviewed=reviewed, size=size, estimate=None, se=None, low=None, high=None, unweighted=pooled,
            note=note,
        )  # fmt: skip
    rates = [stratum.hits / stratum.reviewed for stratum in filled]
    estimate = sum(stratum.size * rate for stratum, rate in zip(filled, rates, strict=True)) / size
    low, high = _posterior_limits(filled, effect=design_effect, seed=seed, draws=draws, confidence=confidence)
    return StratifiedRate(
        reviewed=reviewed,
        size=size,
        estimate=estimate,
        se=_standard_error(filled, rates, size, design_effect),
        low=min(low, estimate),
        high=max(high, estimate),
        unweighted=pooled,
        bounds=_bounds(filled, size),
        design_effect=design_effect,
        note="clustered by exam" if design_effect > 1 else "",
    )


def exam_design_effect(
    hits: Sequence[bool] | NDArray[np.bool_],
    strata: Sequence[int] | NDArray[np.int64],
    exams: Sequence[int] | NDArray[np.int64],
    weights: Sequence[float] | NDArray[np.float64],
) -> float:
    """Compute the design effect of exams on the weighted rate.

    It is the variance clustered by exam divided by the variance of independent questions.

    Args:
        hits: whether each judged question has the property.
        strata: the stratum number of each question.
        exams: the exam number of each question; an exam may have questions in several strata.
        weights: for each question, the stratum size divided by the number of judged questions in the stratum.

    Returns:
        1 or more; 1 if each question has its own exam, or if all questions of each stratum are equal.
    """
    values, question_strata = np.asarray(hits, dtype=np.float64), np.asarray(strata)
    influence = np.empty(len(values))
    for stratum_number in np.unique(question_strata):
        in_stratum = question_strata == stratum_number
        influence[in_stratum] = values[in_stratum] - values[in_stratum].mean()
    influence *= np.asarray(weights, dtype=np.float64)
    cluster_index, _ = renumber_clusters(exams)
    independent = float(np.sum(influence**2))
    clustered = float(np.sum(np.bincount(cluster_index, weights=influence) ** 2))
    return max(1.0, clustered / independent) if independent > 0 else 1.0


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


def _standard_error(
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


def _posterior_limits(
    strata: Sequence[StratumCount], *, effect: float, seed: int, draws: int, confidence: float
) -> tuple[float, float]:
    random = np.random.default_rng(seed)
    total_hits = np.zeros(draws)
    size = sum(stratum.size for stratum in strata)
    for stratum in strata:
        hits, misses = stratum.hits / effect, (stratum.reviewed - stratum.hits) / effect
        rate = random.beta(hits + 0.5, misses + 0.5, size=draws)
        total_hits += stratum.hits + random.binomial(stratum.size - stratum.reviewed, rate)
    low, high = np.quantile(total_hits / size, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return float(low), float(high)


def _bounds(strata: Sequence[StratumCount], size: int) -> tuple[float, float] | None:
    """Compute the rates if no skipped question is a hit and if all are; None if no question was skipped."""
    if not any(stratum.skipped for stratum in strata):
        return None
    minimum = sum(stratum.size * stratum.hits / (stratum.reviewed + stratum.skipped) for stratum in strata)
    maximum = sum(
        stratum.size * (stratum.hits + stratum.skipped) / (stratum.reviewed + stratum.skipped)
        for stratum in strata
    )
    return minimum / size, maximum / size
