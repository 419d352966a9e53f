"""Hidden questions: repeats of a reviewer's own questions, and questions with a planted fault."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.batches import AssignmentState, FormScope
from domain.errors import InvalidValue
from domain.verdicts import ErrorKind


class HiddenKind(StrEnum):
    """What a hidden question measures: a reviewer's self-agreement, or whether a fault is found."""

    REPEAT = "repeat"
    PLANTED = "planted"


class PlantedFault(StrEnum):
    """The fault that was put into a correct question."""

    KEY_SWAPPED = "key swapped"
    SECOND_CORRECT_OPTION = "second right option"
    PRIOR_COMPARISON = "comparison with a prior"
    WRONG_SIDE = "wrong side"
    ABSENT_FINDING = "finding not there"


#: A fault counts as found if the reviewer gave one of these kinds of error.
DETECTING_ERRORS: dict[PlantedFault, frozenset[ErrorKind]] = {
    PlantedFault.KEY_SWAPPED: frozenset({ErrorKind.WRONG_KEY, ErrorKind.EXPLANATION}),
    PlantedFault.SECOND_CORRECT_OPTION: frozenset({ErrorKind.SEVERAL_CORRECT}),
    PlantedFault.PRIOR_COMPARISON: frozenset({ErrorKind.COMPARISON, ErrorKind.NOT_ANSWERABLE}),
    PlantedFault.WRONG_SIDE: frozenset({ErrorKind.WRONG_LOCATION, ErrorKind.EXPLANATION}),
    PlantedFault.ABSENT_FINDING: frozenset(
        {ErrorKind.NOT_IN_IMAGE, ErrorKind.NOT_IN_REPORT, ErrorKind.EXPLANATION}
    ),
}

#: The faults that a reviewer can find, by the parts of the form that the batch asks for.
DETECTABLE_FAULTS: dict[FormScope, tuple[PlantedFault, ...]] = {
    FormScope.ALL: tuple(PlantedFault),
    FormScope.KEY: (PlantedFault.KEY_SWAPPED, PlantedFault.SECOND_CORRECT_OPTION),
    FormScope.IMAGE_ALIGNMENT: (PlantedFault.WRONG_SIDE, PlantedFault.ABSENT_FINDING),
}

#: The default of :attr:`HiddenPlan.distance`.
DEFAULT_DISTANCE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenPlan:
    """The hidden questions that each reviewer of a batch gets.

    ``repeats`` is the share (0 to 0.5) of a reviewer's own questions that are shown again, at least
    ``distance`` questions later. ``planted`` is the number of questions with a fault; the kinds of ``faults``
    take turns. The same plan, seed and questions give the same hidden questions.

    Raises:
        InvalidValue: a value outside its range, or neither repeats nor planted questions.
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
            raise InvalidValue("faults", "choose a kind of fault to plant")
        if len(set(self.faults)) != len(self.faults):
            raise InvalidValue("faults", "give each kind once")
        if not self.repeats and not self.planted:
            raise InvalidValue("repeats", "give a share of repeats, a number of planted questions, or both")
        if not 0 <= self.seed < 2**31:
            raise InvalidValue("seed", f"must be 0 to 2147483647, not {self.seed}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenQuestion:
    """A hidden question of one reviewer; it is stored as a question with its own ``number``.

    ``source_number`` is the number of the question that it was made from. ``after``: in a shared queue it is
    shown once the reviewer has judged this many questions. With ``removed_at`` it no longer counts, for the
    reason ``removed_why``.

    Raises:
        InvalidValue: a planted question without a fault, or a repeat with one.
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
        """Whether the question counts, i.e. was not removed."""
        return self.removed_at is None

    def __post_init__(self) -> None:
        if (self.kind is HiddenKind.PLANTED) != (self.fault is not None):
            raise InvalidValue("fault", "a planted question has one, a repeat has none")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedQuestion:
    """A question in a reviewer's queue, ``hidden`` or drawn; ``position`` is its place in the queue.

    ``first_judged_at`` is the time of the reviewer's first verdict on it, None before that.
    """

    number: int
    key: str
    exam_number: int
    position: int
    state: AssignmentState
    hidden: bool
    first_judged_at: datetime | None = None
