"""Answers of readers (readings, which are appended and never edited) and of models (predictions)."""

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
    """The key of a reading; ``repeat`` is 0 for the first reading and 1 for a hidden repeat."""

    study_id: int
    reader_id: int
    case_id: int
    arm: str
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One reader's answer to one question.

    ``answer`` refers to the question's own order of options, whatever order was shown. It is None if the
    reader chose "cannot determine" (``cannot_determine``) or only reported the question as faulty. ``faulty``
    is the reported fault, "" without one; it may accompany an answer. ``confidence`` is 1 (a guess) to 5
    (certain). ``revision`` counts from 1 for each key; a higher one supersedes. ``position`` is the place in
    the reader's order, from 1. ``seconds`` have passed since the case was opened: ``seconds_looking`` of them
    with the image drawn, the page visible and the reader active, ``seconds_away`` hidden, paused or idle.
    ``outside``: the reading was imported from a file. ``image`` is whether the radiographs were on screen,
    None if that was not recorded.

    Raises:
        InvalidValue: a value outside its range, an answer with "cannot determine", or none of answer, "cannot
            determine" and fault.
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
    outside: bool = False
    image: ImageDisplay | None = None

    def __post_init__(self) -> None:
        if self.revision < 1:
            raise InvalidValue("revision", f"counts from 1, not {self.revision}")
        for name in ("seconds", "seconds_looking", "seconds_away"):
            if not getattr(self, name) >= 0:
                raise InvalidValue(name, f"must be 0 or more, not {getattr(self, name)!r}")
        if self.confidence is not None:
            check_confidence(self.confidence)
        if self.answer is not None and self.cannot_determine:
            raise InvalidValue("answer", "either an answer or “cannot determine”, not both")
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

    ``answer`` is None if no answer could be extracted, which counts as incorrect and is reported separately.
    ``raw`` is the free text that the answer was extracted from, ``rule`` the extraction rule that matched
    ("given" if the file contains the answer itself). ``seconds`` is the time that the model took.
    """

    model_id: int
    question_number: int
    answer: Answer | None
    raw: str | None = None
    rule: str = "given"
    explanation: str = ""
    boxes: tuple[LabelledBox, ...] = ()
    seconds: float | None = None

    @property
    def failed(self) -> bool:
        """Whether no answer could be extracted."""
        return self.answer is None
