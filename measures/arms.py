"""Compares two arms of a reader study: the same readers with and without an aid, or different readers.

Conventions. ``first`` and ``second`` have shape (cases, readers): 1 for correct, 0 for incorrect, NaN for not
read in that arm. A positive difference means that the first arm is better. A reader is one column, so that
two arms of the same reader are never counted as two readers.

Four analyses are given:

- Obuchowski-Rockette, readers and cases random. If each reader read each case in both arms, it is the
  one-treatment analysis of the readers' differences, which for two arms equals the two-treatment analysis. If
  each arm has its own readers, readers are nested within arms. Other designs have no such analysis.
- U-statistics, readers and cases random, for all designs.
- Readers fixed, cases random.
- Cases fixed, readers random: a t test over readers.

The same analyses compare the periods and the sequences of a crossover, which checks its assumptions.

Sources: those of :mod:`measures.mrmc`; Hillis SL, Acad Radiol 2014;21:1-10 (readers nested within arms);
Grizzle JE, Biometrics 1965;21:467-480 (period and sequence).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from measures.mrmc import (
    Matrix,
    build_comparison,
    case_influences,
    covariance_of_influences,
    covariance_over_cases,
    fixed_case_analysis,
    fixed_readers,
    obuchowski_rockette,
    u_statistic,
)
from measures.proportions import CONFIDENCE
from measures.results import MrmcComparison

_NESTED = "Obuchowski-Rockette, readers nested within arms"


def compare_arms(
    first: Matrix,
    second: Matrix,
    *,
    clusters: NDArray[np.int64] | None = None,
    confidence: float = CONFIDENCE,
) -> tuple[MrmcComparison, ...]:
    """Compare two arms by all analyses that the design allows.

    Args:
        first: the readings in the first arm, shape (cases, readers), NaN where not read.
        second: the readings in the second arm, same shape.
        clusters: the exam or patient number of each case; None if all cases are independent.
        confidence: the confidence level of the intervals.

    Returns:
        First arm minus second arm: Obuchowski-Rockette (if the design allows it), U-statistics, fixed
        readers, fixed cases. Empty if an arm has no reading.

    >>> first = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1]], dtype=float)
    >>> second = np.array([[0, 1, 0], [1, 0, 1], [0, 0, 1], [1, 0, 0]], dtype=float)
    >>> [(result.method, round(result.difference, 3)) for result in compare_arms(first, second)][:2]
    [('Obuchowski-Rockette', 0.333), ('U-statistic', 0.333)]
    """
    is_read = [~np.isnan(values) for values in (first, second)]
    is_read_case = (is_read[0] | is_read[1]).any(axis=1)
    is_active_reader = (is_read[0] | is_read[1]).any(axis=0)
    if not is_read[0].any() or not is_read[1].any():
        return ()
    first, second = (values[np.ix_(is_read_case, is_active_reader)] for values in (first, second))
    clusters = None if clusters is None else np.asarray(clusters)[is_read_case]
    in_arm = np.array([(~np.isnan(values)).any(axis=0) for values in (first, second)])
    results = [u_statistic(first, second, clusters=clusters, confidence=confidence)]
    if not np.isnan(first - second).any():
        differences = first - second
        results.insert(
            0,
            obuchowski_rockette(
                differences.mean(axis=0), covariance_over_cases(differences, clusters),
                cases=len(differences), confidence=confidence,
            ),
        )  # fmt: skip
    elif not in_arm.all(axis=0).any() and not any(
        np.isnan(values[:, columns]).any() for values, columns in zip((first, second), in_arm, strict=True)
    ):
        results.insert(0, _compare_nested_readers(first, second, in_arm, clusters, confidence))
    results.append(_compare_fixed_readers(first, second, in_arm, clusters, confidence))
    results.append(_compare_fixed_cases(first, second, in_arm, confidence))
    return tuple(results)


def _compare_nested_readers(
    first: Matrix,
    second: Matrix,
    in_arm: NDArray[np.bool_],
    clusters: NDArray[np.int64] | None,
    confidence: float,
) -> MrmcComparison:
    """Analyse arms with different readers, each of whom read all cases."""
    readers = [first[:, in_arm[0]], second[:, in_arm[1]]]
    counts = [values.shape[1] for values in readers]
    difference = float(readers[0].mean() - readers[1].mean())
    cases, n_readers = len(first), sum(counts)
    if min(counts) < 2 or cases < 2:
        return MrmcComparison(
            readers=n_readers, cases=cases, difference=difference, method=_NESTED,
            note="no interval: an arm has only one reader" if cases > 1 else "no interval: one case",
        )  # fmt: skip
    covariance = covariance_over_cases(np.hstack(readers), clusters)
    arm_covariances = [covariance[: counts[0], : counts[0]], covariance[counts[0] :, counts[0] :]]
    covariance_term = sum(
        float(block.sum() - np.trace(block)) / (count * (count - 1))
        for block, count in zip(arm_covariances, counts, strict=True)
    )
    covariance_term -= 2 * float(covariance[: counts[0], counts[0] :].mean())
    reader_variances = [
        float(np.var(values.mean(axis=0), ddof=1)) / count
        for values, count in zip(readers, counts, strict=True)
    ]
    variance = sum(reader_variances) + max(0.0, covariance_term)
    satterthwaite_sum = sum(
        variance_of_mean**2 / (count - 1)
        for variance_of_mean, count in zip(reader_variances, counts, strict=True)
    )
    return build_comparison(
        difference, math.sqrt(variance),
        variance**2 / satterthwaite_sum if satterthwaite_sum > 0 else math.inf,
        readers=n_readers, cases=cases, confidence=confidence, method=_NESTED,
    )  # fmt: skip


def _compare_fixed_readers(
    first: Matrix,
    second: Matrix,
    in_arm: NDArray[np.bool_],
    clusters: NDArray[np.int64] | None,
    confidence: float,
) -> MrmcComparison:
    influence = sum(
        sign * case_influences(values)[:, columns].mean(axis=1)
        for sign, values, columns in zip((1.0, -1.0), (first, second), in_arm, strict=True)
    )
    means = [
        _compute_reader_means(values)[columns].mean()
        for values, columns in zip((first, second), in_arm, strict=True)
    ]
    comparison = fixed_readers(
        np.array([means[0] - means[1]]),
        covariance_of_influences(np.asarray(influence)[:, None], clusters),
        cases=len(first),
        n_clusters=len(first) if clusters is None else len(np.unique(clusters)),
        confidence=confidence,
    )
    return replace(comparison, readers=first.shape[1])


def _compare_fixed_cases(
    first: Matrix, second: Matrix, in_arm: NDArray[np.bool_], confidence: float
) -> MrmcComparison:
    """Compare the readers' means by a paired t test, or by Welch's test if each arm has its own readers."""
    first_means, second_means = _compute_reader_means(first), _compute_reader_means(second)
    if in_arm.all():
        return fixed_case_analysis(first_means - second_means, cases=len(first), confidence=confidence)
    groups = [first_means[in_arm[0]], second_means[in_arm[1]]]
    difference = float(groups[0].mean() - groups[1].mean())
    if in_arm.all(axis=0).any() or min(map(len, groups)) < 2:
        reason = (
            "some readers are in one arm only" if in_arm.all(axis=0).any() else "an arm has only one reader"
        )
        return MrmcComparison(
            readers=first.shape[1], cases=len(first), difference=difference, random_cases=False,
            method="fixed cases", note=f"no interval: {reason}",
        )  # fmt: skip
    variances = [float(np.var(group, ddof=1)) / len(group) for group in groups]
    satterthwaite_sum = sum(
        variance_of_mean**2 / (len(group) - 1)
        for variance_of_mean, group in zip(variances, groups, strict=True)
    )
    return build_comparison(
        difference, math.sqrt(sum(variances)),
        sum(variances) ** 2 / satterthwaite_sum if satterthwaite_sum > 0 else math.inf,
        readers=first.shape[1], cases=len(first), confidence=confidence, random_cases=False,
        method="fixed cases",
    )  # fmt: skip


def _compute_reader_means(readings: Matrix) -> Matrix:
    """Return the mean of each reader, shape (readers,); NaN for a reader without a reading."""
    is_read = ~np.isnan(readings)
    means: Matrix = np.where(is_read, readings, 0.0).sum(axis=0) / np.where(
        is_read.any(axis=0), is_read.sum(axis=0), np.nan
    )
    return means
