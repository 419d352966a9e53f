"""A batch's questions, assignments and latest verdicts as columns: arrays with one place for each row.

A batch may have a hundred thousand of each. An object for each row takes ten times as long as reading it, so
storage reads columns, and what counts a whole batch works on them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from domain.batches import AssignmentState
from domain.verdicts import Decision, ErrorKind
from domain.vocabulary import Difficulty, Task

#: The values behind the codes in the columns below: a code is a place in one of these, -1 is no value.
TIERS, TASKS = tuple(Difficulty), tuple(Task)
DECISIONS, STATES = tuple(Decision), tuple(AssignmentState)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuestionColumns:
    """Every question of a batch, by position; ``tiers`` are the machine's."""

    numbers: NDArray[np.int64]
    exams: NDArray[np.int64]
    tiers: NDArray[np.int8]
    tasks: NDArray[np.int8]
    inclusion_probabilities: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AssignmentColumns:
    """Each (question, person) of a batch that the question is with; withdrawn and hidden ones left out."""

    questions: NDArray[np.int64]
    people: NDArray[np.int64]
    states: NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LatestVerdicts:
    """The latest verdict of each (question, batch, person), in that order; no hidden questions.

    ``errors`` are places in ``error_sets``; ``tiers`` are the expert's own. ``ratings`` have a column each of
    ``RATING_IDS``: 1 to 5, 0 where not judged; ``flags`` a column each of ``FLAG_IDS``: 1 for yes, 0 for
    no, -1 where not judged; both have no columns if they were not asked for. ``first_given_at`` (UTC) and
    ``first_seconds`` (of looking) are of the person's first verdict on the question in the batch.
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
        """Number of verdicts."""
        return len(self.questions)

    def has_error(self, kind: ErrorKind) -> NDArray[np.bool_]:
        """Whether each verdict names that kind of error."""
        return np.array([kind in errors for errors in self.error_sets], dtype=bool)[self.errors]

    def select_person(self, person: int) -> LatestVerdicts:
        """The verdicts of one person, by the person's number."""
        rows = self.people == person
        columns = {name: getattr(self, name)[rows] for name in _COLUMNS}
        return replace(self, **columns)

    def find_latest_rows(self, included: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """The row of each person's latest verdict on each question, in whichever batch, by question.

        Of several at the same time, the one of the later batch.

        Args:
            included: whether a row counts, shape (number of verdicts,); None for all.
        """
        rows = np.arange(len(self)) if included is None else np.flatnonzero(included)
        keys = (self.batches, self.given_at, self.people, self.questions)
        rows = rows[np.lexsort(tuple(key_column[rows] for key_column in keys))]
        ends = np.ones(len(rows), dtype=bool)
        ends[:-1] = np.logical_or(np.diff(self.questions[rows]) != 0, np.diff(self.people[rows]) != 0)
        return rows[ends]


_COLUMNS = tuple(name for name in LatestVerdicts.__slots__ if name != "error_sets")
