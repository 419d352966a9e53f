"""Differences of accuracy of each pair of raters, on common questions and on different questions.

``p_holm`` adjusts the exact p within the declared family, task by task; it is None outside the family. If the
questions of two raters overlap in part, ``paired`` uses the common ones and notes that, and ``unpaired``
gives the difference over all questions of each: with Newcombe's interval if none is common, otherwise with
the covariance of the common ones (the U-statistic for two fixed raters).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from measures.clusters import members
from measures.coded import Cell, Coded
from measures.paired import compare, holm, newcombe_unpaired
from measures.records.settings import EVERY_PAIR, READERS_WITH_MODELS, Settings
from measures.results import PairedDifference, UnpairedDifference, to_record


def paired(coded: Coded, settings: Settings) -> tuple[PairedDifference, ...]:
    """The difference of each pair of raters except the reference, over all tasks and for each task.

    Args:
        coded: the ratings.
        settings: the confidence, and the family for Holm's adjustment.

    Returns:
        Task by task, all tasks first; within a task in the order of the pairs.

    Raises:
        InvalidValue: the family is no rule and names a pair that is not in the table.
    """
    named = settings.family_of(coded.raters)
    results: list[PairedDifference] = []
    for cell in coded.cells():
        of_task = [_paired(coded, settings, a, b, cell) for a, b in combinations(coded.judged, 2)]
        counted = [row.p_exact if _in_family(row, coded, settings, named) else None for row in of_task]
        for row, adjusted in zip(of_task, holm(counted), strict=True):
            outside = "p_holm: outside the family" if adjusted is None and row.p_exact is not None else ""
            note = "; ".join(filter(None, (row.note, outside)))
            results.append(replace(row, p_holm=adjusted, note=note))
    return tuple(results)


def unpaired(coded: Coded, settings: Settings) -> tuple[UnpairedDifference, ...]:
    """The pairs whose raters did not answer the same questions, for all tasks together and for each task.

    Args:
        coded: the ratings.
        settings: the confidence is used.

    Returns:
        Differences over all questions of each: Newcombe's interval without a common question or exam,
        otherwise the U-statistic of two fixed raters.
    """
    return tuple(
        result
        for cell in coded.cells()
        for a, b in combinations(coded.judged, 2)
        for result in _unpaired(coded, settings, a, b, cell)
    )


def _in_family(
    row: PairedDifference, coded: Coded, settings: Settings, named: frozenset[frozenset[str]] | None
) -> bool:
    ends = frozenset((row.a, row.b))
    if named is not None:
        return ends in named
    if settings.family == EVERY_PAIR:
        return True
    kinds = {coded.kinds[coded.raters.index(name)] for name in ends}
    return settings.family == READERS_WITH_MODELS and kinds == {"reader", "model"}


def _paired(coded: Coded, settings: Settings, a: int, b: int, cell: Cell) -> PairedDifference:
    rows, exams = cell.rows, coded.exams(cell.rows)
    first, second = coded.right[rows, a], coded.right[rows, b]
    common = (first >= 0) & (second >= 0)
    exam = None if exams is None else exams[common]
    found = compare(first[common] == 1, second[common] == 1, clusters=exam, confidence=settings.confidence)
    notes = [found.note]
    alone = int(((first >= 0) ^ (second >= 0)).sum())
    if alone and found.n:
        notes.append(f"the {found.n} common questions only; {alone} were answered by one of the two")
    elif alone:
        notes.append("different questions: see unpaired")
    return PairedDifference(
        a=coded.raters[a],
        b=coded.raters[b],
        task=cell.name,
        p_holm=None,
        **to_record(found) | {"note": "; ".join(filter(None, notes))},
    )


def _unpaired(coded: Coded, settings: Settings, a: int, b: int, cell: Cell) -> Iterator[UnpairedDifference]:
    rows, exam = cell.rows, coded.exams(cell.rows)
    first, second = coded.right[rows, a], coded.right[rows, b]
    n_a, n_b = int((first >= 0).sum()), int((second >= 0).sum())
    common = int(((first >= 0) & (second >= 0)).sum())
    if not (n_a and n_b) or common == n_a == n_b:
        return
    right_a, right_b = int((first == 1).sum()), int((second == 1).sum())
    difference = right_a / n_a - right_b / n_b
    if common == 0 and exam is None:
        low, high = newcombe_unpaired(right_a, n_a, right_b, n_b, confidence=settings.confidence)
        how = "unpaired: different questions (Newcombe)"
    else:
        error = _error(first, second, exam)
        reach = NormalDist().inv_cdf(0.5 + settings.confidence / 2) * error
        low, high = max(-1.0, difference - reach), min(1.0, difference + reach)
        how = "unpaired: different questions" if common == 0 else "partial overlap: U-statistic"
        how += ", clustered by exam" if exam is not None else ""
    yield UnpairedDifference(
        a=coded.raters[a],
        b=coded.raters[b],
        task=cell.name,
        n_a=n_a,
        n_b=n_b,
        n_both=common,
        difference=difference,
        low=low,
        high=high,
        how=how,
    )


def _error(first: NDArray[np.int64], second: NDArray[np.int64], exam: NDArray[np.int64] | None) -> float:
    """Standard error of the difference of two means over questions that overlap in part."""
    pulls = np.zeros(len(first))
    for sign, each in ((1, first), (-1, second)):
        there = each >= 0
        n = int(there.sum())
        pulls[there] += sign * (each[there] - each[there].mean()) / n * math.sqrt(n / max(1, n - 1))
    if exam is not None:
        member, _ = members(exam)
        pulls = np.bincount(member, weights=pulls).astype(np.float64)
    return math.sqrt(float(np.sum(pulls**2)))
