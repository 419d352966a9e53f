"""Ratings as arrays of shape (questions, raters): answers, and whether they are correct."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measures.rating_values import ALL, UNDETERMINED


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSubset:
    """A task or category; ``rows`` contains the row indices of its questions in :class:`RatingMatrix`."""

    name: str
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingMatrix:
    """Ratings as arrays: q questions in the order of their ids, r raters in the order of their names.

    ``answers`` (q, r) are indices into ``labels``, -1 if missing. ``correct`` (q, r) is 1 for correct, 0 for
    incorrect or "cannot determine", -1 if the answer or the truth is missing. ``task`` and ``category`` (q,)
    are indices into ``tasks`` and ``categories``, -1 if not stated. ``exam`` (q,) contains exam numbers; it
    is None if no question states an exam, and a question without an exam counts as an exam of its own.
    ``options`` (q,) is the number of options, 0 if not stated. ``multiple_ticks`` (q,) states whether any
    rater ticked more than one option. ``reference`` is the column of the reference. ``set_reference`` (r,)
    states whether the rater helped to set the reference.
    """

    questions: tuple[str, ...]
    raters: tuple[str, ...]
    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    answers: NDArray[np.int64]
    correct: NDArray[np.int64]
    tasks: tuple[str, ...]
    task: NDArray[np.int64]
    categories: tuple[str, ...]
    category: NDArray[np.int64]
    exam: NDArray[np.int64] | None
    options: NDArray[np.int64]
    multiple_ticks: NDArray[np.bool_]
    reference: int | None
    set_reference: tuple[bool, ...]

    @property
    def undetermined(self) -> int:
        """The index of "cannot determine" in ``labels``; -2 if no rater gave this answer."""
        return self.labels.index(UNDETERMINED) if UNDETERMINED in self.labels else -2

    @property
    def non_reference_raters(self) -> list[int]:
        """The columns of all raters except the reference."""
        return [column for column in range(len(self.raters)) if column != self.reference]

    def task_subsets(self) -> list[QuestionSubset]:
        """Return the subset "all" with all questions, then a subset for each task."""
        all_questions = QuestionSubset(name=ALL, rows=np.arange(len(self.questions)))
        return [all_questions, *_build_subsets(self.tasks, self.task)]

    def category_subsets(self) -> list[QuestionSubset]:
        """Return a subset for each category."""
        return _build_subsets(self.categories, self.category)

    def exam_numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return the exam numbers of these questions; None if no question states an exam."""
        return None if self.exam is None else self.exam[rows]


def _build_subsets(names: tuple[str, ...], name_indices: NDArray[np.int64]) -> list[QuestionSubset]:
    return [
        QuestionSubset(name=name, rows=np.flatnonzero(name_indices == index))
        for index, name in enumerate(names)
    ]
