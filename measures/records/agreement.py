"""Agreement of each pair of raters, including the reference: kappa with its interval, AC1 and others.

Option letters are not comparable categories if the options differ between questions. ``brennan_prediger``
therefore uses each question's own number of options (with several options selected, the number of non-empty
sets). ``observed`` is the share of identical sets of selected options, ``jaccard`` the mean overlap of the
sets. ``both_wrong`` is the share with the same answer among the ``both_wrong_n`` questions that both answered
incorrectly.

Agreement is biased by answers that were requested because of another rater's answer, such as second opinions
on reported errors (verification bias). The ratings state these answers (``selected``); they are left out.
Different answer formats have no common categories: see :mod:`measures.records.formats`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from domain.protocols import AgreementBasis
from measures.agreement import Weights
from measures.estimate import Estimate
from measures.kappa_intervals import agreement_of_pairs
from measures.rating_matrix import QuestionSubset, RatingMatrix
from measures.records.formats import describe_formats, number_formats
from measures.records.scales import Scale, build_scale
from measures.records.settings import Settings
from measures.results import PairAgreement

#: Maximum number of categories for kappa and AC1. Free text has more.
MAX_CATEGORIES = 400
VERIFICATION = "not shown: all answers in common were requested because of another rater's answer"


def compute_agreement(
    matrix: RatingMatrix, settings: Settings, progress: Callable[[float], None] | None = None
) -> tuple[PairAgreement, ...]:
    """Compute the agreement of each pair of raters, for all tasks together and for each task.

    Args:
        matrix: the ratings; the reference counts as a rater.
        settings: the settings; weights, confidence, resamples and seed are used.
        progress: a function that is called with the fraction done, 0 to 1.

    Returns:
        Results ordered by task, with all tasks together first. Within a task, the pairs of raters come first,
        then each rater with the reference.

    Raises:
        Refused: weights are set, but the answers have no order.
    """
    pairs = list(combinations(matrix.non_reference_raters, 2))
    if matrix.reference is not None:
        pairs += [(column, matrix.reference) for column in matrix.non_reference_raters]
    subsets = matrix.task_subsets()
    results: list[PairAgreement] = []
    for subset in subsets:
        task = _Task(
            subset=subset,
            scale=(scale := build_scale(matrix, subset.rows, settings.weights)),
            codes=np.ascontiguousarray(scale.codes.T),
            formats=number_formats(matrix, subset.rows, settings.weights),
            chance=_compute_random_agreement(matrix, subset.rows, scale.k),
            wrong=np.ascontiguousarray((matrix.correct[subset.rows] == 0).T),
            several=matrix.has_several_selected[subset.rows],
            has_selected=bool(matrix.selected[subset.rows].any()),
        )
        for pair, estimates in zip(pairs, _estimate_pairs(matrix, settings, pairs, task), strict=True):
            results.append(_build_pair_agreement(matrix, settings, pair, task, estimates))
            if progress is not None:
                progress(len(results) / (len(subsets) * len(pairs)))
    return tuple(results)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """The questions of a task, their scale, and their answer formats (None for one format).

    ``codes`` (raters, questions) are those of the scale. ``chance`` (questions,) is the probability that two
    random answers to each question are equal. ``wrong`` (raters, questions) states which answers are
    incorrect, ``several`` (questions,) which questions have an answer of several options. ``has_selected``
    states whether an answer was requested because of another rater's answer.
    """

    subset: QuestionSubset
    scale: Scale
    codes: NDArray[np.int64]
    formats: NDArray[np.int64] | None
    chance: NDArray[np.float64]
    wrong: NDArray[np.bool_]
    several: NDArray[np.bool_]
    has_selected: bool


def _estimate_pairs(
    matrix: RatingMatrix, settings: Settings, pairs: Sequence[tuple[int, int]], task: _Task
) -> Sequence[tuple[Estimate, Estimate]]:
    """Return kappa and AC1 of each pair."""
    scale = task.scale
    if scale.k > MAX_CATEGORIES:
        too_many = Estimate(n=0, note=f"not defined: {scale.k} different answers, too many for a table")
        nothing_in_common = Estimate(n=0, note="not defined: no question was answered by both")
        is_answered = scale.codes >= 0
        return [
            (too_many, too_many)
            if (is_answered[:, a] & is_answered[:, b]).any()
            else (nothing_in_common, nothing_in_common)
            for a, b in pairs
        ]
    return agreement_of_pairs(
        scale.codes, pairs, weights=scale.weights, clusters=matrix.cluster_numbers(task.subset.rows),
        strata=task.formats, confidence=settings.confidence, draws=settings.bootstrap, seed=settings.seed,
    )  # fmt: skip


def _build_pair_agreement(
    matrix: RatingMatrix,
    settings: Settings,
    pair: tuple[int, int],
    task: _Task,
    estimates: tuple[Estimate, Estimate],
) -> PairAgreement:
    (a, b), (kappa, ac1), scale, formats = pair, estimates, task.scale, task.formats
    rows, name = task.subset.rows, task.subset.name
    first, second = task.codes[a], task.codes[b]
    in_common = (first >= 0) & (second >= 0)
    n_selected = matrix.count_selected(rows, a, b) if task.has_selected else 0
    is_same = in_common & (first == second)
    n = int(np.count_nonzero(in_common))
    if n_selected and not n:
        return PairAgreement(a=matrix.raters[a], b=matrix.raters[b], task=name, n=n, note=VERIFICATION)
    compares_answers = settings.agreement_basis is AgreementBasis.ANSWERS
    n_both_wrong, n_same_wrong = (
        _count_both_wrong(task, a, b, in_common, is_same)
        if compares_answers and matrix.reference not in pair
        else (0, 0)
    )
    observed = int(np.count_nonzero(is_same)) / n if n else None
    brennan_prediger = _compute_brennan_prediger(task.chance[in_common], observed)
    notes = [_join_notes(kappa, settings, n)]
    if formats is not None and scale.k <= MAX_CATEGORIES and len(np.unique(formats[in_common])) > 1:
        notes.append(describe_formats(formats[in_common]))
    if n_selected:
        notes.append(f"left out as requested because of another rater's answer: {n_selected:,}")
    if ac1.note and ac1.note != kappa.note:
        notes.append(f"ac1: {ac1.note}")
    if n and brennan_prediger is None:
        notes.append("brennan_prediger: not defined: one possible answer only")
    if n and not n_both_wrong:
        reason = (
            _explain_none_wrong(matrix, a, b, rows[in_common])
            if compares_answers
            else "agreement is that of correctness, not of answers"
        )
        notes.append(f"both_wrong: not defined: {reason}")
    return PairAgreement(
        a=matrix.raters[a],
        b=matrix.raters[b],
        task=name,
        n=n,
        observed=observed,
        kappa=kappa.value,
        se=kappa.se,
        low=kappa.low,
        high=kappa.high,
        interval=kappa.method,
        ac1=ac1.value,
        ac1_low=ac1.low,
        ac1_high=ac1.high,
        brennan_prediger=brennan_prediger,
        jaccard=_compute_mean_overlap(matrix, a, b, rows[in_common], is_same[in_common])
        if n and (task.several & in_common & ~is_same).any()
        else observed,
        both_wrong=n_same_wrong / n_both_wrong if n_both_wrong else None,
        both_wrong_n=n_both_wrong,
        note="; ".join(filter(None, notes)),
    )


def _join_notes(kappa: Estimate, settings: Settings, n: int) -> str:
    notes = [kappa.note]
    if n and settings.weights is not Weights.NONE:
        notes.append(f"{settings.weights} weights; ac1 is AC2")
    return "; ".join(filter(None, notes))


def _compute_random_agreement(matrix: RatingMatrix, rows: NDArray[np.int64], k: int) -> NDArray[np.float64]:
    """Return 1 / number of possible answers of each question; 1 / k if it is not stated."""
    options = matrix.options[rows].astype(np.float64)
    possible = np.where(matrix.has_several_selected[rows], 2.0 ** np.minimum(options, 60) - 1, options)
    return 1.0 / np.where(options > 0, possible, max(1, k))


def _compute_brennan_prediger(chance: NDArray[np.float64], observed: float | None) -> float | None:
    """Compute (agreement - chance) / (1 - chance); chance is the mean of 1 / number of possible answers."""
    if observed is None:
        return None
    mean_chance = float(chance.sum()) / len(chance)
    return None if mean_chance >= 1 else (observed - mean_chance) / (1 - mean_chance)


def _compute_mean_overlap(
    matrix: RatingMatrix, a: int, b: int, rows: NDArray[np.int64], is_same: NDArray[np.bool_]
) -> float:
    """Compute the mean Jaccard index of the selected options."""
    overlap = is_same.astype(np.float64)
    for index in np.flatnonzero(matrix.has_several_selected[rows] & ~is_same):
        first_options, second_options = (
            set(matrix.labels[matrix.answers[rows[index], rater]].split("|")) for rater in (a, b)
        )
        overlap[index] = len(first_options & second_options) / len(first_options | second_options)
    return float(overlap.mean())


def _count_both_wrong(
    task: _Task, a: int, b: int, in_common: NDArray[np.bool_], is_same: NDArray[np.bool_]
) -> tuple[int, int]:
    """Count the questions that both answered incorrectly, and those with the same wrong answer."""
    are_both_wrong = task.wrong[a] & task.wrong[b] & in_common
    return int(np.count_nonzero(are_both_wrong)), int(np.count_nonzero(are_both_wrong & is_same))


def _explain_none_wrong(matrix: RatingMatrix, a: int, b: int, rows: NDArray[np.int64]) -> str:
    if matrix.reference in (a, b):
        return "one of the two raters is the reference"
    if not ((matrix.correct[rows, a] >= 0) & (matrix.correct[rows, b] >= 0)).any():
        return "no question that both answered has a reference answer"
    return "no question was answered incorrectly by both"
