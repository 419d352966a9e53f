"""Agreement of each pair of raters, including the reference: kappa with its interval, AC1 and others.

Option letters are not comparable categories if the options differ between questions. ``brennan_prediger``
therefore uses each question's own number of options (with several ticks, the number of non-empty sets), and
every record has percent agreement and ``both_wrong``: the share with the same answer among the
``both_wrong_n`` questions that both answered incorrectly. ``observed`` counts identical sets of ticks,
``jaccard`` is the mean overlap of the sets.

Agreement is biased if a second rater saw only the questions in which the first gave certain answers
(verification bias); no coefficient is shown then.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from measures.agreement import Weights
from measures.coded import Cell, Coded
from measures.estimate import Estimate
from measures.kappa_intervals import ac1_interval, kappa_interval
from measures.records.scales import Scale, scale_of
from measures.records.settings import Settings
from measures.results import PairAgreement

#: With more categories (free text) kappa and AC1 are not computed.
MANY = 400
#: Verification bias is looked for only with at least this many questions in each group.
TELLING = 10
VERIFICATION = "not shown: a second opinion only where the first gave certain answers biases agreement"


def agreement(
    coded: Coded, settings: Settings, progress: Callable[[float], None] | None = None
) -> tuple[PairAgreement, ...]:
    """Agreement of each pair of raters, for all tasks together and for each task.

    Args:
        coded: the ratings; the reference is one of the raters here.
        settings: weights, confidence, resamples and seed are used.
        progress: called with the fraction that is done, 0 to 1.

    Returns:
        Task by task, all tasks first; within a task the pairs of raters, then each rater with the reference.

    Raises:
        Refused: weights for answers without an order.
    """
    pairs = list(combinations(coded.judged, 2))
    if coded.reference is not None:
        pairs += [(at, coded.reference) for at in coded.judged]
    cells = coded.cells()
    results: list[PairAgreement] = []
    for cell in cells:
        scale = scale_of(coded, cell.rows, settings.weights)
        for pair in pairs:
            results.append(_pair(coded, settings, pair, cell, scale))
            if progress is not None:
                progress(len(results) / (len(cells) * len(pairs)))
    return tuple(results)


def _pair(coded: Coded, settings: Settings, pair: tuple[int, int], cell: Cell, scale: Scale) -> PairAgreement:
    (a, b), rows = pair, cell.rows
    first, second = scale.codes[:, a], scale.codes[:, b]
    common = (first >= 0) & (second >= 0)
    biased = _verification_bias(coded, cell, first, second, common)
    first, second, rows = first[common], second[common], rows[common]
    n = len(rows)
    same = first == second
    exam = coded.exams(rows)
    if biased:
        return PairAgreement(a=coded.raters[a], b=coded.raters[b], task=cell.name, n=n, note=VERIFICATION)
    if n and scale.k > MANY:
        kappa = ac1 = Estimate(n=n, note=f"not defined: {scale.k} different answers, too many for a table")
    else:
        kappa = kappa_interval(
            first, second, weights=scale.weights, clusters=exam, confidence=settings.confidence,
            draws=settings.bootstrap, seed=settings.seed,
        )  # fmt: skip
        ac1 = ac1_interval(
            first, second, weights=scale.weights, clusters=exam, confidence=settings.confidence,
            draws=settings.bootstrap, seed=settings.seed,
        )  # fmt: skip
    wrong, wrong_same = _both_wrong(coded, a, b, rows, same)
    brennan_prediger = _brennan_prediger(coded, rows, same, scale.k)
    notes = [_note(kappa, settings, n)]
    if ac1.note and ac1.note != kappa.note:
        notes.append(f"ac1: {ac1.note}")
    if n and brennan_prediger is None:
        notes.append("brennan_prediger: not defined: one possible answer only")
    if n and not wrong:
        notes.append(f"both_wrong: not defined: {_why_none_wrong(coded, a, b, rows)}")
    return PairAgreement(
        a=coded.raters[a],
        b=coded.raters[b],
        task=cell.name,
        n=n,
        observed=float(same.mean()) if n else None,
        kappa=kappa.value,
        se=kappa.se,
        low=kappa.low,
        high=kappa.high,
        interval=kappa.method,
        ac1=ac1.value,
        ac1_low=ac1.low,
        ac1_high=ac1.high,
        brennan_prediger=brennan_prediger,
        jaccard=_jaccard(coded, a, b, rows, same),
        both_wrong=wrong_same / wrong if wrong else None,
        both_wrong_n=wrong,
        note="; ".join(filter(None, notes)),
    )


def _verification_bias(
    coded: Coded,
    cell: Cell,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    common: NDArray[np.bool_],
) -> bool:
    """Whether one rater answered only the questions in which the other gave certain answers.

    That is assumed if the other rater's answers on the common questions never occur on the questions that
    only the other answered, in the same tasks, with ``TELLING`` questions or more in both groups.
    """
    same_task = np.isin(coded.task[cell.rows], coded.task[cell.rows][common])
    for one, other in ((first, second), (second, first)):
        alone = (one >= 0) & (other < 0) & same_task
        if min(int(alone.sum()), int(common.sum())) >= TELLING and not np.isin(one[common], one[alone]).any():
            return True
    return False


def _note(kappa: Estimate, settings: Settings, n: int) -> str:
    notes = [kappa.note]
    if n and settings.weights is not Weights.NONE:
        notes.append(f"{settings.weights} weights; ac1 is AC2")
    return "; ".join(filter(None, notes))


def _brennan_prediger(coded: Coded, rows: NDArray[np.int64], same: NDArray[np.bool_], k: int) -> float | None:
    """(Agreement - chance) / (1 - chance); chance is the mean of 1 / number of possible answers."""
    if not len(rows):
        return None
    options = np.where(coded.options[rows] > 0, coded.options[rows], 0).astype(np.float64)
    possible = np.where(coded.several[rows] & (options > 0), 2.0 ** np.minimum(options, 60) - 1, options)
    chance = float(np.mean(1.0 / np.where(possible > 0, possible, max(1, k))))
    return None if chance >= 1 else (float(same.mean()) - chance) / (1 - chance)


def _jaccard(coded: Coded, a: int, b: int, rows: NDArray[np.int64], same: NDArray[np.bool_]) -> float | None:
    if not len(rows):
        return None
    overlap = same.astype(np.float64)
    for at in np.flatnonzero(coded.several[rows] & ~same):
        one, other = (set(coded.labels[coded.answers[rows[at], rater]].split("|")) for rater in (a, b))
        overlap[at] = len(one & other) / len(one | other)
    return float(overlap.mean())


def _both_wrong(
    coded: Coded, a: int, b: int, rows: NDArray[np.int64], same: NDArray[np.bool_]
) -> tuple[int, int]:
    if coded.reference in (a, b):
        return 0, 0
    wrong = (coded.right[rows, a] == 0) & (coded.right[rows, b] == 0)
    return int(wrong.sum()), int((wrong & same).sum())


def _why_none_wrong(coded: Coded, a: int, b: int, rows: NDArray[np.int64]) -> str:
    if coded.reference in (a, b):
        return "one of the two is the truth"
    if not ((coded.right[rows, a] >= 0) & (coded.right[rows, b] >= 0)).any():
        return "no truth is known"
    return "both had no question wrong"
