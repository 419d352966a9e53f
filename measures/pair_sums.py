"""Weighted sums over questions of the agreements and answers of many pairs of raters.

The weights are random weights of a posterior (:mod:`measures.posterior`) or the numbers of times that a
bootstrap draws each question (:mod:`measures.kappa_bootstrap`). All pairs use the same weights. The sums of a
rater's answers are the same in all pairs with the same questions in common, and are computed once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Maximum number of sums of answers that are kept.
_MAX_KEPT = 8_000_000


class PairSums:
    """Sums of agreements and answers of any pair of raters, for each set of weights of the questions.

    Args:
        answers: category indices 0 to k - 1, -1 where missing, shape (questions, raters).
        question_weights: the weights, shape (questions, draws).
        k: the number of categories.
    """

    def __init__(self, answers: NDArray[np.int64], question_weights: Floats, *, k: int) -> None:
        self._answers = np.ascontiguousarray(answers.T)
        self._answered = self._answers >= 0
        self._weights = question_weights
        self._sums: dict[tuple[int, bytes], Floats] = {}
        self._rows: dict[bytes, slice | NDArray[np.int64]] = {}
        self.used_categories = np.unique(answers[answers >= 0])
        # The sums have an additional last row of zeros, for categories that nobody used.
        self._position = np.full(k, len(self.used_categories))
        self._position[self.used_categories] = np.arange(len(self.used_categories))
        self._rows_of_sums = len(self.used_categories) + 1

    def sum_agreements(self, agreements: Floats) -> Floats:
        """Sum the agreement of each pair over the questions; shapes (pairs, questions) and (pairs, draws)."""
        sums: Floats = agreements @ self._weights
        return sums

    def find_common(self, rater: int, other: int) -> bytes:
        """Return which questions both raters answered, as the bytes of an array of booleans."""
        common: bytes = (self._answered[rater] & self._answered[other]).tobytes()
        return common

    def has_all_answers(self, rater: int, common: bytes) -> bool:
        """Whether ``common`` has all questions that the rater answered."""
        return bool(self._answered[rater].tobytes() == common)

    def sum_answers(self, rater: int, common: bytes, categories: NDArray[np.int64]) -> Floats:
        """Sum the weights of a rater's answers to the questions that both raters of a pair answered.

        Args:
            rater: the rater.
            common: the questions that both answered, from :meth:`find_common`.
            categories: the categories to return.

        Returns:
            Shape (categories, draws). Callers must not change the array.
        """
        key = (rater, common)
        if key not in self._sums:
            draws = self._weights.shape[1]
            if (len(self._sums) + 1) * self._rows_of_sums * draws > _MAX_KEPT:
                self._sums.clear()
            rows = np.flatnonzero(np.frombuffer(common, dtype=np.bool_))
            positions = self._position[self._answers[rater, rows]]
            order = np.argsort(positions, kind="stable")
            distinct, starts = np.unique(positions[order], return_index=True)
            sums = np.zeros((self._rows_of_sums, draws))
            if rows.size:
                sums[distinct] = np.add.reduceat(self._weights[rows[order]], starts, axis=0)
            self._sums[key] = sums
        sums_of_categories: Floats = self._sums[key][self._find_rows(categories)]
        return sums_of_categories

    def _find_rows(self, categories: NDArray[np.int64]) -> slice | NDArray[np.int64]:
        """Return the rows of these categories; a slice (without a copy) if they are the used categories."""
        key = categories.tobytes()
        if key not in self._rows:
            are_used_categories = np.array_equal(categories, self.used_categories)
            self._rows[key] = slice(len(categories)) if are_used_categories else self._position[categories]
        return self._rows[key]
