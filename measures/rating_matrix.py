"""Ratings as arrays of shape (questions, raters): answers, and whether they are correct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    incorrect or "cannot determine", -1 if the answer or the truth is missing. ``not_marked`` (q, r) states
    whether an answer exists that nobody has marked; ``answers`` and ``correct`` are then -1. ``task`` and
    ``category`` (q,) are indices into ``tasks`` and ``categories``, -1 if not stated. ``cluster`` (q,) has
    patient numbers if the table states patients, otherwise exam numbers (``cluster_unit`` is "patient" or
    "exam"); it is None if no question states either, and a question without one counts as a cluster of its
    own. ``options`` (q,) is the number of options, 0 if not stated. ``has_several_selected`` (q,) states
    whether any rater selected more than one option. ``reference`` is the column of the reference.
    ``set_reference`` (r,) states whether the rater helped to set the reference. A reader with several arms
    has one column for each arm: ``persons`` (r,) is the name without the arm, and ``arms`` (r,) the arm, ""
    if not stated. ``period`` (q, r) is an index into ``periods``, -1 if not stated. ``scores`` (q, r) are the
    scores of the answers, and ``probabilities`` (q, r) the stated probabilities that they are correct, NaN if
    missing. ``selected`` (q, r) states whether the answer was requested because of another rater's answer;
    such answers would bias agreement.
    """

    questions: tuple[str, ...]
    raters: tuple[str, ...]
    kinds: tuple[str, ...]
    labels: tuple[str, ...]
    answers: NDArray[np.int64]
    correct: NDArray[np.int64]
    not_marked: NDArray[np.bool_]
    tasks: tuple[str, ...]
    task: NDArray[np.int64]
    categories: tuple[str, ...]
    category: NDArray[np.int64]
    cluster: NDArray[np.int64] | None
    cluster_unit: str
    options: NDArray[np.int64]
    has_several_selected: NDArray[np.bool_]
    reference: int | None
    set_reference: tuple[bool, ...]
    persons: tuple[str, ...]
    arms: tuple[str, ...]
    periods: tuple[str, ...]
    period: NDArray[np.int64]
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    selected: NDArray[np.bool_]

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

    def count_selected(self, rows: NDArray[np.int64], a: int, b: int) -> int:
        """Count the questions that both answered, one of them because of another rater's answer."""
        is_selected = self.selected[rows, a] | self.selected[rows, b]
        if not is_selected.any():
            return 0
        return int((is_selected & (self.answers[rows, a] >= 0) & (self.answers[rows, b] >= 0)).sum())

    def select_raters(self, columns: Sequence[int]) -> RatingMatrix:
        """Return the ratings of some raters, in this order; the reference must not be one of them."""
        index = list(columns)
        return replace(
            self,
            raters=tuple(self.raters[column] for column in index),
            kinds=tuple(self.kinds[column] for column in index),
            answers=self.answers[:, index],
            correct=self.correct[:, index],
            not_marked=self.not_marked[:, index],
            reference=None,
            set_reference=tuple(self.set_reference[column] for column in index),
            persons=tuple(self.persons[column] for column in index),
            arms=tuple(self.arms[column] for column in index),
            period=self.period[:, index],
            scores=self.scores[:, index],
            probabilities=self.probabilities[:, index],
            selected=self.selected[:, index],
        )

    def cluster_numbers(self, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return the patient or exam numbers of these questions; None if no question states one."""
        return None if self.cluster is None else self.cluster[rows]

    @property
    def reader_arms(self) -> tuple[str, ...]:
        """The arms of the readers in alphabetical order; empty if all readers read in a single arm."""
        arms = {self.arms[column] for column in self.non_reference_raters if self.kinds[column] == "reader"}
        return tuple(sorted(arms)) if len(arms) > 1 else ()

    def list_readers(self, *, include_helpers: bool) -> tuple[str, ...]:
        """Return the names of the readers, once for all of their arms.

        Args:
            include_helpers: whether to include readers who helped to set the reference.
        """
        return tuple(
            dict.fromkeys(
                self.persons[column]
                for column in self.non_reference_raters
                if self.kinds[column] == "reader" and (include_helpers or not self.set_reference[column])
            )
        )

    def are_comparable(self, a: int, b: int) -> bool:
        """Whether two raters differ in one respect only: the person, or the arm of the same person.

        Two readers in different arms differ in both, so their difference has no single cause.
        """
        are_both_readers = self.kinds[a] == self.kinds[b] == "reader"
        return not are_both_readers or self.persons[a] == self.persons[b] or self.arms[a] == self.arms[b]


def _build_subsets(names: tuple[str, ...], name_indices: NDArray[np.int64]) -> list[QuestionSubset]:
    return [
        QuestionSubset(name=name, rows=np.flatnonzero(name_indices == index))
        for index, name in enumerate(names)
    ]
