"""The categories of a task and the agreement weights between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measures.agreement import Weights
from measures.coded import Coded
from measures.ratings import UNDETERMINED, scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """``k`` categories: ``codes`` (questions, raters) are 0 to k - 1, -1 if missing; ``weights`` (k, k)."""

    k: int
    codes: NDArray[np.int64]
    weights: NDArray[np.float64]


def scale_of(coded: Coded, rows: NDArray[np.int64], weights: Weights) -> Scale:
    """The answers to these questions as categories 0 to k - 1, with agreement weights.

    Without weights "cannot determine" is a category. It has no place on an ordered scale and is missing
    there. The weights follow the distance of the values on the scale of the whole table, so unused steps in
    between count.

    Args:
        coded: the ratings.
        rows: row numbers of the questions, shape (n,).
        weights: none, linear or quadratic.

    Returns:
        The scale; k counts the answers that were given, 0 if none was.

    Raises:
        Refused: weights for answers without an order.
    """
    answers = coded.answers[rows]
    if weights is not Weights.NONE:
        answers = np.where(answers == coded.undetermined, -1, answers)
    used = np.unique(answers[answers >= 0])
    number = np.full(len(coded.labels) + 1, -1, dtype=np.int64)
    number[used] = np.arange(len(used))
    codes = number[answers]
    k = len(used)
    if weights is Weights.NONE:
        return Scale(k=k, codes=codes, weights=np.eye(k))
    whole = [label for label in coded.labels if label != UNDETERMINED]
    place_of = dict(zip(whole, scale(whole), strict=True))
    span = max(place_of.values()) - min(place_of.values()) if place_of else 0.0
    places = np.array([place_of[coded.labels[each]] for each in used], dtype=np.float64)
    steps = np.abs(np.subtract.outer(places, places)) / (span or 1.0)
    kept = 1.0 - (steps if weights is Weights.LINEAR else steps**2)
    return Scale(k=k, codes=codes, weights=kept)
