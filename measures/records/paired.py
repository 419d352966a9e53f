"""Differences of accuracy of each pair of raters, on common questions and on different questions.

``p_adjusted`` is the exact p, adjusted within the declared family. It is None outside the family. Two readers
in different arms are not compared, because readers and arms would be confounded. If the questions of two
raters overlap partly, ``compute_paired_differences`` uses the common questions and notes this.
``compute_unpaired_differences`` computes the difference over all questions of each
rater: with Newcombe's interval if no question is common, otherwise with the covariance of the common
questions (the U-statistic for two fixed raters).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.paired import compare_paired, newcombe_unpaired
from measures.rating_matrix import QuestionSubset, RatingMatrix
from measures.records.settings import Settings
from measures.results import PairedDifference, UnpairedDifference, to_record


def compute_paired_differences(matrix: RatingMatrix, settings: Settings) -> tuple[PairedDifference, ...]:
    """Compute the difference of each pair of raters except the reference, over all tasks and for each task.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence is used.

    Returns:
        Results ordered by task, with all tasks together first, then by pair; ``p_adjusted`` is not yet set.
    """
    return tuple(
        _paired_difference(matrix, settings, a, b, subset)
        for subset in matrix.task_subsets()
        for a, b in combinations(matrix.non_reference_raters, 2)
        if matrix.are_comparable(a, b)
    )


def compute_unpaired_differences(matrix: RatingMatrix, settings: Settings) -> tuple[UnpairedDifference, ...]:
    """Compare the pairs of raters whose questions differ, for all tasks together and for each task.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence is used.

    Returns:
        Differences over all questions of each rater. The interval is Newcombe's if neither a question nor an
        exam is common, otherwise from the U-statistic of two fixed raters.
    """
    return tuple(
        result
        for subset in matrix.task_subsets()
        for a, b in combinations(matrix.non_reference_raters, 2)
        if matrix.are_comparable(a, b)
        for result in _unpaired_difference(matrix, settings, a, b, subset)
    )


def _paired_difference(
    matrix: RatingMatrix, settings: Settings, a: int, b: int, subset: QuestionSubset
) -> PairedDifference:
    rows, clusters = subset.rows, matrix.cluster_numbers(subset.rows)
    first, second = matrix.correct[rows, a], matrix.correct[rows, b]
    common = (first >= 0) & (second >= 0)
    comparison = compare_paired(
        first[common] == 1,
        second[common] == 1,
        clusters=None if clusters is None else clusters[common],
        cluster_unit=matrix.cluster_unit,
        confidence=settings.confidence,
    )
    notes = [comparison.note]
    answered_by_one = int(((first >= 0) ^ (second >= 0)).sum())
    if answered_by_one and comparison.n:
        notes.append(
            f"only the {comparison.n} common questions; {answered_by_one} were answered by one rater only"
        )
    elif answered_by_one:
        notes.append("different questions: see unpaired")
    return PairedDifference(
        a=matrix.raters[a],
        b=matrix.raters[b],
        task=subset.name,
        p_adjusted=None,
        **to_record(comparison) | {"note": "; ".join(filter(None, notes))},
    )


def _unpaired_difference(
    matrix: RatingMatrix, settings: Settings, a: int, b: int, subset: QuestionSubset
) -> Iterator[UnpairedDifference]:
    rows, clusters = subset.rows, matrix.cluster_numbers(subset.rows)
    first, second = matrix.correct[rows, a], matrix.correct[rows, b]
    n_a, n_b = int((first >= 0).sum()), int((second >= 0).sum())
    common = int(((first >= 0) & (second >= 0)).sum())
    if not (n_a and n_b) or common == n_a == n_b:
        return
    correct_a, correct_b = int((first == 1).sum()), int((second == 1).sum())
    difference = correct_a / n_a - correct_b / n_b
    if common == 0 and clusters is None:
        low, high = newcombe_unpaired(correct_a, n_a, correct_b, n_b, confidence=settings.confidence)
        method = "unpaired: different questions (Newcombe)"
    else:
        error = _standard_error(first, second, clusters)
        half_width = NormalDist().inv_cdf(0.5 + settings.confidence / 2) * error
        low, high = max(-1.0, difference - half_width), min(1.0, difference + half_width)
        method = "unpaired: different questions" if common == 0 else "partial overlap: U-statistic"
        method += "" if clusters is None else f", clustered by {matrix.cluster_unit}"
    yield UnpairedDifference(
        a=matrix.raters[a],
        b=matrix.raters[b],
        task=subset.name,
        n_a=n_a,
        n_b=n_b,
        n_both=common,
        difference=difference,
        low=low,
        high=high,
        how=method,
    )


def _standard_error(
    first: NDArray[np.int64], second: NDArray[np.int64], clusters: NDArray[np.int64] | None
) -> float:
    """Compute the standard error of the difference of two means over partly overlapping questions."""
    influence = np.zeros(len(first))
    for sign, answers in ((1, first), (-1, second)):
        answered = answers >= 0
        n = int(answered.sum())
        influence[answered] += (
            sign * (answers[answered] - answers[answered].mean()) / n * math.sqrt(n / max(1, n - 1))
        )
    if clusters is not None:
        cluster_index, _ = renumber_clusters(clusters)
        influence = np.bincount(cluster_index, weights=influence).astype(np.float64)
    return math.sqrt(float(np.sum(influence**2)))
