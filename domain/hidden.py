"""Hidden questions: repeats of a reviewer's own questions, and questions with a planted fault."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.batches import AssignmentState, FormScope
from domain.errors import InvalidValue
from domain.verdicts import ErrorKind
from domain.vocabulary import Choice


class HiddenKind(StrEnum):
    """The kind of a hidden question: a repeat measures self-agreement, a planted fault measures attention."""

    REPEAT = "repeat"
    PLANTED = "planted"


class PlantedFault(Choice):
    """The fault that was added to a correct question."""

    KEY_SWAPPED = "key swapped"
    SECOND_CORRECT_OPTION = "second right option", "second correct option"
    PRIOR_COMPARISON = "comparison with a prior", "comparison with a prior exam"
    WRONG_SIDE = "wrong side"
    ABSENT_FINDING = "finding not there", "absent finding"


#: A fault counts as found if the reviewer reported one of these kinds of error.
DETECTING_ERRORS: dict[PlantedFault, frozenset[ErrorKind]] = {
    PlantedFault.KEY_SWAPPED: frozenset({ErrorKind.WRONG_KEY, ErrorKind.EXPLANATION}),
    PlantedFault.SECOND_CORRECT_OPTION: frozenset({ErrorKind.SEVERAL_CORRECT}),
    PlantedFault.PRIOR_COMPARISON: frozenset({ErrorKind.COMPARISON, ErrorKind.NOT_ANSWERABLE}),
    PlantedFault.WRONG_SIDE: frozenset({ErrorKind.WRONG_LOCATION, ErrorKind.EXPLANATION}),
    PlantedFault.ABSENT_FINDING: frozenset(
        {ErrorKind.NOT_IN_IMAGE, ErrorKind.NOT_IN_REPORT, ErrorKind.EXPLANATION}
    ),
}

#: The faults that a reviewer can find, by the fields of the form that the batch requests.
DETECTABLE_FAULTS: dict[FormScope, tuple[PlantedFault, ...]] = {
    FormScope.ALL: tuple(PlantedFault),
    FormScope.KEY: (PlantedFault.KEY_SWAPPED, PlantedFault.SECOND_CORRECT_OPTION),
    FormScope.IMAGE_ALIGNMENT: (PlantedFault.WRONG_SIDE, PlantedFault.ABSENT_FINDING),
}

#: The maximum number of planted questions of a reviewer.
MAX_PLANTED = 1000
#: The default of :attr:`HiddenPlan.min_distance`.
DEFAULT_MIN_DISTANCE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenPlan:
    """The plan of the hidden questions that each reviewer of a batch gets.

    ``repeat_share`` is the share (0 to 0.5) of a reviewer's own questions that are shown again, at least
    ``min_distance`` questions later. ``planted_count`` is the number of questions with a fault. Instead,
    ``planted_every`` can be set: N plants one question per N of the reviewer's own (0: not used). The kinds
    in ``faults`` are used in turn. The same plan and questions give the same hidden questions.

    Raises:
        InvalidValue: a value is outside its range, there are neither repeats nor planted questions, or
            planted questions have both a number and a rate.
    """

    repeat_share: float = 0.1
    min_distance: int = DEFAULT_MIN_DISTANCE
    planted_count: int = 0
    planted_every: int = 0
    faults: tuple[PlantedFault, ...] = tuple(PlantedFault)
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.repeat_share <= 0.5:
            raise InvalidValue("repeats", f"must be a share of 0 to 0.5, not {self.repeat_share:g}")
        if not 1 <= self.min_distance <= 10_000:
            raise InvalidValue("distance", f"must be 1 to 10,000 questions, not {self.min_distance}")
        if not 0 <= self.planted_count <= MAX_PLANTED:
            raise InvalidValue("planted", f"must be 0 to 1,000 for each reviewer, not {self.planted_count}")
        if self.planted_every and not 2 <= self.planted_every <= 1000:
            raise InvalidValue("planted", f"must be one in 2 to 1,000 questions, not {self.planted_every}")
        if self.planted_every and self.planted_count:
            raise InvalidValue("planted", "must be a number or a rate, not both")
        if self.plants and not self.faults:
            raise InvalidValue("faults", "must contain at least one kind of fault to plant")
        if len(set(self.faults)) != len(self.faults):
            raise InvalidValue("faults", "must not repeat a kind")
        if not self.repeat_share and not self.plants:
            raise InvalidValue("repeats", "must be above 0 if there are no planted questions")
        if not 0 <= self.seed < 2**31:
            raise InvalidValue("seed", f"must be 0 to 2147483647, not {self.seed}")

    @property
    def plants(self) -> bool:
        """Whether there are planted questions."""
        return bool(self.planted_count or self.planted_every)

    def count_planted(self, own_count: int) -> int:
        """Return the number of planted questions of a reviewer with ``own_count`` other questions."""
        if not self.planted_every:
            return self.planted_count
        return min(own_count // self.planted_every, MAX_PLANTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenQuestion:
    """A hidden question of one reviewer, which is stored as a question of its own.

    ``question_row_id`` is its id in the database, ``source_question_row_id`` that of the question from which
    it was made. In a shared queue, it is shown once the reviewer has judged ``min_judged_count`` questions.
    If ``removed_at`` is set, the question no longer counts.

    Raises:
        InvalidValue: a planted question has no fault, or a repeat has a fault.
    """

    question_row_id: int
    batch_id: int
    person_id: int
    kind: HiddenKind
    fault: PlantedFault | None
    source_question_row_id: int
    min_judged_count: int
    hidden_at: datetime
    removed_at: datetime | None = None
    removal_reason: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether the question counts, that is, was not removed."""
        return self.removed_at is None

    def __post_init__(self) -> None:
        if (self.kind is HiddenKind.PLANTED) != (self.fault is not None):
            raise InvalidValue("fault", "must be set for a planted question and not for a repeat")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedQuestion:
    """A question in a reviewer's queue, either hidden or drawn.

    ``question_row_id`` and ``exam_row_id`` are ids in the database; ``question_id`` is the id in the
    question's file. ``first_judged_at`` is the time of the reviewer's first verdict on the question, or None.
    """

    question_row_id: int
    question_id: str
    exam_row_id: int
    position: int
    state: AssignmentState
    is_hidden: bool
    first_judged_at: datetime | None = None
