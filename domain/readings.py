"""Answers of readers (readings) and of models (predictions). Readings are appended and never edited."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.boxes import LabelledBox
from domain.errors import InvalidValue
from domain.image_display import ImageDisplay
from domain.questions import Answer
from domain.vocabulary import check_confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingKey:
    """The identity of a reading; ``repeat`` is 0 for the first reading and 1 for a hidden repeat."""

    study_id: int
    reader_id: int
    case_id: int
    arm: str
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One reader's answer to one question.

    ``answer`` refers to the question's own order of options, not to the order on screen. It is None if the
    reader chose "cannot determine" (``cannot_determine``) or only reported the question as faulty. ``faulty``
    is the reported fault or ""; a fault can be reported with an answer. ``confidence`` is 1 (a guess) to 5
    (certain). ``revision`` counts from 1 for each key; a higher revision supersedes lower ones. ``position``
    is the place in the reader's order, from 1. ``seconds`` is the time since the case was opened. During
    ``seconds_looking`` the image was drawn, the page visible and the reader active; during ``seconds_away``
    the page was hidden or paused, or the reader idle. ``is_external``: the reading was imported from a file.
    ``image`` states whether the radiographs were on screen; None if this was not recorded.

    Raises:
        InvalidValue: a value is outside its range, or the reading does not have exactly one of an answer and
            "cannot determine", unless it reports a fault without an answer.
    """

    key: ReadingKey
    revision: int
    position: int
    period: int = 1
    protocol_version: int
    answer: Answer | None
    cannot_determine: bool = False
    faulty: str = ""
    confidence: int | None = None
    boxes: tuple[LabelledBox, ...] = ()
    seconds: float
    seconds_looking: float
    seconds_away: float
    began_at: datetime
    read_at: datetime
    is_external: bool = False
    image: ImageDisplay | None = None

    def __post_init__(self) -> None:
        if self.revision < 1:
            raise InvalidValue("revision", f"must be 1 or more, not {self.revision}")
        for name in ("seconds", "seconds_looking", "seconds_away"):
            if not getattr(self, name) >= 0:
                raise InvalidValue(name, f"must be 0 or more, not {getattr(self, name)!r}")
        if self.confidence is not None:
            check_confidence(self.confidence)
        if self.answer is not None and self.cannot_determine:
            raise InvalidValue("answer", "must be either an answer or “cannot determine”, not both")
        if self.answer is None and not self.cannot_determine and not self.faulty.strip():
            raise InvalidValue(
                "answer", "answer the question, choose “cannot determine”, or report the question"
            )

    @property
    def unanswered(self) -> bool:
        """Whether the question was only reported as faulty: neither correct nor incorrect."""
        return self.answer is None and not self.cannot_determine


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One model's answer to one question.

    ``answer`` is None if no answer could be extracted; this counts as incorrect and is reported separately.
    ``raw`` is the free text from which the answer was extracted. ``rule`` is the extraction rule that
    matched, or "given" if the file contains the answer itself. ``seconds`` is the time that the model needed.
    ``probability`` (0 to 1) is the one that the model states for its answer to be correct; None if there is
    none.
    """

    model_id: int
    question_row_id: int
    answer: Answer | None
    raw: str | None = None
    rule: str = "given"
    explanation: str = ""
    boxes: tuple[LabelledBox, ...] = ()
    seconds: float | None = None
    probability: float | None = None

    @property
    def failed(self) -> bool:
        """Whether no answer could be extracted."""
        return self.answer is None
