"""Compares two arms of a reader study: the same readers with and without an aid, or different readers.

Conventions. ``first`` and ``second`` have shape (cases, readers): 1 for correct, 0 for incorrect, NaN for not
read in that arm. A positive difference means that the first arm is better. A reader is one column, so that
two arms of the same reader are never counted as two readers.

Four analyses are given:

- Obuchowski-Rockette, readers and cases random. If each reader read each case in both arms, it is the
  one-treatment analysis of the reader's differences, which for two arms equals the two-treatment analysis. If
  each arm has readers of its own, readers are nested within arms. Other designs have no such analysis.
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
    known = [~np.isnan(values) for values in (first, second)]
    has_reading, has_cases = (known[0] | known[1]).any(axis=1), (known[0] | known[1]).any(axis=0)
    if not known[0].any() or not known[1].any():
        return ()
    first, second = (values[np.ix_(has_reading, has_cases)] for values in (first, second))
    clusters = None if clusters is None else np.asarray(clusters)[has_reading]
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
    """Analyse arms with readers of their own, all of whom read all cases of their arm."""
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
    own = [covariance[: counts[0], : counts[0]], covariance[counts[0] :, counts[0] :]]
    shared = sum(
        float(block.sum() - np.trace(block)) / (count * (count - 1))
        for block, count in zip(own, counts, strict=True)
    )
    shared -= 2 * float(covariance[: counts[0], counts[0] :].mean())
    between = [
        float(np.var(values.mean(axis=0), ddof=1)) / count
        for values, count in zip(readers, counts, strict=True)
    ]
    variance = sum(between) + max(0.0, shared)
    own_degrees = sum(part**2 / (count - 1) for part, count in zip(between, counts, strict=True))
    return build_comparison(
        difference, math.sqrt(variance), variance**2 / own_degrees if own_degrees > 0 else math.inf,
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
        _reader_means(values)[columns].mean() for values, columns in zip((first, second), in_arm, strict=True)
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
    first_means, second_means = _reader_means(first), _reader_means(second)
    if in_arm.all():
        return fixed_case_analysis(first_means - second_means, cases=len(first), confidence=confidence)
    groups = [first_means[in_arm[0]], second_means[in_arm[1]]]
    difference = float(groups[0].mean() - groups[1].mean())
    if in_arm.all(axis=0).any() or min(map(len, groups)) < 2:
        overlap = (
            "some readers are in one arm only" if in_arm.all(axis=0).any() else "an arm has only one reader"
        )
        return MrmcComparison(
            readers=first.shape[1], cases=len(first), difference=difference, random_cases=False,
            method="fixed cases", note=f"no interval: {overlap}",
        )  # fmt: skip
    parts = [float(np.var(group, ddof=1)) / len(group) for group in groups]
    own_degrees = sum(part**2 / (len(group) - 1) for part, group in zip(parts, groups, strict=True))
    return build_comparison(
        difference, math.sqrt(sum(parts)), sum(parts) ** 2 / own_degrees if own_degrees > 0 else math.inf,
        readers=first.shape[1], cases=len(first), confidence=confidence, random_cases=False,
        method="fixed cases",
    )  # fmt: skip


def _reader_means(readings: Matrix) -> Matrix:
    """Return the mean of each reader, shape (readers,); NaN for a reader without a reading."""
    known = ~np.isnan(readings)
    means: Matrix = np.where(known, readings, 0.0).sum(axis=0) / np.where(
        known.any(axis=0), known.sum(axis=0), np.nan
    )
    return means
