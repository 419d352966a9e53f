"""What a batch is counted from, as columns: its questions, who has them, what was said of them.

A batch may have a hundred thousand of each, and a page that counts them must not make an object of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.batches import AssignmentState
from domain.verdicts import Decision, ErrorKind
from domain.vocabulary import Difficulty, Task

#: What the codes in the columns below stand for, by their places; -1 is none.
TIERS, TASKS = tuple(Difficulty), tuple(Task)
DECISIONS, STATES = tuple(Decision), tuple(AssignmentState)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuestionColumns:
    """Every question of the batch, by position; ``tiers`` are the machine's."""

    numbers: NDArray[np.int64]
    exams: NDArray[np.int64]
    tiers: NDArray[np.int8]
    tasks: NDArray[np.int8]
    inclusion_probabilities: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AssignedColumns:
    """Each (question, person) that the question is with; withdrawn ones left out."""

    questions: NDArray[np.int64]
    people: NDArray[np.int64]
    states: NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedColumns:
    """Each (question, person) that has a verdict: the latest, and when (UTC) and how fast the first came.

    ``errors`` are places in ``error_sets``; ``tiers`` are the expert's own. ``ratings`` have a column each of
    ``RATING_NAMES``, 0 where not judged; ``flags`` of ``FLAG_NAMES``, 1 for yes, 0 for no, -1 where not
    judged.
    """

    questions: NDArray[np.int64]
    people: NDArray[np.int64]
    decisions: NDArray[np.int8]
    errors: NDArray[np.int64]
    error_sets: tuple[frozenset[ErrorKind], ...]
    tiers: NDArray[np.int8]
    ratings: NDArray[np.int8]
    flags: NDArray[np.int8]
    first_given_at: NDArray[np.datetime64]
    first_seconds: NDArray[np.float64]

    def has_error(self, kind: ErrorKind) -> NDArray[np.bool_]:
        """Whether each judgement names that kind of error."""
        return np.array([kind in each for each in self.error_sets], dtype=bool)[self.errors]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Facts:
    """All that is counted from; ``people`` are names by the person's number."""

    questions: QuestionColumns
    assigned: AssignedColumns
    judged: JudgedColumns
    people: Mapping[int, str]
