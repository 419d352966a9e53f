"""Reader studies: design, cases, readers, and the order of reading."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.batches import SamplingPlan
from domain.errors import InvalidValue
from domain.questions import Question
from domain.vocabulary import AnswerFormat

#: Maximum length of the name of a study or an arm, in characters.
MAX_NAME_LENGTH = 80


class SourceKind(StrEnum):
    """The kind of source from which the cases of a study were drawn."""

    DATASET = "dataset"
    BATCH = "batch"
    RELEASE = "release"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSource:
    """The source of the cases. ``name`` is the name of the batch or release, or "" for a whole dataset.

    Raises:
        InvalidValue: the dataset is missing, a whole dataset has a name, or a batch or release has no name.
    """

    kind: SourceKind
    dataset: str
    name: str = ""

    def __post_init__(self) -> None:
        if not self.dataset:
            raise InvalidValue("source", "must name a dataset")
        if self.kind is SourceKind.DATASET and self.name:
            raise InvalidValue("source", f"a whole dataset has no further name, but got {self.name!r}")
        if self.kind is not SourceKind.DATASET and not self.name:
            raise InvalidValue("source", f"a {self.kind} needs its name as well as its dataset")

    def __str__(self) -> str:
        """Return the source as text for display, such as "release v1 of demo"."""
        if self.kind is SourceKind.DATASET:
            return f"dataset {self.dataset}"
        return f"{self.kind} {self.name} of {self.dataset}"


class Crossing(StrEnum):
    """The way in which cases are assigned to readers."""

    FULL = "fully crossed"
    PARTS = "each reader a part"
    CROSSOVER = "two arms, crossed over"

    @property
    def label(self) -> str:
        """The text that people see; the value is stored."""
        return "each reader reads part of the cases" if self is Crossing.PARTS else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way of showing cases. ``clinical_info_shown`` states if indication, age, sex and view are shown.

    Raises:
        InvalidValue: the name is empty or too long.
    """

    name: str
    clinical_info_shown: bool = True

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > MAX_NAME_LENGTH:
            raise InvalidValue("arm", f"must have a name of 1 to {MAX_NAME_LENGTH} characters")


#: The arms of a study with a single way of showing its cases.
ONE_ARM = (Arm(name="all"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyDesign:
    """The rules by which cases are drawn and assigned to readers.

    ``plan`` draws the scored cases. ``training`` is the number of additional cases that come first, with
    feedback, and are not scored. ``repeats`` is the number of a reader's own cases that are shown again,
    unannounced, at least ``repeat_gap`` cases later. With ``one_per_exam``, at most one question of each exam
    is drawn. With ``Crossing.PARTS``, each case is read by ``readers_per_case`` readers, and ``shared`` cases
    are read by all. With ``Crossing.CROSSOVER``, each reader reads each case once in each of two arms, in two
    periods that are ``washout_days`` apart. The cases of a period are divided into ``blocks`` blocks, whose
    order over the readers is a Latin square. ``formats`` are the answer formats of the cases; if it is empty,
    questions of all formats are drawn.

    Raises:
        InvalidValue: a value is outside its range, or does not belong to the crossing.
    """

    plan: SamplingPlan
    crossing: Crossing = Crossing.FULL
    arms: tuple[Arm, ...] = ONE_ARM
    readers_per_case: int | None = None
    shared: int = 0
    washout_days: int = 0
    training: int = 0
    repeats: int = 0
    repeat_gap: int = 10
    blocks: int = 4
    one_per_exam: bool = False
    formats: tuple[AnswerFormat, ...] = ()

    def __post_init__(self) -> None:
        for name in ("shared", "washout_days", "training", "repeats"):
            if getattr(self, name) < 0:
                raise InvalidValue(name, f"must be 0 or more, not {getattr(self, name)}")
        for name in ("repeat_gap", "blocks"):
            if getattr(self, name) < 1:
                raise InvalidValue(name, f"must be 1 or more, not {getattr(self, name)}")
        if len(set(self.formats)) != len(self.formats):
            raise InvalidValue("formats", "must not contain a format twice")
        names = [arm.name for arm in self.arms]
        if len(set(names)) != len(names):
            raise InvalidValue("arms", f"names must differ: {', '.join(names)}")
        expected_count = 2 if self.crossing is Crossing.CROSSOVER else 1
        if len(self.arms) != expected_count:
            raise InvalidValue("arms", f"{self.crossing.label} needs {expected_count}, not {len(self.arms)}")
        if (self.crossing is Crossing.PARTS) != (self.readers_per_case is not None):
            raise InvalidValue(
                "readers_per_case", f"is only allowed with the design “{Crossing.PARTS.label}”"
            )
        if self.readers_per_case is not None and self.readers_per_case < 1:
            raise InvalidValue("readers_per_case", f"must be 1 or more, not {self.readers_per_case}")
        if self.shared and self.crossing is not Crossing.PARTS:
            raise InvalidValue("shared", f"is only allowed with the design “{Crossing.PARTS.label}”")
        if self.washout_days and self.crossing is not Crossing.CROSSOVER:
            raise InvalidValue(
                "washout_days", f"is only allowed with the design “{Crossing.CROSSOVER.label}”"
            )

    def find_arm(self, name: str) -> Arm:
        """Return the arm with a name.

        Args:
            name: the name of the arm.

        Raises:
            InvalidValue: there is no such arm.
        """
        for arm in self.arms:
            if arm.name == name:
                return arm
        raise InvalidValue("arm", f"{name!r} is not one of: {', '.join(arm.name for arm in self.arms)}")


class StudyState(StrEnum):
    """The state of a study. A closed study accepts no readings; it can be reopened."""

    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderStudy:
    """A reader study: readers and models answer the same cases.

    The study is ``frozen`` by the first answer: design, cases and orders can't change after that.
    ``simulated`` states that its readings are computer-generated, as in the demo.
    """

    id: int
    name: str
    dataset_id: int
    source: CaseSource
    design: StudyDesign
    state: StudyState
    frozen: bool
    simulated: bool
    created_at: datetime


class CaseKind(StrEnum):
    """Whether a case is scored or only used for training."""

    SCORED = "scored"
    TRAINING = "training"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindCase:
    """A case as it is fetched for a reader: without key, explanation, report, boxes, task and tier.

    ``number`` counts from 1 within the study. ``question_row_id`` and ``exam_row_id`` are ids in the
    database. ``asks_box`` states that the reader may draw a box as evidence. ``sha256`` is the hash of the
    content that is shown.
    """

    id: int
    study_id: int
    number: int
    kind: CaseKind
    question_row_id: int
    exam_row_id: int
    question_id: str
    format: AnswerFormat
    stem: str
    options: tuple[str, ...] = ()
    asks_box: bool = False
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question of a study with its key, as it was when the study was created.

    ``question`` is the corrected question if the source is a release. ``stratum`` and
    ``inclusion_probability`` (0 to 1) are those of the draw. ``patient`` is the pseudonym of the exam's
    patient; None if it is not known.
    """

    blind_case: BlindCase
    question: Question
    stratum: str
    inclusion_probability: float
    patient: str | None = None

    @property
    def scored(self) -> bool:
        """Whether the case is scored."""
        return self.blind_case.kind is CaseKind.SCORED


class ReaderLevel(StrEnum):
    """A reader's level of training."""

    RESIDENT = "resident"
    ATTENDING = "attending"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderProfile:
    """Properties by which the report groups readers. ``years`` is their experience; None if not stated.

    Raises:
        InvalidValue: ``years`` is not 0 to 80, or the subspecialty is too long.
    """

    level: ReaderLevel | None = None
    years: float | None = None
    subspecialty: str = ""

    def __post_init__(self) -> None:
        if self.years is not None and not 0 <= self.years <= 80:
            raise InvalidValue("years", f"must be 0 to 80, not {self.years}")
        if len(self.subspecialty) > MAX_NAME_LENGTH:
            raise InvalidValue("subspecialty", f"must have at most {MAX_NAME_LENGTH} characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A reader of a study.

    ``person_id`` is None for an external reader, whose readings were imported from a file. ``of_reference``
    states that the reader helped to set the key; all accuracies of this reader are marked. ``simulated``
    states that the reader is not a person.
    """

    id: int
    study_id: int
    name: str
    display_name: str
    person_id: int | None
    profile: ReaderProfile = field(default_factory=ReaderProfile)
    of_reference: bool = False
    simulated: bool = False
    guideline_read_at: datetime | None = None

    @property
    def is_external(self) -> bool:
        """Whether the readings were imported from a file."""
        return self.person_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One place in a reader's reading order, as stored.

    ``position`` counts from 1. ``repeat`` is 0 for the first showing and 1 for a hidden repeat.
    ``option_order`` contains the option index for each place: (2, 0, 1) shows the third option first. It is
    empty if the question has no options.
    """

    reader_id: int
    position: int
    case_id: int
    arm: str
    repeat: int = 0
    period: int = 1
    option_order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """A case, a reader, or one reader's readings of one case that the analysis excludes, and the reason.

    Raises:
        InvalidValue: there is neither a case nor a reader, or no reason.
    """

    study_id: int
    case_id: int | None
    reader_id: int | None
    reason: str
    excluded_by: int | None
    excluded_at: datetime

    def __post_init__(self) -> None:
        if self.case_id is None and self.reader_id is None:
            raise InvalidValue("exclusion", "needs a case, a reader or both")
        if not self.reason.strip():
            raise InvalidValue("reason", "enter a reason")


def is_excluded(exclusions: Iterable[Exclusion], *, case_id: int, reader_id: int | None) -> bool:
    """Whether a case, a reader, or the reader's readings of the case are excluded from the analysis."""
    return any(
        (exclusion.case_id is None or exclusion.case_id == case_id)
        and (exclusion.reader_id is None or exclusion.reader_id == reader_id)
        for exclusion in exclusions
    )
