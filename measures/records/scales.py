"""The categories of a task and the agreement weights between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measures.agreement import Weights
from measures.rating_matrix import RatingMatrix
from measures.rating_values import UNDETERMINED
from measures.ratings import compute_scale_positions


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The scale of a task with ``k`` categories.

    ``codes``, shape (questions, raters), are 0 to k - 1, or -1 if missing. ``weights`` has shape (k, k).
    """

    k: int
    codes: NDArray[np.int64]
    weights: NDArray[np.float64]


def build_scale(matrix: RatingMatrix, rows: NDArray[np.int64], weights: Weights) -> Scale:
    """Convert the answers to these questions to categories 0 to k - 1, and compute agreement weights.

    Answers that were requested because of another rater's answer count as missing.

    Without weights, "cannot determine" is a category. With weights, it counts as missing, because it has no
    position on an ordered scale. The weights depend on the distance of the values on the scale of the whole
    table, so unused values in between count.

    Args:
        matrix: the ratings.
        rows: the row indices of the questions, shape (n,).
        weights: none, linear or quadratic.

    Returns:
        The scale; k is the number of different answers that were given, possibly 0.

    Raises:
        Refused: weights are set, but the answers have no order.
    """
    answers = np.where(matrix.selected[rows], -1, matrix.answers[rows])
    if weights is not Weights.NONE:
        answers = np.where(answers == matrix.undetermined, -1, answers)
    used = np.unique(answers[answers >= 0])
    code_of_label = np.full(len(matrix.labels) + 1, -1, dtype=np.int64)
    code_of_label[used] = np.arange(len(used))
    codes = code_of_label[answers]
    k = len(used)
    if weights is Weights.NONE:
        return Scale(k=k, codes=codes, weights=np.eye(k))
    ordered_labels = [label for label in matrix.labels if label != UNDETERMINED]
    position_by_label = dict(zip(ordered_labels, compute_scale_positions(ordered_labels), strict=True))
    span = max(position_by_label.values()) - min(position_by_label.values()) if position_by_label else 0.0
    positions = np.array(
        [position_by_label[matrix.labels[label_index]] for label_index in used], dtype=np.float64
    )
    steps = np.abs(np.subtract.outer(positions, positions)) / (span or 1.0)
    agreement = 1.0 - (steps if weights is Weights.LINEAR else steps**2)
    return Scale(k=k, codes=codes, weights=agreement)
