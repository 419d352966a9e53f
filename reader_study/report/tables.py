"""The tables of a study report: one frozen dataclass per kind of row, with fields in column order.

Rows of general measures are in :mod:`measures.results`; this module has the rows that exist only in study
reports. To add a table, add a field to :class:`ReportTables`: JSON, CSV and the stored report are derived
from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from measures.results import (
    AccuracyResult,
    ArmComparison,
    CalibrationResult,
    CoverageResult,
    DiagnosticResult,
    GroupAgreement,
    KappaContrast,
    MrmcComparison,
    OverallAccuracy,
    PairAgreement,
    PairedDifference,
    ReaderMean,
    ReliabilityResult,
    RepeatAgreement,
    UnpairedDifference,
)

#: A row of a table whose columns are raters or tasks; every cell is text.
TextRow = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterProfile:
    """A reader or model of the study; ``n`` is the number of answers in the analysis."""

    rater: str
    kind: str
    level: str | None = None
    years: float | None = None
    subspecialty: str | None = None
    set_reference: bool = False
    simulated: bool
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Participation:
    """The scored cases of a rater: assigned, missing, excluded, only reported, and analysed.

    ``assigned`` is the sum of ``missing`` (no answer), ``excluded``, ``only_reported`` (reported as faulty
    without an answer) and ``analysed``. ``undetermined`` counts the answers "cannot determine"; they are part
    of ``analysed``, or a further summand if the protocol excludes them. ``failed`` counts replies of models
    without a recognised answer; they are part of ``analysed``. A reader with two arms is assigned each case
    once per arm.
    """

    rater: str
    kind: str
    assigned: int
    missing: int
    excluded: int
    only_reported: int
    undetermined: int
    failed: int
    analysed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingAnswerScenario:
    """The readers' mean accuracy minus that of ``model`` under an assumption about missing answers.

    ``filled_readers`` and ``filled_model`` count the missing answers that are replaced by an assumed answer.
    ``share_correct`` is the share of the readers' missing answers that are assumed to be correct.
    """

    model: str
    scenario: str
    share_correct: float | None
    filled_readers: int
    filled_model: int
    difference: float | None
    low: float | None
    high: float | None
    conclusion: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAccuracy(AccuracyResult):
    """Accuracy in a task; ``best`` is True if it is above every other rater by the paired interval."""

    best: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelAccuracy:
    """Pooled accuracy of all readers of a level; ``clusters`` is the number of patients or exams."""

    level: str
    readers: int
    n: int
    clusters: int
    correct: int
    estimate: float | None
    low: float | None
    high: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyAgreement(PairAgreement):
    """Agreement of two raters; ``few`` is True if kappa is not defined or is based on too few cases."""

    few: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamCharacteristic:
    """How many of the ``n`` analysed exams have a ``value``, such as a sex or an age group."""

    characteristic: str
    value: str
    exams: int
    n: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxOverlap:
    """Mean overlap (IoU) of a rater's boxes with the boxes of the key, for one answer format."""

    rater: str
    kind: str
    format: str
    n: int
    with_boxes: int
    estimate: float | None
    low: float | None
    high: float | None
    per_truth: float | None
    per_match: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedReplies:
    """How many of a model's ``n`` replies have no answer; ``not_predicted`` counts cases without a reply.

    ``rules``: the number of replies by extraction rule, such as "explicit 3, failed 1".
    """

    model: str
    n: int
    failed: int
    share: float | None
    low: float | None
    high: float | None
    not_predicted: int
    rules: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionRate:
    """The errors of a rule among the marked replies.

    ``replies`` counts the replies that the rule read, ``marked`` the replies that a person marked, and
    ``wrong`` the marked replies that were read wrongly. With the rule "failed", a reply was read wrongly if
    it states an answer. ``estimate``, ``low`` and ``high`` are the share of wrong replies with its interval,
    clustered by question; None if no reply is marked.
    """

    rule: str
    replies: int
    marked: int
    wrong: int
    estimate: float | None
    low: float | None
    high: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAnswerCounts:
    """The open answers of a rater by score, and the mean of their points (0 to 1).

    ``n`` is the sum of ``equal_to_key``, ``right``, ``partly``, ``wrong`` and ``no_answer``. ``no_answer``
    counts failed replies, and "cannot determine" unless the protocol excludes it. ``not_marked`` answers are
    not in ``n``. ``clusters`` is the number of patients or exams.
    """

    rater: str
    kind: str
    n: int
    clusters: int
    equal_to_key: int
    right: int
    partly: int
    wrong: int
    no_answer: int
    not_marked: int
    estimate: float | None
    low: float | None
    high: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerAgreement:
    """The agreement of both markers on the ``n`` distinct open answers that both marked.

    ``answers`` counts the distinct answers that differ from the key. ``first_marked`` and ``second_marked``
    count the answers that each marker has marked, and ``same`` the answers with two equal marks. ``weights``
    are the weights of kappa: none, or linear over wrong, partly right, right. The interval is clustered by
    patient or exam.
    """

    weights: str
    answers: int
    first_marked: int
    second_marked: int
    n: int
    same: int
    kappa: float | None
    low: float | None
    high: float | None
    interval: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAnswerMarks:
    """A distinct open answer that differs from the key, with its marks and counts in readers and models."""

    case: int
    question_id: str
    key: str
    answer: str
    first: str | None
    second: str | None
    of_readers: int
    of_models: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionCell:
    """How often a rater gave ``answer`` to questions with this ``key``: ``count`` of ``n``."""

    rater: str
    key: str
    answer: str
    count: int
    n: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionPosition:
    """How often a rater chose the option at a position, and how often the key is at this position.

    ``accuracy`` is the accuracy on the questions whose key is at the position. ``n`` counts all
    single-choice questions that the rater answered.
    """

    rater: str
    place: int
    chosen: int
    chosen_share: float | None
    key_here: int
    key_share: float
    n: int
    accuracy: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingTimes:
    """Seconds per case of a rater: median, quartiles, and the medians of correct and incorrect answers."""

    rater: str
    n: int
    median: float
    quartile_1: float
    quartile_3: float
    median_right: float | None
    median_wrong: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningQuarter:
    """Accuracy and median seconds of a reader in one quarter (1 to 4) of the reading order."""

    rater: str
    quarter: int
    n: int
    correct: int
    estimate: float | None
    low: float | None
    high: float | None
    median_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceLevel:
    """Accuracy of a reader's answers with one stated ``confidence``, 1 (a guess) to 5 (certain)."""

    rater: str
    confidence: int
    n: int
    correct: int
    estimate: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultyCase:
    """A case that a reader reported as faulty."""

    case: int
    question_id: str
    reader: str
    answered: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseDifference:
    """A case that some raters answered correctly and some did not.

    ``readers`` and ``models`` count the scored answers, and ``answers`` the distinct answers.
    ``difference`` is the readers' share of correct answers minus the models' share; None if readers or models
    have no answer.
    """

    case: int
    question_id: str
    task: str
    readers: int
    readers_correct: int
    models: int
    models_correct: int
    difference: float | None
    answers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedAnswers:
    """What the analysis excludes: a case, a reader, or one reader's answers to one case."""

    case: int | None
    question_id: str | None
    reader: str | None
    why: str
    excluded_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportTables:
    """Every table of a report, in the order of its files."""

    raters: tuple[RaterProfile, ...]
    participation: tuple[Participation, ...]
    exams: tuple[ExamCharacteristic, ...]
    accuracy: tuple[TaskAccuracy, ...] = field(metadata={"group": "task"})
    by_category: tuple[AccuracyResult, ...] = field(metadata={"group": "category"})
    by_controlled_category: tuple[AccuracyResult, ...] = field(metadata={"group": "controlled category"})
    by_domain: tuple[AccuracyResult, ...] = field(metadata={"group": "domain"})
    by_difficulty: tuple[AccuracyResult, ...] = field(metadata={"group": "difficulty"})
    by_format: tuple[AccuracyResult, ...] = field(metadata={"group": "format"})
    overall: tuple[OverallAccuracy, ...]
    coverage: tuple[CoverageResult, ...]
    groups: tuple[LevelAccuracy, ...]
    paired: tuple[PairedDifference, ...]
    unpaired: tuple[UnpairedDifference, ...]
    mrmc: tuple[MrmcComparison, ...]
    reader_means: tuple[ReaderMean, ...]
    leave_one_out: tuple[AccuracyResult, ...] = field(metadata={"group": "task"})
    leave_one_out_paired: tuple[PairedDifference, ...]
    missing_answers: tuple[MissingAnswerScenario, ...]
    arms: tuple[ArmComparison, ...]
    diagnostic: tuple[DiagnosticResult, ...]
    calibration: tuple[CalibrationResult, ...]
    calibration_bins: tuple[ReliabilityResult, ...]
    agreement: tuple[StudyAgreement, ...]
    group_agreement: tuple[GroupAgreement, ...]
    kappa_contrasts: tuple[KappaContrast, ...]
    repeats: tuple[RepeatAgreement, ...]
    boxes: tuple[BoxOverlap, ...]
    failed: tuple[FailedReplies, ...]
    extraction: tuple[ExtractionRate, ...]
    open_answers: tuple[OpenAnswerCounts, ...]
    marker_agreement: tuple[MarkerAgreement, ...]
    open_answer_marks: tuple[OpenAnswerMarks, ...]
    confusion: tuple[ConfusionCell, ...]
    positions: tuple[OptionPosition, ...]
    times: tuple[ReadingTimes, ...]
    learning: tuple[LearningQuarter, ...]
    confidence: tuple[ConfidenceLevel, ...]
    case_differences: tuple[CaseDifference, ...]
    faulty: tuple[FaultyCase, ...]
    exclusions: tuple[ExcludedAnswers, ...]
    printed_by_task: tuple[TextRow, ...]
    printed_by_category: tuple[TextRow, ...]
    printed_kappa: tuple[TextRow, ...]
