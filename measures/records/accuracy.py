"""Accuracy of each rater by task, by category and overall, and accuracy without "cannot determine".

The primary results count "cannot determine" as incorrect. ``compute_coverage`` leaves these answers out and
computes the share of questions that remain. Overall accuracy is micro (questions have equal weights) and
macro (tasks have equal weights). If questions share an exam or a patient, intervals are clustered by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measures.cluster_groups import ClusterGroups, shares_by_group
from measures.clusters import renumber_clusters
from measures.proportions import Proportion, wilson, wilson_by_cluster
from measures.rating_matrix import RatingMatrix
from measures.rating_values import ALL
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
    all_tasks = _compute_groups(matrix, settings, (ALL,), np.zeros(len(matrix.questions), dtype=np.int64))
    return (*all_tasks, *_compute_groups(matrix, settings, matrix.tasks, matrix.task))


def compute_category_accuracy(matrix: RatingMatrix, settings: Settings) -> tuple[AccuracyResult, ...]:
    """Compute the accuracy of each rater except the reference, for each category.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence is used.

    Returns:
        Results ordered by category, then by rater; empty if no category is stated.
    """
    return _compute_groups(matrix, settings, matrix.categories, matrix.category)


def compute_coverage(matrix: RatingMatrix, settings: Settings) -> tuple[CoverageResult, ...]:
    """Compute the accuracy without "cannot determine" answers, and the share of questions that remain.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence is used.

    Returns:
        Results in the order of :func:`compute_accuracy`.
    """
    return tuple(_iterate_coverage(matrix, settings))


def compute_overall_accuracy(matrix: RatingMatrix, settings: Settings) -> tuple[OverallAccuracy, ...]:
    """Compute the micro and macro accuracy of each rater except the reference, over all tasks.

    Args:
        matrix: the ratings.
        settings: the settings; only the confidence is used.

    Returns:
        One result per rater. Macro accuracy is None if no task is stated, and it has no interval if a task
        has a single question.
    """
    raters = matrix.non_reference_raters
    all_questions = _group_rows(matrix, np.zeros(len(matrix.questions), dtype=np.int64), 1)
    [micros] = shares_by_group(matrix.correct[:, raters], all_questions, confidence=settings.confidence)
    shares = shares_by_group(
        matrix.correct[:, raters],
        _group_rows(matrix, matrix.task, len(matrix.tasks)),
        confidence=settings.confidence,
    )
    errors = _compute_macro_errors(matrix, shares, all_questions)
    z = NormalDist().inv_cdf(0.5 + settings.confidence / 2)
    results: list[OverallAccuracy] = []
    for column, (rater, micro) in enumerate(zip(raters, micros, strict=True)):
        estimates = [share[column].estimate for share in shares]
        defined_estimates = [estimate for estimate in estimates if estimate is not None]
        macro = sum(defined_estimates) / len(defined_estimates) if defined_estimates else None
        error = errors[column] if defined_estimates else None
        half_width = None if error is None else z * error
        reason = "" if defined_estimates else "macro not defined: no task is stated"
        if defined_estimates and error is None:
            reason = "no interval of the macro average: a task has a single question"
        results.append(
            OverallAccuracy(
                rater=matrix.raters[rater],
                kind=matrix.kinds[rater],
                n=micro.n,
                micro=micro.estimate,
                micro_low=micro.low,
                micro_high=micro.high,
                tasks=len(defined_estimates),
                macro=macro,
                macro_low=None if macro is None or half_width is None else max(0.0, macro - half_width),
                macro_high=None if macro is None or half_width is None else min(1.0, macro + half_width),
                note="; ".join(filter(None, [reason, _get_helped_note(matrix, rater)])),
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
    is_known = correct >= 0
    is_correct = correct[is_known] == 1
    if clusters is None or renumber_clusters(clusters[is_known])[1] == len(is_correct):
        return wilson(int(is_correct.sum()), len(is_correct), confidence=confidence), False
    return wilson_by_cluster(is_correct, clusters[is_known], confidence=confidence), True


def _group_rows(matrix: RatingMatrix, groups: NDArray[np.int64], count: int) -> ClusterGroups:
    clusters = np.arange(len(matrix.questions)) if matrix.cluster is None else matrix.cluster
    return ClusterGroups(clusters=clusters, groups=groups, count=count)


def _compute_groups(
    matrix: RatingMatrix, settings: Settings, names: Sequence[str], group_index: NDArray[np.int64]
) -> tuple[AccuracyResult, ...]:
    """Compute each rater's accuracy, ordered by group; ``group_index`` has indices into ``names``."""
    raters = matrix.non_reference_raters
    correct, groups = matrix.correct[:, raters], _group_rows(matrix, group_index, len(names))
    clusters = groups.count_clusters(correct >= 0)
    return tuple(
        _build_accuracy(matrix, rater, name, share, is_clustered=bool(clusters[group, column] != share.n))
        for group, (name, shares) in enumerate(
            zip(names, shares_by_group(correct, groups, confidence=settings.confidence), strict=True)
        )
        for column, (rater, share) in enumerate(zip(raters, shares, strict=True))
    )


def _build_accuracy(
    matrix: RatingMatrix, rater: int, group: str, share: Proportion, *, is_clustered: bool
) -> AccuracyResult:
    notes = [share.note, f"clustered by {matrix.cluster_unit}" if is_clustered and not share.note else ""]
    if share.n == 0:
        notes = ["not defined: no question has both this rater's answer and a reference answer"]
    notes.append(_get_helped_note(matrix, rater))
    return AccuracyResult(
        rater=matrix.raters[rater],
        kind=matrix.kinds[rater],
        group=group,
        n=share.n,
        correct=share.count,
        estimate=share.estimate,
        low=share.low,
        high=share.high,
        note="; ".join(filter(None, notes)),
    )


def _iterate_coverage(matrix: RatingMatrix, settings: Settings) -> Iterator[CoverageResult]:
    for subset in matrix.task_subsets():
        rows, clusters = subset.rows, matrix.cluster_numbers(subset.rows)
        for rater in matrix.non_reference_raters:
            correct = matrix.correct[rows, rater]
            is_undetermined = (correct >= 0) & (matrix.answers[rows, rater] == matrix.undetermined)
            n = int((correct >= 0).sum())
            share, _ = compute_share_correct(
                np.where(is_undetermined, -1, correct), clusters, confidence=settings.confidence
            )
            yield CoverageResult(
                rater=matrix.raters[rater],
                kind=matrix.kinds[rater],
                task=subset.name,
                n=n,
                undetermined=int(is_undetermined.sum()),
                coverage=None if n == 0 else share.n / n,
                n_determined=share.n,
                correct=share.count,
                estimate=share.estimate,
                low=share.low,
                high=share.high,
                not_reached=int((matrix.answers[rows, rater] < 0).sum()),
                note="; ".join(filter(None, [share.note, _get_helped_note(matrix, rater)])),
            )


def _get_helped_note(matrix: RatingMatrix, rater: int) -> str:
    return HELPED_NOTE if matrix.set_reference[rater] else ""


def _compute_macro_errors(
    matrix: RatingMatrix, shares: Sequence[Sequence[Proportion]], all_questions: ClusterGroups
) -> list[float | None]:
    """Compute the standard error of each rater's mean of the tasks; None if a task has a single question.

    Deviations are first summed by exam or patient, also across tasks.

    Args:
        matrix: the ratings.
        shares: the shares by task and rater, without the reference.
        all_questions: all questions as one group.
    """
    correct = matrix.correct[:, matrix.non_reference_raters]
    shape = (len(matrix.tasks) + 1, correct.shape[1])  # the last row is for questions without a task
    means, weights = np.zeros(shape), np.zeros(shape)
    sizes = np.array([[share.n for share in task] for task in shares]).reshape(len(shares), shape[1])
    for task, task_shares in enumerate(shares):
        for column, share in enumerate(task_shares):
            if share.n > 1:
                means[task, column] = share.count / share.n
                # divides by n - 1, because the mean of each task was subtracted
                weights[task, column] = math.sqrt(share.n / (share.n - 1)) / share.n
    weights /= np.maximum(1, (sizes > 0).sum(axis=0))
    influence = np.where(correct >= 0, (correct - means[matrix.task]) * weights[matrix.task], 0.0)
    squares = all_questions.sum_by_group(all_questions.sum_by_part(influence) ** 2)[0]
    return [
        None if (sizes[:, column] == 1).any() else math.sqrt(float(squares[column]))
        for column in range(shape[1])
    ]
