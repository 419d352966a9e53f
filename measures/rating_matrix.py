"""Ratings as arrays of shape (questions, raters): answer numbers, and correct, incorrect or missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from measures.rating_values import ALL, UNDETERMINED


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSubset:
    """A task or category; ``rows`` are the row numbers of its questions in :class:`RatingMatrix`."""

    name: str
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingMatrix:
    """Ratings as arrays: q questions in the order of their ids, r raters in the order of their names.

    ``answers`` (q, r): index into ``labels``, -1 if missing. ``correct`` (q, r): 1 correct, 0 incorrect or
    "cannot determine", -1 if the answer or the truth is missing. ``task`` and ``category`` (q,): index into
    ``tasks`` and ``categories``, -1 if not stated. ``exam`` (q,): exam numbers; a question without an exam is
    an exam of its own; None if no question states one. ``options`` (q,): number of options, 0 if not stated.
    ``multiple_ticks`` (q,): whether any rater ticked more than one option. ``reference``: column of the
    reference. ``set_reference`` (r,): whether the rater helped to set the reference.
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
        """The index of "cannot determine" in ``labels``; -2 if nobody answered so."""
        return self.labels.index(UNDETERMINED) if UNDETERMINED in self.labels else -2

    @property
    def non_reference_raters(self) -> list[int]:
        """The columns of all raters except the reference."""
        return [column for column in range(len(self.raters)) if column != self.reference]

    def task_subsets(self) -> list[QuestionSubset]:
        """All questions as "all", then each task with its questions."""
        all_questions = QuestionSubset(name=ALL, rows=np.arange(len(self.questions)))
        return [all_questions, *_build_subsets(self.tasks, self.task)]

    def category_subsets(self) -> list[QuestionSubset]:
        """Each category with its questions."""
        return _build_subsets(self.categories, self.category)

    def exam_numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The exam numbers of these questions; None if no question states an exam."""
        return None if self.exam is None else self.exam[rows]


def _build_subsets(names: tuple[str, ...], numbers: NDArray[np.int64]) -> list[QuestionSubset]:
    return [
        QuestionSubset(name=name, rows=np.flatnonzero(numbers == index)) for index, name in enumerate(names)
    ]
