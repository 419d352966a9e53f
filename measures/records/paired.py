"""Differences of accuracy of each pair of raters, on common questions and on different questions.

``p_holm`` is the exact p, adjusted within the declared family separately for each task. It is None outside
the family. If the questions of two raters overlap partly, ``compute_paired_differences`` uses the common
questions and notes this. ``compute_unpaired_differences`` computes the difference over all questions of each
rater: with Newcombe's interval if no question is common, otherwise with the covariance of the common
questions (the U-statistic for two fixed raters).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.paired import compare_paired, holm, newcombe_unpaired
from measures.rating_matrix import QuestionSubset, RatingMatrix
from measures.records.settings import EVERY_PAIR, READERS_WITH_MODELS, Settings
from measures.results import PairedDifference, UnpairedDifference, to_record


def compute_paired_differences(matrix: RatingMatrix, settings: Settings) -> tuple[PairedDifference, ...]:
    """Compute the difference of each pair of raters except the reference, over all tasks and for each task.

    Args:
        matrix: the ratings.
        settings: the settings; the confidence and the family for Holm's adjustment are used.

    Returns:
        Results ordered by task, with all tasks together first, then by pair.

    Raises:
        InvalidValue: the family contains a pair that is not in the table.
    """
    family_pairs = settings.parse_family(matrix.raters)
    results: list[PairedDifference] = []
    for subset in matrix.task_subsets():
        task_differences = [
            _paired_difference(matrix, settings, a, b, subset)
            for a, b in combinations(matrix.non_reference_raters, 2)
        ]
        family_p_values = [
            row.p_exact if _is_in_family(row, matrix, settings, family_pairs) else None
            for row in task_differences
        ]
        for row, adjusted in zip(task_differences, holm(family_p_values), strict=True):
            outside_note = (
                "p_holm: outside the family" if adjusted is None and row.p_exact is not None else ""
            )
            note = "; ".join(filter(None, (row.note, outside_note)))
            results.append(replace(row, p_holm=adjusted, note=note))
    return tuple(results)


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
        for result in _unpaired_difference(matrix, settings, a, b, subset)
    )


def _is_in_family(
    row: PairedDifference,
    matrix: RatingMatrix,
    settings: Settings,
    family_pairs: frozenset[frozenset[str]] | None,
) -> bool:
    pair = frozenset((row.a, row.b))
    if family_pairs is not None:
        return pair in family_pairs
    if settings.family == EVERY_PAIR:
        return True
    kinds = {matrix.kinds[matrix.raters.index(name)] for name in pair}
    return settings.family == READERS_WITH_MODELS and kinds == {"reader", "model"}


def _paired_difference(
    matrix: RatingMatrix, settings: Settings, a: int, b: int, subset: QuestionSubset
) -> PairedDifference:
    rows, exams = subset.rows, matrix.exam_numbers(subset.rows)
    first, second = matrix.correct[rows, a], matrix.correct[rows, b]
    common = (first >= 0) & (second >= 0)
    exam = None if exams is None else exams[common]
    comparison = compare_paired(
        first[common] == 1, second[common] == 1, clusters=exam, confidence=settings.confidence
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
        p_holm=None,
        **to_record(comparison) | {"note": "; ".join(filter(None, notes))},
    )


def _unpaired_difference(
    matrix: RatingMatrix, settings: Settings, a: int, b: int, subset: QuestionSubset
) -> Iterator[UnpairedDifference]:
    rows, exam = subset.rows, matrix.exam_numbers(subset.rows)
    first, second = matrix.correct[rows, a], matrix.correct[rows, b]
    n_a, n_b = int((first >= 0).sum()), int((second >= 0).sum())
    common = int(((first >= 0) & (second >= 0)).sum())
    if not (n_a and n_b) or common == n_a == n_b:
        return
    correct_a, correct_b = int((first == 1).sum()), int((second == 1).sum())
    difference = correct_a / n_a - correct_b / n_b
    if common == 0 and exam is None:
        low, high = newcombe_unpaired(correct_a, n_a, correct_b, n_b, confidence=settings.confidence)
        method = "unpaired: different questions (Newcombe)"
    else:
        error = _standard_error(first, second, exam)
        half_width = NormalDist().inv_cdf(0.5 + settings.confidence / 2) * error
        low, high = max(-1.0, difference - half_width), min(1.0, difference + half_width)
        method = "unpaired: different questions" if common == 0 else "partial overlap: U-statistic"
        method += ", clustered by exam" if exam is not None else ""
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
    first: NDArray[np.int64], second: NDArray[np.int64], exam: NDArray[np.int64] | None
) -> float:
    """Compute the standard error of the difference of two means over partly overlapping questions."""
    influence = np.zeros(len(first))
    for sign, answers in ((1, first), (-1, second)):
        answered = answers >= 0
        n = int(answered.sum())
        influence[answered] += (
            sign * (answers[answered] - answers[answered].mean()) / n * math.sqrt(n / max(1, n - 1))
        )
    if exam is not None:
        cluster_index, _ = renumber_clusters(exam)
        influence = np.bincount(cluster_index, weights=influence).astype(np.float64)
    return math.sqrt(float(np.sum(influence**2)))
