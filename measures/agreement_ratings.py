"""Prepares ratings for the measures of agreement: their categories, and what counts as missing.

By default the categories are the answers. With correctness as basis, they are "correct" and "incorrect"; two
raters then agree if both are correct or both are incorrect, even if their wrong answers differ.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from domain.protocols import AgreementBasis
from measures.rating_matrix import RatingMatrix
from measures.records.settings import Settings

#: The categories if agreement is computed from the correctness of the answers.
CORRECTNESS_LABELS = ("correct", "incorrect")


def select_agreement_ratings(matrix: RatingMatrix, settings: Settings) -> RatingMatrix:
    """Return the ratings with which agreement is computed.

    Args:
        matrix: all ratings.
        settings: the settings; ``agreement_basis`` and ``missing_in_agreement`` are used.

    Returns:
        The ratings. With correctness as basis, the reference is not a rater, because it is always correct.
    """
    is_missing = np.zeros(matrix.answers.shape, dtype=np.bool_)
    if settings.missing_in_agreement is not None and settings.missing_in_agreement in matrix.labels:
        is_missing = matrix.answers == matrix.labels.index(settings.missing_in_agreement)
    if settings.agreement_basis is AgreementBasis.ANSWERS:
        return replace(matrix, answers=np.where(is_missing, -1, matrix.answers))
    columns = matrix.non_reference_raters
    selected = matrix.select_raters(columns)
    is_unknown = is_missing[:, columns] | (selected.correct < 0)
    return replace(
        selected,
        labels=CORRECTNESS_LABELS,
        answers=np.where(is_unknown, -1, 1 - selected.correct),
        options=np.full(len(matrix.questions), 2),
        has_several_selected=np.zeros(len(matrix.questions), dtype=np.bool_),
    )
