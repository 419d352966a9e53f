"""Agreement of all raters together, and Cochran's Q of their accuracies, by task.

The reference is not a member of any group. If there are both readers and models, there is a record for all
raters, one for the readers and one for the models. If the readers have several arms, the groups with readers
are computed for each arm; no reader is counted twice. With ordered answers, the coefficients of Fleiss,
Conger and Light and AC1 (which is then AC2) use the weights. Krippendorff's alpha is ordinal with linear
weights and interval with quadratic weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from measures.agreement import Weights
from measures.estimate import Estimate
from measures.group_agreement import Coefficient, agreement_coefficient, ordinal_weights
from measures.paired import cochran_q
from measures.pairs import build_pair_tables, compute_kappas
from measures.rating_matrix import QuestionSubset, RatingMatrix
from measures.records.formats import describe_formats, number_formats
from measures.records.scales import Scale, build_scale
from measures.records.settings import Settings
from measures.results import GroupAgreement


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterGroup:
    """The columns of a group of raters; ``arm`` is "" if the readers have one arm only."""

    kind: str
    arm: str
    columns: list[int]


def compute_group_agreement(matrix: RatingMatrix, settings: Settings) -> tuple[GroupAgreement, ...]:
    """Compute the agreement of each group of two or more raters, for all tasks together and for each task.

    Args:
        matrix: the ratings.
        settings: the settings; weights and confidence are used.

    Returns:
        The group of all raters first, then readers and models. A kind is a group of its own if it has two or
        more raters and there are raters of another kind. Within a group, all tasks together come first, then
        each task.

    Raises:
        Refused: weights are set, but the answers have no order.
    """
    return tuple(
        _build_group_agreement(matrix, settings, group, subset)
        for group in list_rater_groups(matrix)
        for subset in matrix.task_subsets()
    )


def list_rater_groups(matrix: RatingMatrix) -> Iterator[RaterGroup]:
    """Yield all raters together, the readers and the models; groups with readers once for each arm."""
    all_columns = matrix.non_reference_raters
    models = [column for column in all_columns if matrix.kinds[column] == "model"]
    for kind in ("all", "reader", "model"):
        for arm in matrix.reader_arms if matrix.reader_arms and kind != "model" else ("",):
            readers = [
                column
                for column in all_columns
                if matrix.kinds[column] == "reader" and (not arm or matrix.arms[column] == arm)
            ]
            columns = {"all": sorted(readers + models), "reader": readers, "model": models}[kind]
            equals_all_raters = kind != "all" and len(columns) == len(readers) + len(models)
            if len(columns) >= 2 and not equals_all_raters:
                yield RaterGroup(kind=kind, arm=arm, columns=columns)


def _build_group_agreement(
    matrix: RatingMatrix, settings: Settings, group: RaterGroup, subset: QuestionSubset
) -> GroupAgreement:
    raters = group.columns
    rows, clusters = subset.rows, matrix.cluster_numbers(subset.rows)
    scale = build_scale(matrix, rows, settings.weights)
    formats = number_formats(matrix, rows, settings.weights)
    answers = scale.codes[:, raters]
    estimates: dict[Coefficient, Estimate] = {
        coefficient: agreement_coefficient(
            answers,
            coefficient,
            weights=scale.weights,
            clusters=clusters,
            strata=formats,
            confidence=settings.confidence,
            draws=settings.bootstrap,
            seed=settings.seed,
        )
        for coefficient in (Coefficient.PERCENT, Coefficient.FLEISS, Coefficient.CONGER, Coefficient.AC1)
        if scale.k
    }
    undefined = Estimate(n=0, note="not defined: no question has two answers")
    percent, fleiss, conger, ac1 = (
        estimates.get(coefficient, undefined)
        for coefficient in (Coefficient.PERCENT, Coefficient.FLEISS, Coefficient.CONGER, Coefficient.AC1)
    )
    krippendorff = (
        _compute_krippendorff_alpha(answers, scale, settings, clusters, formats) if scale.k else undefined
    )
    correct = matrix.correct[rows][:, raters]
    q, degrees, p = cochran_q(correct[(correct >= 0).all(axis=1)] == 1)
    light = _compute_light_kappa(answers, scale, formats)
    n_complete = int((correct >= 0).all(axis=1).sum())
    return GroupAgreement(
        task=subset.name,
        raters=len(raters),
        n=percent.n,
        fleiss=fleiss.value,
        conger=conger.value,
        light=light,
        alpha=krippendorff.value,
        ac1=ac1.value,
        cochran_q=q,
        q_df=degrees,
        q_p=p,
        q_n=n_complete,
        kind=group.kind,
        arm=group.arm,
        percent=percent.value,
        percent_low=percent.low,
        percent_high=percent.high,
        fleiss_low=fleiss.low,
        fleiss_high=fleiss.high,
        conger_low=conger.low,
        conger_high=conger.high,
        alpha_low=krippendorff.low,
        alpha_high=krippendorff.high,
        ac1_low=ac1.low,
        ac1_high=ac1.high,
        interval="; ".join(
            sorted(
                {method for estimate in (*estimates.values(), krippendorff) if (method := estimate.method)}
            )
        ),
        note=_join_notes(
            {"percent": percent, "fleiss": fleiss, "conger": conger, "ac1": ac1, "alpha": krippendorff},
            light=light,
            q=q,
            n_complete=n_complete,
            formats=formats,
        ),
    )


def _join_notes(
    estimates: dict[str, Estimate],
    *,
    light: float | None,
    q: float | None,
    n_complete: int,
    formats: NDArray[np.int64] | None,
) -> str:
    """Join the reasons why values are None.

    If a reason applies to some coefficients only, their names precede it.
    """
    reasons: dict[str, list[str]] = {}
    for name, estimate in estimates.items():
        if estimate.note:
            reasons.setdefault(estimate.note, []).append(name)
    notes = [
        reason if len(names) == len(estimates) else f"{', '.join(names)}: {reason}"
        for reason, names in reasons.items()
    ]
    if formats is not None:
        notes.insert(0, describe_formats(formats))
    if light is None and all(estimate.value is not None for estimate in estimates.values()):
        notes.append("light: not defined: no pair has a kappa")
    if q is None:
        q_reason = (
            "no question was answered correctly by some raters and incorrectly by others"
            if n_complete
            else "no question with a reference answer was answered by all raters"
        )
        notes.append(f"cochran_q: not defined: {q_reason}")
    return "; ".join(notes)


def _compute_krippendorff_alpha(
    answers: NDArray[np.int64],
    scale: Scale,
    settings: Settings,
    clusters: NDArray[np.int64] | None,
    formats: NDArray[np.int64] | None,
) -> Estimate:
    is_ordinal = settings.weights is Weights.LINEAR
    return agreement_coefficient(
        answers,
        Coefficient.ALPHA,
        weights=ordinal_weights(answers, k=scale.k) if is_ordinal else scale.weights,
        clusters=clusters,
        strata=formats,
        ordinal=is_ordinal,
        confidence=settings.confidence,
        draws=settings.bootstrap,
        seed=settings.seed,
    )


def _compute_light_kappa(
    answers: NDArray[np.int64], scale: Scale, formats: NDArray[np.int64] | None
) -> float | None:
    """Compute Light's kappa, the mean of the pairs' kappas that are defined.

    The kappa of a pair is the mean over the answer formats, weighted by their numbers of questions.
    """
    if not scale.k:
        return None
    pairs = list(combinations(range(answers.shape[1]), 2))
    n_formats = 1 if formats is None else int(formats.max()) + 1
    tables = build_pair_tables(answers, pairs, k=scale.k, stratum=formats, strata=n_formats)
    kappas, _ = compute_kappas(tables, scale.weights)
    counts = np.where(np.isnan(kappas), 0, tables.sum(axis=(2, 3)))
    totals = counts.sum(axis=0)
    sums = np.sum(counts * np.nan_to_num(kappas), axis=0)
    return float((sums[totals > 0] / totals[totals > 0]).mean()) if totals.any() else None
