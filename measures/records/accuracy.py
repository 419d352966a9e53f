"""Accuracy of each rater by task, by category and overall, and accuracy without "cannot determine".

The primary results count "cannot determine" as incorrect; ``coverage`` leaves those answers out and gives the
share of questions that remain. Overall accuracy is micro (every question has the same weight) and macro (the
mean of the tasks). If questions share an exam, intervals are clustered by exam.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measures.clusters import members
from measures.coded import Cell, Coded
from measures.proportions import Proportion, wilson, wilson_by_cluster
from measures.records.settings import Settings
from measures.results import AccuracyResult, CoverageResult, OverallAccuracy

CLUSTERED, HELPED = "clustered by exam", "helped to set the reference"


def accuracy(coded: Coded, settings: Settings) -> tuple[AccuracyResult, ...]:
    """Accuracy of each rater except the reference, for all tasks together and for each task.

    Args:
        coded: the ratings.
        settings: the confidence is used.

    Returns:
        Task by task, all tasks first; within a task in the order of the raters. Intervals are clustered by
        exam where questions share exams.
    """
    return tuple(_accuracy(coded, settings, rater, cell) for cell in coded.cells() for rater in coded.judged)


def by_category(coded: Coded, settings: Settings) -> tuple[AccuracyResult, ...]:
    """Accuracy of each rater except the reference, for each category.

    Args:
        coded: the ratings.
        settings: the confidence is used.

    Returns:
        Category by category; within a category in the order of the raters. Empty if no category is stated.
    """
    return tuple(
        _accuracy(coded, settings, rater, cell) for cell in coded.category_cells() for rater in coded.judged
    )


def coverage(coded: Coded, settings: Settings) -> tuple[CoverageResult, ...]:
    """Accuracy without the answers "cannot determine", and the share of questions that remain.

    Args:
        coded: the ratings.
        settings: the confidence is used.

    Returns:
        In the order of :func:`accuracy`.
    """
    return tuple(_coverage(coded, settings))


def overall(coded: Coded, settings: Settings) -> tuple[OverallAccuracy, ...]:
    """Micro and macro accuracy of each rater except the reference, over all tasks.

    Args:
        coded: the ratings.
        settings: the confidence is used.

    Returns:
        One result per rater. Macro is None if no task is stated; it has no interval if a task has a single
        question.
    """
    results: list[OverallAccuracy] = []
    tasks = [cell.rows for cell in coded.cells()[1:]]
    for rater in coded.judged:
        micro = _share(coded, settings, rater, np.arange(len(coded.questions)))
        shares = [_share(coded, settings, rater, rows) for rows in tasks]
        known = [share for share in shares if share.estimate is not None]
        macro = sum(share.estimate or 0.0 for share in known) / len(known) if known else None
        error = _macro_error(coded, rater, tasks) if known else None
        reach = None if error is None else NormalDist().inv_cdf(0.5 + settings.confidence / 2) * error
        why = "" if known else "macro not defined: no task is stated"
        if known and error is None:
            why = "no interval of macro: a task has one question only"
        results.append(
            OverallAccuracy(
                rater=coded.raters[rater],
                kind=coded.kinds[rater],
                n=micro.n,
                micro=micro.estimate,
                micro_low=micro.low,
                micro_high=micro.high,
                tasks=len(known),
                macro=macro,
                macro_low=None if macro is None or reach is None else max(0.0, macro - reach),
                macro_high=None if macro is None or reach is None else min(1.0, macro + reach),
                note="; ".join(filter(None, [why, _helped(coded, rater)])),
            )
        )
    return tuple(results)


def share_of(
    right: NDArray[np.int64], exam: NDArray[np.int64] | None, *, confidence: float
) -> tuple[Proportion, bool]:
    """The share of correct answers.

    Args:
        right: 1 correct, 0 incorrect, -1 not known (left out), shape (n,).
        exam: number of each question's exam, shape (n,); None where no exam is known.
        confidence: of the interval.

    Returns:
        The share, and whether its interval is clustered by exam.
    """
    known = right >= 0
    hits = right[known] == 1
    if exam is None or members(exam[known])[1] == len(hits):
        return wilson(int(hits.sum()), len(hits), confidence=confidence), False
    return wilson_by_cluster(hits, exam[known], confidence=confidence), True


def _share(coded: Coded, settings: Settings, rater: int, rows: NDArray[np.int64]) -> Proportion:
    return share_of(coded.right[rows, rater], coded.exams(rows), confidence=settings.confidence)[0]


def _accuracy(coded: Coded, settings: Settings, rater: int, cell: Cell) -> AccuracyResult:
    right, exams = coded.right[cell.rows, rater], coded.exams(cell.rows)
    share, clustered = share_of(right, exams, confidence=settings.confidence)
    notes = [share.note, CLUSTERED if clustered and not share.note else ""]
    if share.n == 0:
        notes = ["not defined: no question with this rater's answer and a truth"]
    notes.append(_helped(coded, rater))
    return AccuracyResult(
        rater=coded.raters[rater],
        kind=coded.kinds[rater],
        group=cell.name,
        n=share.n,
        correct=share.count,
        estimate=share.estimate,
        low=share.low,
        high=share.high,
        note="; ".join(filter(None, notes)),
    )


def _coverage(coded: Coded, settings: Settings) -> Iterator[CoverageResult]:
    for cell in coded.cells():
        rows, exam = cell.rows, coded.exams(cell.rows)
        for rater in coded.judged:
            right = coded.right[rows, rater]
            unsure = (right >= 0) & (coded.answers[rows, rater] == coded.undetermined)
            n = int((right >= 0).sum())
            share, _ = share_of(np.where(unsure, -1, right), exam, confidence=settings.confidence)
            yield CoverageResult(
                rater=coded.raters[rater],
                kind=coded.kinds[rater],
                task=cell.name,
                n=n,
                undetermined=int(unsure.sum()),
                coverage=None if n == 0 else share.n / n,
                n_determined=share.n,
                correct=share.count,
                estimate=share.estimate,
                low=share.low,
                high=share.high,
                not_reached=int((coded.answers[rows, rater] < 0).sum()),
                note="; ".join(filter(None, [share.note, _helped(coded, rater)])),
            )


def _helped(coded: Coded, rater: int) -> str:
    return HELPED if coded.set_reference[rater] else ""


def _macro_error(coded: Coded, rater: int, tasks: list[NDArray[np.int64]]) -> float | None:
    """Standard error of the mean of the tasks; None if a task has a single question.

    Deviations are summed by exam first, also across tasks.
    """
    right = coded.right[:, rater]
    pulls = np.zeros(len(right))
    known = [rows[right[rows] >= 0] for rows in tasks]
    known = [rows for rows in known if rows.size]
    for rows in known:
        if len(rows) < 2:
            return None
        # n - 1, because the mean of each task was subtracted
        spread = math.sqrt(len(rows) / (len(rows) - 1))
        pulls[rows] = spread * (right[rows] - right[rows].mean()) / len(rows) / len(known)
    if coded.exam is not None:
        member, _ = members(coded.exam)
        pulls = np.bincount(member, weights=pulls).astype(np.float64)
    return math.sqrt(float(np.sum(pulls**2)))
