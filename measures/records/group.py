"""Agreement of all raters together, and Cochran's Q of their accuracies, by task.

The reference is not a member of the group. If there are both readers and models, there is a record for all,
one for the readers and one for the models. With ordered answers, Fleiss, Conger, Light and AC1 (then AC2) use
the weights; Krippendorff's alpha is ordinal with linear weights and interval with quadratic weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from measures.agreement import Weights
from measures.coded import Cell, Coded
from measures.estimate import Estimate
from measures.group import Coefficient, agreement_of, ordinal_weights
from measures.paired import cochran_q
from measures.pairs import kappas, pair_tables
from measures.records.scales import Scale, scale_of
from measures.records.settings import Settings
from measures.results import GroupAgreement


def group(coded: Coded, settings: Settings) -> tuple[GroupAgreement, ...]:
    """Agreement of each group of two raters or more, for all tasks together and for each task.

    Args:
        coded: the ratings.
        settings: weights and confidence are used.

    Returns:
        The group of all raters first, then the readers and the models, if there are two or more of the kind
        and raters of another kind; in each group task by task, all tasks first.

    Raises:
        Refused: weights for answers without an order.
    """
    return tuple(
        _group(coded, settings, name, raters, cell)
        for name, raters in _groups(coded)
        for cell in coded.cells()
    )


def _groups(coded: Coded) -> Iterator[tuple[str, list[int]]]:
    everybody = coded.judged
    if len(everybody) < 2:
        return
    yield "all", everybody
    for kind in ("reader", "model"):
        members = [at for at in everybody if coded.kinds[at] == kind]
        if 2 <= len(members) < len(everybody):
            yield kind, members


def _group(coded: Coded, settings: Settings, name: str, raters: list[int], cell: Cell) -> GroupAgreement:
    rows, exam = cell.rows, coded.exams(cell.rows)
    scale = scale_of(coded, rows, settings.weights)
    answers = scale.codes[:, raters]
    found: dict[Coefficient, Estimate] = {
        each: agreement_of(
            answers, each, weights=scale.weights, clusters=exam, confidence=settings.confidence
        )
        for each in (Coefficient.PERCENT, Coefficient.FLEISS, Coefficient.CONGER, Coefficient.AC1)
        if scale.k
    }
    missing = Estimate(n=0, note="not defined: no question has two answers")
    percent, fleiss, conger, ac1 = (
        found.get(each, missing)
        for each in (Coefficient.PERCENT, Coefficient.FLEISS, Coefficient.CONGER, Coefficient.AC1)
    )
    krippendorff = _alpha(answers, scale, settings, exam) if scale.k else missing
    right = coded.right[rows][:, raters]
    q, degrees, p = cochran_q(right[(right >= 0).all(axis=1)] == 1)
    light = _light(answers, scale)
    complete = int((right >= 0).all(axis=1).sum())
    return GroupAgreement(
        task=cell.name,
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
        q_n=complete,
        kind=name,
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
        note=_note(
            {"percent": percent, "fleiss": fleiss, "conger": conger, "ac1": ac1, "alpha": krippendorff},
            light=light,
            q=q,
            complete=complete,
        ),
    )


def _note(found: dict[str, Estimate], *, light: float | None, q: float | None, complete: int) -> str:
    """The reasons why values are None; a reason that does not hold for all coefficients names its own."""
    reasons: dict[str, list[str]] = {}
    for name, each in found.items():
        if each.note:
            reasons.setdefault(each.note, []).append(name)
    told = [
        reason if len(names) == len(found) else f"{', '.join(names)}: {reason}"
        for reason, names in reasons.items()
    ]
    if light is None and all(each.value is not None for each in found.values()):
        told.append("light: not defined: no pair has a kappa")
    if q is None:
        why = "no question divides the raters" if complete else "no question with a truth that all answered"
        told.append(f"cochran_q: not defined: {why}")
    return "; ".join(told)


def _alpha(
    answers: NDArray[np.int64], scale: Scale, settings: Settings, exam: NDArray[np.int64] | None
) -> Estimate:
    ordinal = settings.weights is Weights.LINEAR
    found = agreement_of(
        answers,
        Coefficient.ALPHA,
        weights=ordinal_weights(answers, k=scale.k) if ordinal else scale.weights,
        clusters=exam,
        confidence=settings.confidence,
    )
    if not ordinal or found.value is None:
        return found
    return Estimate(n=found.n, value=found.value, note="no interval: ordinal with linear weights")


def _light(answers: NDArray[np.int64], scale: Scale) -> float | None:
    """Light's kappa: the mean of the pairs' kappas, without the pairs that have none."""
    if not scale.k:
        return None
    pairs = list(combinations(range(answers.shape[1]), 2))
    values, _ = kappas(pair_tables(answers, pairs, k=scale.k)[0], scale.weights)
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None
