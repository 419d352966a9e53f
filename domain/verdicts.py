"""Verdicts: one reviewer's judgements of one question. Verdicts are appended and never edited."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from domain.corrections import Correction
from domain.errors import InvalidValue
from domain.image_display import ImageDisplay
from domain.questions import Answer
from domain.ratings import Ratings
from domain.vocabulary import Choice, Difficulty, check_confidence


class Decision(Choice):
    """The reviewer's decision on the question."""

    ACCEPT = "accept"
    REVISE = "revise"
    REJECT = "reject"


class ErrorKind(Choice):
    """Kinds of error; a verdict may report several. The first kinds are those of ReXVQA's expert review."""

    SEVERAL_CORRECT = ("more than one right answer", "more than one correct answer")
    NONE_CORRECT = ("no right answer", "no correct answer")
    WRONG_KEY = "wrong key"
    COMPARISON = ("comparison with a prior", "refers to a prior exam")
    NOT_CLINICALLY_VALID = "not clinically valid"
    NOT_IN_REPORT = "finding not in the report"
    NOT_IN_IMAGE = "finding not in the image"
    EXPLANATION = "explanation does not support the key"
    WRONG_LOCATION = ("wrong side or place", "wrong side or location")
    BOX_WRONG = ("box wrong", "wrong box")
    EXAM_MISMATCH = ("image and report are not of one exam", "image and report mismatch")
    NOT_ANSWERABLE = "not answerable from the image"
    ANSWER_REVEALED = "stem gives the answer away"
    WORDING = "wording"


@dataclass(frozen=True, slots=True, kw_only=True)
class YesNoField:
    """The declaration of one yes/no field of an opinion.

    ``id`` is stored and exported and never changes. ``label`` is shown on screen. A ``required`` field must
    be filled in to accept or revise a question.
    """

    id: str
    label: str
    required: bool = False

    @property
    def name(self) -> str:
        """The name in tables and files of statistics ("domain specific"); it never changes."""
        return self.id.replace("_", " ")


def _yes_no_metadata(label: str, *, required: bool = False) -> dict[str, Any]:
    return {"label": label, "required": required}


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAnswer:
    """The reviewer's answer before the key was shown. An ``answer`` of None means "cannot determine".

    ``confidence`` is 1 (a guess) to 5 (certain).

    Raises:
        InvalidValue: the confidence is outside its range.
    """

    answer: Answer | None
    confidence: int
    committed_at: datetime
    image: ImageDisplay | None = None

    def __post_init__(self) -> None:
        check_confidence(self.confidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """A reviewer's judgements of a question: the content of a verdict or of a draft.

    ``None`` means "not judged" for each field. ``domain_specific`` states that the question needs radiology,
    ``cognitive_depth`` that it needs more than recall. ``difficulty`` is the expert's estimate, which is
    stored in addition to the machine's.
    """

    ratings: Ratings = field(default_factory=Ratings)
    domain_specific: bool | None = field(
        default=None, metadata=_yes_no_metadata("Needs radiology knowledge", required=True)
    )
    cognitive_depth: bool | None = field(
        default=None, metadata=_yes_no_metadata("More than recall", required=True)
    )
    image_centric: bool | None = field(default=None, metadata=_yes_no_metadata("Needs the image"))
    clinically_relevant: bool | None = field(default=None, metadata=_yes_no_metadata("Clinically relevant"))
    difficulty: Difficulty | None = None
    errors: frozenset[ErrorKind] = frozenset()
    correction: Correction = field(default_factory=Correction)
    clinical_reasoning: str = ""
    comment: str = ""


#: The yes/no fields of an opinion.
FLAGS = tuple(
    YesNoField(id=yes_no_field.name, **yes_no_field.metadata)
    for yes_no_field in fields(Opinion)
    if yes_no_field.metadata
)
#: The ids of these fields, in the same order.
FLAG_IDS = tuple(flag.id for flag in FLAGS)
_DECISION_TEXTS = {Decision.ACCEPT: "accepted", Decision.REVISE: "revised", Decision.REJECT: "rejected"}
_LABELS = {
    **{kind.value: kind.label for kind in ErrorKind},
    **{flag.name: flag.label[0].lower() + flag.label[1:] for flag in FLAGS},
    **{decision.value: text for decision, text in _DECISION_TEXTS.items()},
}


def judgement_label(name: str) -> str:
    """Return the label of a kind of error, a yes/no field or a decision; files use the stored name.

    Other names are returned as they are.

    >>> judgement_label("no right answer"), judgement_label("accept"), judgement_label("stem")
    ('no correct answer', 'accepted', 'stem')
    """
    return _LABELS.get(name, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentVerdict:
    """A reviewer's current decision on a question, for the list of the last verdicts."""

    question_row_id: int
    decision: Decision
    given_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One reviewer's judgement of one question of a batch.

    ``revision`` counts from 1 for each (batch, question, person); a higher revision supersedes a lower one.
    ``seconds`` is the time since the question was opened. During ``seconds_looking`` the image was drawn and
    the page visible; during ``seconds_away`` the page was hidden, or there was no activity for more than five
    minutes. ``why`` is the reason for a later revision. ``image`` states whether the radiographs were on
    screen; None if this was not recorded.

    Raises:
        InvalidValue: the revision is below 1, a time is negative, or the decision does not fit the opinion.
    """

    batch_id: int
    question_row_id: int
    person_id: int
    revision: int
    decision: Decision
    opinion: Opinion
    seconds: float
    seconds_looking: float
    seconds_away: float
    given_at: datetime
    why: str = ""
    image: ImageDisplay | None = None

    def __post_init__(self) -> None:
        if self.revision < 1:
            raise InvalidValue("revision", f"must be 1 or more, not {self.revision}")
        for name in ("seconds", "seconds_looking", "seconds_away"):
            if not getattr(self, name) >= 0:
                raise InvalidValue(name, f"must be 0 or more, not {getattr(self, name)!r}")
        check_decision(self.decision, self.opinion)


def check_decision(decision: Decision, opinion: Opinion) -> None:
    """Check that a decision fits the opinion's errors, comment and correction.

    Args:
        decision: the decision of the verdict.
        opinion: the opinion of the verdict.

    Raises:
        InvalidValue: a rejection has no reason, a revision has no correction, or an acceptance has a
            correction.
    """
    if decision is Decision.REJECT and not opinion.errors and not opinion.comment.strip():
        raise InvalidValue("errors", "a rejection needs a kind of error, or a comment with the reason")
    if decision is Decision.REVISE and opinion.correction.is_empty():
        raise InvalidValue(
            "correction", "nothing was corrected; correct the question, or accept or reject it"
        )
    if decision is Decision.ACCEPT and not opinion.correction.is_empty():
        raise InvalidValue(
            "decision", ("the question has corrections, so the decision must be revise, not accept")
        )
