"""Fleiss' kappa of each category, and intraclass correlations of numeric answers, for each group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from measures.agreement import Weights
from measures.group_agreement import fleiss_by_category, fleiss_z
from measures.intraclass import intraclass
from measures.rating_matrix import RatingMatrix
from measures.records.group_agreement import list_rater_groups
from measures.records.settings import Settings
from measures.results import CategoryAgreement, IntraclassResult


def compute_category_agreement(matrix: RatingMatrix) -> tuple[CategoryAgreement, ...]:
    """Compute Fleiss' kappa of each category of answers against all others, for each group and task.

    Args:
        matrix: the ratings.

    Returns:
        One result per group, task and category. ``z`` is Fleiss' z statistic of all categories together, from
        the questions that all raters of the group answered; it is the same for all categories.
    """
    return tuple(_compute_category_agreement(matrix))


def compute_intraclass(matrix: RatingMatrix, settings: Settings) -> tuple[IntraclassResult, ...]:
    """Compute the six intraclass correlations of Shrout and Fleiss, for each group and task.

    Args:
        matrix: the ratings.
        settings: the settings; the weights and the confidence are used.

    Returns:
        Empty if no weights are set or an answer is not a number, because the answers then have no numeric
        scale. "Cannot determine" counts as missing.
    """
    if settings.weights is Weights.NONE:
        return ()
    values = np.array([*(_parse_number(label) for label in matrix.labels), np.nan])
    is_text = np.isnan(values[:-1])
    if matrix.undetermined >= 0:
        is_text[matrix.undetermined] = False
    if is_text.any():
        return ()
    numbers: NDArray[np.float64] = values[matrix.answers]
    return tuple(
        IntraclassResult(
            kind=group.kind,
            arm=group.arm,
            task=subset.name,
            icc=result.icc_type,
            n=result.n,
            raters=result.raters,
            estimate=result.estimate,
            low=result.low,
            high=result.high,
            f=result.ratio,
            note=result.note,
        )
        for group in list_rater_groups(matrix)
        for subset in matrix.task_subsets()
        for result in intraclass(numbers[subset.rows][:, group.columns], confidence=settings.confidence)
    )


def _compute_category_agreement(matrix: RatingMatrix) -> Iterator[CategoryAgreement]:
    for group in list_rater_groups(matrix):
        for subset in matrix.task_subsets():
            answers = matrix.answers[subset.rows][:, group.columns]
            used = sorted(set(answers[answers >= 0].tolist()))
            if not used:
                continue
            code_by_label = np.full(len(matrix.labels) + 1, -1)
            code_by_label[used] = np.arange(len(used))
            answer_codes = code_by_label[answers]
            complete_codes = answer_codes[(answer_codes >= 0).all(axis=1)]
            z = fleiss_z(complete_codes, k=len(used)) if len(complete_codes) else None
            result = CategoryAgreement(
                kind=group.kind,
                arm=group.arm,
                task=subset.name,
                category="",
                answers=0,
                kappa=None,
                z=z,
                note="",
            )
            for index, kappa in enumerate(fleiss_by_category(answer_codes, k=len(used))):
                notes = [
                    "" if kappa is not None else "kappa: not defined: all or no answers are in the category",
                    ""
                    if z is not None
                    else "z: not defined: no question was answered by all raters, or all answers to these "
                    "questions are in one category",
                ]
                yield replace(
                    result,
                    note="; ".join(filter(None, notes)),
                    category=matrix.labels[used[index]],
                    answers=int((answer_codes == index).sum()),
                    kappa=kappa,
                )


def _parse_number(label: str) -> float:
    try:
        value = float(label)
    except ValueError:
        return np.nan
    return value if np.isfinite(value) else np.nan
