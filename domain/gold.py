"""The gold set: reviewed questions with their corrections applied."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from domain.adjudications import DEFAULT_SAME_BOX_IOU, Adjudication
from domain.batches import FormScope
from domain.corrections import Change, Correction
from domain.exams import Exam
from domain.image_display import ImageDisplay
from domain.provenance import Provenance
from domain.questions import Question
from domain.verdicts import Decision, ErrorKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One reviewer's latest verdict on a question, without ratings and durations, which releases don't need.

    ``batch`` is the name of the batch, ``parts`` are the fields of the form that the batch requested.
    """

    person_id: int
    revision: int
    decision: Decision
    given_at: datetime
    errors: frozenset[ErrorKind] = frozenset()
    correction: Correction = field(default_factory=Correction)
    comment: str = ""
    why: str = ""
    batch: str
    parts: FormScope
    image: ImageDisplay | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuestion:
    """A question as imported, its exam, and the latest judgement of each reviewer.

    ``stratum`` and ``inclusion_probability`` (0 to 1) are those of the first batch that drew the question.
    ``adjudication`` is the latest adjudication or None, and ``adjudicated_in`` is its batch or "".
    ``same_box_iou`` is the minimum IoU at which two reviewers' boxes count as the same. ``provenance`` is the
    origin of a generated question; None if its file states none.

    Raises:
        ValueError: there is no judgement.
    """

    question: Question
    exam: Exam
    judgements: tuple[Judgement, ...]
    stratum: str
    inclusion_probability: float
    adjudication: Adjudication | None = None
    adjudicated_in: str = ""
    same_box_iou: float = DEFAULT_SAME_BOX_IOU
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        if not self.judgements:
            raise ValueError("a judged question must have a judgement")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldItem:
    """One question of a release: ``question`` is the corrected question, ``changes`` are its corrections."""

    question: Question
    judged: JudgedQuestion
    decision: Decision
    changes: tuple[Change, ...]


class ExclusionReason(StrEnum):
    """The reason why a judged question is not in a release."""

    REJECTED = "rejected"
    DECISIONS_DIFFER = "rejected by one reviewer, not by another"
    CORRECTIONS_DIFFER = "corrected differently by two reviewers"
    REJECTED_BY_ADJUDICATOR = "rejected by the adjudicator"
    ALIGNMENT_ONLY = "only its image alignment was judged"
    PATIENT_DATA_IN_IMAGE = "its image was removed because it shows patient data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded:
    """A judged question that is not in a release, and the reason."""

    judged: JudgedQuestion
    reason: ExclusionReason
