"""Hidden questions: repeats of a reviewer's own questions, and questions with a planted fault."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.batches import AssignmentState, FormScope
from domain.errors import InvalidValue
from domain.verdicts import ErrorKind


class HiddenKind(StrEnum):
    """The kind of a hidden question: a repeat measures self-agreement, a planted fault measures attention."""

    REPEAT = "repeat"
    PLANTED = "planted"


class PlantedFault(StrEnum):
    """The fault that was added to a correct question."""

    KEY_SWAPPED = "key swapped"
    SECOND_CORRECT_OPTION = "second right option"
    PRIOR_COMPARISON = "comparison with a prior"
    WRONG_SIDE = "wrong side"
    ABSENT_FINDING = "finding not there"


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

#: The default of :attr:`HiddenPlan.distance`.
DEFAULT_DISTANCE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenPlan:
    """The plan of the hidden questions that each reviewer of a batch gets.

    ``repeats`` is the share (0 to 0.5) of a reviewer's own questions that are shown again, at least
    ``distance`` questions later. ``planted`` is the number of questions with a fault; the kinds in ``faults``
    are used in turn. The same plan and questions give the same hidden questions.

    Raises:
        InvalidValue: a value is outside its range, or there are neither repeats nor planted questions.
    """

    repeats: float = 0.1
    distance: int = DEFAULT_DISTANCE
    planted: int = 0
    faults: tuple[PlantedFault, ...] = tuple(PlantedFault)
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.repeats <= 0.5:
            raise InvalidValue("repeats", f"must be a share of 0 to 0.5, not {self.repeats:g}")
        if not 1 <= self.distance <= 10_000:
            raise InvalidValue("distance", f"must be 1 to 10,000 questions, not {self.distance}")
        if not 0 <= self.planted <= 1000:
            raise InvalidValue("planted", f"must be 0 to 1,000 for each reviewer, not {self.planted}")
        if self.planted and not self.faults:
            raise InvalidValue("faults", "must contain at least one kind of fault to plant")
        if len(set(self.faults)) != len(self.faults):
            raise InvalidValue("faults", "must not repeat a kind")
        if not self.repeats and not self.planted:
            raise InvalidValue("repeats", "must be above 0 if there are no planted questions")
        if not 0 <= self.seed < 2**31:
            raise InvalidValue("seed", f"must be 0 to 2147483647, not {self.seed}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenQuestion:
    """A hidden question of one reviewer, which is stored as a question with its own id ``number``.

    ``source_number`` is the id of the question that it was made from. In a shared queue, it is shown after
    the reviewer has judged ``after`` questions. If ``removed_at`` is set, the question no longer counts;
    ``removed_why`` gives the reason.

    Raises:
        InvalidValue: a planted question has no fault, or a repeat has a fault.
    """

    number: int
    batch_id: int
    person_id: int
    kind: HiddenKind
    fault: PlantedFault | None
    source_number: int
    after: int
    hidden_at: datetime
    removed_at: datetime | None = None
    removed_why: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether the question counts, because it was not removed."""
        return self.removed_at is None

    def __post_init__(self) -> None:
        if (self.kind is HiddenKind.PLANTED) != (self.fault is not None):
            raise InvalidValue("fault", "must be set for a planted question and not for a repeat")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedQuestion:
    """A question in a reviewer's queue, either ``hidden`` or drawn.

    ``number`` and ``exam_number`` are ids in the database, ``key`` is the question's id in its file.
    ``position`` is the place in the queue. ``first_judged_at`` is the time of the reviewer's first verdict on
    the question, or None.
    """

    number: int
    key: str
    exam_number: int
    position: int
    state: AssignmentState
    hidden: bool
    first_judged_at: datetime | None = None
