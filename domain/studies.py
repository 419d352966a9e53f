"""Reader studies: which cases, who reads them, in which order, shown how."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.batches import SamplingPlan
from domain.errors import InvalidValue
from domain.questions import Answer, Question
from domain.vocabulary import AnswerFormat

#: The longest name of a study or an arm, in characters.
LONGEST_NAME = 80


class SourceKind(StrEnum):
    """What the cases of a study were drawn from."""

    DATASET = "dataset"
    BATCH = "batch"
    RELEASE = "release"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSource:
    """Where the cases come from; ``name`` is the batch's or release's, "" for a whole dataset."""

    kind: SourceKind
    dataset: str
    name: str = ""

    def __post_init__(self) -> None:
        if not self.dataset:
            raise InvalidValue("source", "names no dataset")
        if (self.kind is SourceKind.DATASET) != (not self.name):
            raise InvalidValue("source", f"a {self.kind} is named by dataset and its own name")

    def __str__(self) -> str:
        """As a person reads it: "release v1 of demo"."""
        if self.kind is SourceKind.DATASET:
            return f"dataset {self.dataset}"
        return f"{self.kind} {self.name} of {self.dataset}"


class Crossing(StrEnum):
    """Who reads which cases."""

    FULL = "fully crossed"
    PARTS = "each reader a part"
    CROSSOVER = "two arms, crossed over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way in which cases are shown; ``told``: whether indication, age, sex and view stand beside."""

    name: str
    told: bool = True

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > LONGEST_NAME:
            raise InvalidValue("arm", f"needs a name of 1 to {LONGEST_NAME} characters")


#: The arm of a study that compares no two ways of showing its cases.
ONE_ARM = (Arm(name="all"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyDesign:
    """How cases are drawn and given to readers.

    ``plan`` draws the cases that count; ``training`` further ones come first, with feedback, and count
    nowhere; ``repeats`` of a reader's own cases come a second time, hidden, at least ``repeat_gap`` cases
    after the first. ``one_per_exam``: at most one question of each exam. With ``Crossing.PARTS`` every case
    is read by ``readers_per_case`` readers and ``shared`` of them by all. With ``Crossing.CROSSOVER`` each
    reader reads every case once in each of two arms, in two periods ``washout_days`` apart. ``blocks``: the
    cases of a period are put into so many blocks, whose order over the readers is a Latin square.
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

    def __post_init__(self) -> None:
        for name in ("shared", "washout_days", "training", "repeats"):
            if getattr(self, name) < 0:
                raise InvalidValue(name, f"must be 0 or more, not {getattr(self, name)}")
        for name in ("repeat_gap", "blocks"):
            if getattr(self, name) < 1:
                raise InvalidValue(name, f"must be 1 or more, not {getattr(self, name)}")
        names = [arm.name for arm in self.arms]
        if len(set(names)) != len(names):
            raise InvalidValue("arms", f"two have one name: {', '.join(names)}")
        wanted = 2 if self.crossing is Crossing.CROSSOVER else 1
        if len(self.arms) != wanted:
            raise InvalidValue("arms", f"{self.crossing} needs {wanted}, not {len(self.arms)}")
        if (self.crossing is Crossing.PARTS) != (self.readers_per_case is not None):
            raise InvalidValue("readers_per_case", f"goes with {Crossing.PARTS!s} and nothing else")
        if self.readers_per_case is not None and self.readers_per_case < 1:
            raise InvalidValue("readers_per_case", f"must be 1 or more, not {self.readers_per_case}")
        if self.shared and self.crossing is not Crossing.PARTS:
            raise InvalidValue("shared", f"goes with {Crossing.PARTS!s} and nothing else")
        if self.washout_days and self.crossing is not Crossing.CROSSOVER:
            raise InvalidValue("washout_days", f"goes with {Crossing.CROSSOVER!s} and nothing else")

    def arm(self, name: str) -> Arm:
        """The arm of that name.

        Raises:
            InvalidValue: there is none.
        """
        for each in self.arms:
            if each.name == name:
                return each
        raise InvalidValue("arm", f"{name!r} is none of {', '.join(arm.name for arm in self.arms)}")


class StudyState(StrEnum):
    """A closed study takes no further readings; it can be opened again."""

    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderStudy:
    """The experiment: readers and models answer the same cases.

    ``frozen`` once the first answer is in: design, cases and orders stay from then on.
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
    """Whether a case counts, or trains the reader and counts nowhere."""

    SCORED = "scored"
    TRAINING = "training"


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindCase:
    """A case as it is fetched for a reader: no key, explanation, report, boxes, task or tier.

    ``number`` counts from 1 within the study, ``question_number`` and ``exam_number`` are storage's.
    ``asks_box``: a box may be drawn as evidence. ``sha256`` stands for all that is shown of it.
    """

    id: int
    study_id: int
    number: int
    kind: CaseKind
    question_number: int
    exam_number: int
    question_id: str
    format: AnswerFormat
    stem: str
    options: tuple[str, ...] = ()
    asks_box: bool = False
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question of a study with its key, as frozen when the study was made.

    ``question`` is the release's corrected one where the source is a release. ``stratum`` and
    ``inclusion_probability`` are the draw's.
    """

    shown: BlindCase
    question: Question
    stratum: str
    inclusion_probability: float

    @property
    def scored(self) -> bool:
        """Whether it counts."""
        return self.shown.kind is CaseKind.SCORED

    def is_right(self, answer: Answer | None) -> bool:
        """Whether the answer is one of those that count as right; open answers are compared as text."""
        if answer is None:
            return False
        if isinstance(answer, str) and isinstance(self.question.answer, str):
            return " ".join(answer.split()).casefold() == " ".join(self.question.answer.split()).casefold()
        return answer == self.question.answer or answer in self.question.also_right


class ReaderLevel(StrEnum):
    """Where a reader stands in training."""

    RESIDENT = "resident"
    ATTENDING = "attending"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderProfile:
    """What the report groups readers by. ``years`` of reading radiographs; None is "not stated"."""

    level: ReaderLevel | None = None
    years: float | None = None
    subspecialty: str = ""

    def __post_init__(self) -> None:
        if self.years is not None and not 0 <= self.years <= 80:
            raise InvalidValue("years", f"must be 0 to 80, not {self.years}")
        if len(self.subspecialty) > LONGEST_NAME:
            raise InvalidValue("subspecialty", f"has at most {LONGEST_NAME} characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Somebody who reads in a study.

    ``person_id`` is None for a reader from outside, whose readings came in by file. ``of_reference``: helped
    to set the key, and is marked so wherever the accuracy stands. ``simulated``: no person at all.
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
    def outside(self) -> bool:
        """Whether the readings came in by file."""
        return self.person_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One place in a reader's order, as stored.

    ``position`` counts from 1. ``repeat`` is 0 the first time and 1 for a hidden repeat. ``option_order``:
    which option stands at each place; (2, 0, 1) shows the third first. Empty where there are none.
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
    """What is left out of the analysis, and why: a case, a reader, or one reader's readings of one case."""

    study_id: int
    case_id: int | None
    reader_id: int | None
    why: str
    excluded_by: int | None
    excluded_at: datetime

    def __post_init__(self) -> None:
        if self.case_id is None and self.reader_id is None:
            raise InvalidValue("exclusion", "names neither a case nor a reader")
        if not self.why.strip():
            raise InvalidValue("why", "say why it is left out")
