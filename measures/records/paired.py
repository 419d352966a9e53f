"""Differences of accuracy of each pair of raters, on common questions and on different questions.

``p_adjusted`` is the exact p, adjusted within the declared family. It is None outside the family. Two readers
in different arms are not compared, because readers and arms would be confounded. If the questions of two
raters overlap partly, ``compute_paired_differences`` uses the common questions and notes this.
``compute_unpaired_differences`` computes the difference over all questions of each rater: with Newcombe's
interval if no question is common and no exam or patient is stated, otherwise with the covariance of the
common questions, exams or patients (the U-statistic for two fixed raters).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.paired import compare_paired, newcombe_unpaired
from measures.rating_matrix import QuestionSubset, RatingMatrix
from measures.records.settings import Settings
from measures.results import PairedDifference, UnpairedDifference


def compute_paired_differences(matrix: RatingMatrix, settings: Settings) -> tuple[PairedDifference, ...]:
    """Compute the difference of each pair of raters except the reference, over all tasks and for each task.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence is used.

    Returns:
        Results ordered by task, with all tasks together first, then by pair; ``p_adjusted`` is not yet set.
    """
    pairs = _list_comparable_pairs(matrix)
    results: list[PairedDifference] = []
    for subset in matrix.task_subsets():
        answers = _select_answers(matrix, subset)
        if answers.clusters is not None and renumber_clusters(answers.clusters)[1] == len(answers.clusters):
            answers = replace(answers, clusters=None)  # each question is a cluster of its own
        results += [_build_paired_difference(matrix, settings, a, b, answers) for a, b in pairs]
    return tuple(results)


def compute_unpaired_differences(matrix: RatingMatrix, settings: Settings) -> tuple[UnpairedDifference, ...]:
    """Compare the pairs of raters whose questions differ, for all tasks together and for each task.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence is used.

    Returns:
        Differences over all questions of each rater. The interval is Newcombe's if no question is common and
        no exam or patient is stated, otherwise from the U-statistic of two fixed raters.
    """
    pairs = _list_comparable_pairs(matrix)
    return tuple(
        result
        for answers in map(partial(_select_answers, matrix), matrix.task_subsets())
        for a, b in pairs
        for result in _build_unpaired_difference(matrix, settings, a, b, answers)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """The answers of a task: whether each is known and correct, shape (raters, questions)."""

    task: str
    known: NDArray[np.bool_]
    correct: NDArray[np.bool_]
    clusters: NDArray[np.int64] | None


def _select_answers(matrix: RatingMatrix, subset: QuestionSubset) -> _Answers:
    correct = np.ascontiguousarray(matrix.correct[subset.rows].T)
    return _Answers(
        task=subset.name,
        known=correct >= 0,
        correct=correct == 1,
        clusters=matrix.cluster_numbers(subset.rows),
    )


def _list_comparable_pairs(matrix: RatingMatrix) -> list[tuple[int, int]]:
    pairs = combinations(matrix.non_reference_raters, 2)
    return [(a, b) for a, b in pairs if matrix.are_comparable(a, b)]


def _build_paired_difference(
    matrix: RatingMatrix, settings: Settings, a: int, b: int, answers: _Answers
) -> PairedDifference:
    is_common, clusters = answers.known[a] & answers.known[b], answers.clusters
    comparison = compare_paired(
        answers.correct[a, is_common],
        answers.correct[b, is_common],
        clusters=None if clusters is None else clusters[is_common],
        cluster_unit=matrix.cluster_unit,
        confidence=settings.confidence,
    )
    notes = [comparison.note]
    answered_by_one = int(np.count_nonzero(answers.known[a] ^ answers.known[b]))
    if answered_by_one and comparison.n:
        notes.append(
            f"only the {comparison.n} common questions; {answered_by_one} were answered by one rater only"
        )
    elif answered_by_one:
        notes.append("different questions: see unpaired")
    return PairedDifference(
        a=matrix.raters[a],
        b=matrix.raters[b],
        task=answers.task,
        n=comparison.n,
        both=comparison.both,
        a_only=comparison.a_only,
        b_only=comparison.b_only,
        neither=comparison.neither,
        difference=comparison.difference,
        low=comparison.low,
        high=comparison.high,
        p_exact=comparison.p_exact,
        p_mid=comparison.p_mid,
        p_adjusted=None,
        note="; ".join(filter(None, notes)),
    )


def _build_unpaired_difference(
    matrix: RatingMatrix, settings: Settings, a: int, b: int, answers: _Answers
) -> Iterator[UnpairedDifference]:
    known_a, known_b, clusters = answers.known[a], answers.known[b], answers.clusters
    n_a, n_b, n_common = (int(mask.sum()) for mask in (known_a, known_b, known_a & known_b))
    if not (n_a and n_b) or n_common == n_a == n_b:
        return
    correct_a, correct_b = (int(answers.correct[rater].sum()) for rater in (a, b))
    difference = correct_a / n_a - correct_b / n_b
    if n_common == 0 and clusters is None:
        low, high = newcombe_unpaired(correct_a, n_a, correct_b, n_b, confidence=settings.confidence)
        method = "unpaired: different questions (Newcombe)"
    else:
        error = _compute_standard_error(
            [(known_a, answers.correct[a]), (known_b, answers.correct[b])], clusters
        )
        half_width = NormalDist().inv_cdf(0.5 + settings.confidence / 2) * error
        low, high = max(-1.0, difference - half_width), min(1.0, difference + half_width)
        method = "unpaired: different questions" if n_common == 0 else "partial overlap: U-statistic"
        method += "" if clusters is None else f", clustered by {matrix.cluster_unit}"
    yield UnpairedDifference(
        a=matrix.raters[a],
        b=matrix.raters[b],
        task=answers.task,
        n_a=n_a,
        n_b=n_b,
        n_both=n_common,
        difference=difference,
        low=low,
        high=high,
        how=method,
    )


def _compute_standard_error(
    raters: Sequence[tuple[NDArray[np.bool_], NDArray[np.bool_]]], clusters: NDArray[np.int64] | None
) -> float:
    """Compute the standard error of the difference of two means over partly overlapping questions.

    Args:
        raters: for both raters, whether each answer is known, and whether it is correct.
        clusters: the exam or patient number of each question, or None.
    """
    influence = np.zeros(len(raters[0][0]))
    for sign, (known, correct) in zip((1, -1), raters, strict=True):
        n = int(known.sum())
        influence[known] += sign * (correct[known] - correct[known].mean()) / n * math.sqrt(n / max(1, n - 1))
    if clusters is not None:
        cluster_index, _ = renumber_clusters(clusters)
        influence = np.bincount(cluster_index, weights=influence).astype(np.float64)
    return math.sqrt(float(np.sum(influence**2)))
