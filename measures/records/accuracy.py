"""Accuracy of each rater by task, by category and overall, and accuracy without "cannot determine".

The primary results count "cannot determine" as incorrect. ``compute_coverage`` leaves these answers out and
computes the share of questions that remain. Overall accuracy is micro (questions have equal weights) and
macro (tasks have equal weights). If questions share an exam or a patient, intervals are clustered by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measures.clusters import renumber_clusters
from measures.proportions import Proportion, wilson, wilson_by_cluster
from measures.rating_matrix import QuestionSubset, RatingMatrix
from measures.records.settings import Settings
from measures.results import AccuracyResult, CoverageResult, OverallAccuracy

HELPED_NOTE = "helped to set the reference"


def compute_accuracy(matrix: RatingMatrix, settings: Settings) -> tuple[AccuracyResult, ...]:
    """Compute the accuracy of each rater except the reference, for all tasks together and for each task.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence is used.

    Returns:
        Results ordered by task, with all tasks together first, then by rater. Intervals are clustered by exam
        or patient if questions share them.
    """
    return tuple(
        _rater_accuracy(matrix, settings, rater, subset)
        for subset in matrix.task_subsets()
        for rater in matrix.non_reference_raters
    )


def compute_category_accuracy(matrix: RatingMatrix, settings: Settings) -> tuple[AccuracyResult, ...]:
    """Compute the accuracy of each rater except the reference, for each category.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence is used.

    Returns:
        Results ordered by category, then by rater; empty if no category is stated.
    """
    return tuple(
        _rater_accuracy(matrix, settings, rater, subset)
        for subset in matrix.category_subsets()
        for rater in matrix.non_reference_raters
    )


def compute_coverage(matrix: RatingMatrix, settings: Settings) -> tuple[CoverageResult, ...]:
    """Compute the accuracy without "cannot determine" answers, and the share of questions that remain.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence is used.

    Returns:
        Results in the order of :func:`compute_accuracy`.
    """
    return tuple(_coverage(matrix, settings))


def compute_overall_accuracy(matrix: RatingMatrix, settings: Settings) -> tuple[OverallAccuracy, ...]:
    """Compute the micro and macro accuracy of each rater except the reference, over all tasks.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence is used.

    Returns:
        One result per rater. Macro accuracy is None if no task is stated, and it has no interval if a task
        has a single question.
    """
    results: list[OverallAccuracy] = []
    tasks = [subset.rows for subset in matrix.task_subsets()[1:]]
    for rater in matrix.non_reference_raters:
        micro = _rater_share(matrix, settings, rater, np.arange(len(matrix.questions)))
        shares = [_rater_share(matrix, settings, rater, rows) for rows in tasks]
        defined = [share for share in shares if share.estimate is not None]
        macro = sum(share.estimate or 0.0 for share in defined) / len(defined) if defined else None
        error = _macro_error(matrix, rater, tasks) if defined else None
        half_width = None if error is None else NormalDist().inv_cdf(0.5 + settings.confidence / 2) * error
        reason = "" if defined else "macro not defined: no task is stated"
        if defined and error is None:
            reason = "no interval of macro: a task has one question only"
        results.append(
            OverallAccuracy(
                rater=matrix.raters[rater],
                kind=matrix.kinds[rater],
                n=micro.n,
                micro=micro.estimate,
                micro_low=micro.low,
                micro_high=micro.high,
                tasks=len(defined),
                macro=macro,
                macro_low=None if macro is None or half_width is None else max(0.0, macro - half_width),
                macro_high=None if macro is None or half_width is None else min(1.0, macro + half_width),
                note="; ".join(filter(None, [reason, _helped_note(matrix, rater)])),
            )
        )
    return tuple(results)


def compute_share_correct(
    correct: NDArray[np.int64], clusters: NDArray[np.int64] | None, *, confidence: float
) -> tuple[Proportion, bool]:
    """Compute the share of correct answers.

    Args:
        correct: 1 for correct, 0 for incorrect, -1 for unknown (left out), shape (n,).
        clusters: the exam or patient number of each question, shape (n,); None if none is known.
        confidence: the confidence level of the interval.

    Returns:
        The share, and whether its interval is clustered.
    """
    known = correct >= 0
    hits = correct[known] == 1
    if clusters is None or renumber_clusters(clusters[known])[1] == len(hits):
        return wilson(int(hits.sum()), len(hits), confidence=confidence), False
    return wilson_by_cluster(hits, clusters[known], confidence=confidence), True


def _rater_share(matrix: RatingMatrix, settings: Settings, rater: int, rows: NDArray[np.int64]) -> Proportion:
    return compute_share_correct(
        matrix.correct[rows, rater], matrix.cluster_numbers(rows), confidence=settings.confidence
    )[0]


def _rater_accuracy(
    matrix: RatingMatrix, settings: Settings, rater: int, subset: QuestionSubset
) -> AccuracyResult:
    correct, clusters = matrix.correct[subset.rows, rater], matrix.cluster_numbers(subset.rows)
    share, is_clustered = compute_share_correct(correct, clusters, confidence=settings.confidence)
    notes = [share.note, f"clustered by {matrix.cluster_unit}" if is_clustered and not share.note else ""]
    if share.n == 0:
        notes = ["not defined: no question has both this rater's answer and a truth"]
    notes.append(_helped_note(matrix, rater))
    return AccuracyResult(
        rater=matrix.raters[rater],
        kind=matrix.kinds[rater],
        group=subset.name,
        n=share.n,
        correct=share.count,
        estimate=share.estimate,
        low=share.low,
        high=share.high,
        note="; ".join(filter(None, notes)),
    )


def _coverage(matrix: RatingMatrix, settings: Settings) -> Iterator[CoverageResult]:
    for subset in matrix.task_subsets():
        rows, clusters = subset.rows, matrix.cluster_numbers(subset.rows)
        for rater in matrix.non_reference_raters:
            correct = matrix.correct[rows, rater]
            undetermined = (correct >= 0) & (matrix.answers[rows, rater] == matrix.undetermined)
            n = int((correct >= 0).sum())
            share, _ = compute_share_correct(
                np.where(undetermined, -1, correct), clusters, confidence=settings.confidence
            )
            yield CoverageResult(
                rater=matrix.raters[rater],
                kind=matrix.kinds[rater],
                task=subset.name,
                n=n,
                undetermined=int(undetermined.sum()),
                coverage=None if n == 0 else share.n / n,
                n_determined=share.n,
                correct=share.count,
                estimate=share.estimate,
                low=share.low,
                high=share.high,
                not_reached=int((matrix.answers[rows, rater] < 0).sum()),
                note="; ".join(filter(None, [share.note, _helped_note(matrix, rater)])),
            )


def _helped_note(matrix: RatingMatrix, rater: int) -> str:
    return HELPED_NOTE if matrix.set_reference[rater] else ""


def _macro_error(matrix: RatingMatrix, rater: int, tasks: list[NDArray[np.int64]]) -> float | None:
    """Compute the standard error of the mean of the tasks; None if a task has a single question.

    Deviations are first summed by exam or patient, also across tasks.
    """
    correct = matrix.correct[:, rater]
    influence = np.zeros(len(correct))
    scored_tasks = [rows[correct[rows] >= 0] for rows in tasks]
    scored_tasks = [rows for rows in scored_tasks if rows.size]
    for rows in scored_tasks:
        if len(rows) < 2:
            return None
        # divides by n - 1, because the mean of each task was subtracted
        factor = math.sqrt(len(rows) / (len(rows) - 1))
        influence[rows] = factor * (correct[rows] - correct[rows].mean()) / len(rows) / len(scored_tasks)
    if matrix.cluster is not None:
        cluster_index, _ = renumber_clusters(matrix.cluster)
        influence = np.bincount(cluster_index, weights=influence).astype(np.float64)
    return math.sqrt(float(np.sum(influence**2)))
