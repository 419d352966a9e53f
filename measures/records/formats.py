"""The answer formats of questions: groups of questions whose answers have the same set of categories.

The letter B of a question with four options and the answer "no" are not categories of one set, so agreement
is computed in each format and averaged (:func:`measures.kappa_intervals.kappa_interval`, ``strata``). A
format is yes or no, letters (by number of options), several options (by number of options), or other text.
The reference's answer decides the format, or else the most frequent kind of answer, so an unreadable reply
does not change it. Questions whose only answer is "cannot determine" belong to the most frequent format.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from measures.agreement import Weights
from measures.rating_matrix import RatingMatrix
from measures.rating_values import UNDETERMINED

_YES_NO, _LETTER, _OTHER, _UNKNOWN = range(4)
_SEVERAL_OPTIONS = 4


def number_formats(
    matrix: RatingMatrix, rows: NDArray[np.int64], weights: Weights
) -> NDArray[np.int64] | None:
    """Number the answer formats of questions.

    Args:
        matrix: the ratings.
        rows: the row indices of the questions, shape (n,).
        weights: the weights of the settings. Ordered answers are one scale.

    Returns:
        The format of each question, shape (n,); None if there is one format only.
    """
    if weights is not Weights.NONE or not len(rows):
        return None
    kind_of_label = np.array([*(_classify_label(label) for label in matrix.labels), _UNKNOWN])
    kinds = kind_of_label[matrix.answers[rows]]
    counts = np.stack([(kinds == kind).sum(axis=1) for kind in (_YES_NO, _LETTER, _OTHER)], axis=1)
    question_kind = np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), _UNKNOWN)
    if matrix.reference is not None:
        reference_kind = kinds[:, matrix.reference]
        question_kind = np.where(reference_kind != _UNKNOWN, reference_kind, question_kind)
    question_kind = np.where(matrix.has_several_selected[rows], _SEVERAL_OPTIONS, question_kind)
    has_letters = (question_kind == _LETTER) | (question_kind == _SEVERAL_OPTIONS)
    options = np.where(has_letters, matrix.options[rows], 0)
    formats = question_kind * (int(options.max()) + 1) + options
    known_formats = formats[question_kind != _UNKNOWN]
    if not known_formats.size:
        return None
    distinct, counts_of_formats = np.unique(known_formats, return_counts=True)
    formats = np.where(question_kind == _UNKNOWN, distinct[counts_of_formats.argmax()], formats)
    return None if len(distinct) == 1 else np.searchsorted(distinct, formats)


def describe_formats(formats: NDArray[np.int64]) -> str:
    """Return a note that a coefficient is a mean over answer formats."""
    return f"mean over {len(np.unique(formats))} answer formats, weighted by their questions"


def _classify_label(label: str) -> int:
    if label == UNDETERMINED:
        return _UNKNOWN
    if label.lower() in {"yes", "no"}:
        return _YES_NO
    return _LETTER if all(len(option) == 1 and option.isalpha() for option in label.split("|")) else _OTHER
