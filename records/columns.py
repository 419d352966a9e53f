"""The questions, assignments and latest verdicts of a batch as columns: arrays with one element per row.

A batch may have a hundred thousand of each. Creating an object per row takes ten times as long as reading the
row. Storage therefore reads columns, and code that counts a whole batch works on columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from domain.batches import AssignmentState
from domain.verdicts import Decision, ErrorKind
from domain.vocabulary import Difficulty, Task

#: The values of the codes in the columns below. A code is an index into one of these; -1 means no value.
TIERS, TASKS = tuple(Difficulty), tuple(Task)
DECISIONS, STATES = tuple(Decision), tuple(AssignmentState)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuestionColumns:
    """All questions of a batch, ordered by position. ``tiers`` are the machine's difficulties."""

    numbers: NDArray[np.int64]
    exams: NDArray[np.int64]
    tiers: NDArray[np.int8]
    tasks: NDArray[np.int8]
    inclusion_probabilities: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AssignmentColumns:
    """The assignments (question, person) of a batch, without withdrawn assignments and hidden questions."""

    questions: NDArray[np.int64]
    people: NDArray[np.int64]
    states: NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LatestVerdicts:
    """The latest verdict of each (question, batch, person), in this order, without hidden questions.

    ``errors`` are indices into ``error_sets``. ``tiers`` are the experts' difficulties. ``ratings`` has a
    column for each of ``RATING_IDS``: 1 to 5, or 0 for not judged. ``flags`` has a column for each of
    ``FLAG_IDS``: 1 for yes, 0 for no, -1 for not judged. Both have no columns if they were not loaded.
    ``first_given_at`` (UTC) and ``first_seconds`` (looking) belong to the person's first verdict on the
    question in the batch.
    """

    questions: NDArray[np.int64]
    exams: NDArray[np.int64]
    batches: NDArray[np.int64]
    people: NDArray[np.int64]
    decisions: NDArray[np.int8]
    errors: NDArray[np.int64]
    error_sets: tuple[frozenset[ErrorKind], ...]
    tiers: NDArray[np.int8]
    corrects: NDArray[np.bool_]
    changes_key: NDArray[np.bool_]
    given_at: NDArray[np.datetime64]
    first_given_at: NDArray[np.datetime64]
    first_seconds: NDArray[np.float64]
    ratings: NDArray[np.int8]
    flags: NDArray[np.int8]

    def __len__(self) -> int:
        """Return the number of verdicts."""
        return len(self.questions)

    def has_error(self, kind: ErrorKind) -> NDArray[np.bool_]:
        """Return for each verdict whether it reports this kind of error."""
        return np.array([kind in errors for errors in self.error_sets], dtype=bool)[self.errors]

    def select_person(self, person: int) -> LatestVerdicts:
        """Select the verdicts of one person by the person's id."""
        rows = self.people == person
        columns = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return replace(self, **columns)

    def find_latest_rows(self, included: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Find the rows of each person's latest verdict on each question in any batch, ordered by question.

        If several verdicts have the same time, the verdict of the later batch is used.

        Args:
            included: whether each row counts, shape (number of verdicts,); None for all rows.
        """
        rows = np.arange(len(self)) if included is None else np.flatnonzero(included)
        keys = (self.batches, self.given_at, self.people, self.questions)
        rows = rows[np.lexsort(tuple(key_column[rows] for key_column in keys))]
        is_last = np.ones(len(rows), dtype=bool)
        is_last[:-1] = np.logical_or(np.diff(self.questions[rows]) != 0, np.diff(self.people[rows]) != 0)
        return rows[is_last]


_COLUMNS = tuple(name for name in LatestVerdicts.__slots__ if name != "error_sets")
