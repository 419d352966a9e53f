"""What readers and models say of a case: readings, appended and never edited, and predictions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.boxes import LabelledBox
from domain.errors import InvalidValue
from domain.image_display import ImageDisplay
from domain.questions import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingKey:
    """Which reading: whose, of which case, in which arm, the first (0) or a hidden repeat (1)."""

    study_id: int
    reader_id: int
    case_id: int
    arm: str
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One reader's answer to one question.

    ``answer`` is in the question's own order of options whatever order was shown; None with
    ``cannot_determine`` says that the image does not tell, None with ``faulty`` that the question can't be
    answered. ``faulty`` is why the question is at fault, "" where it is not; an answer may stand beside it.
    ``confidence`` is 1 (a guess) to 5 (certain). ``revision`` counts from 1 for each key; a higher one
    supersedes. ``position`` is the place in the reader's order. ``seconds`` since the case was opened;
    ``seconds_looking`` of them with the image drawn, the page visible and somebody moving;
    ``seconds_away`` hidden, paused or idle. ``image`` is whether the radiographs were on screen, None where
    that was not recorded.
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
        if self.confidence is not None and self.confidence not in (1, 2, 3, 4, 5):
            raise InvalidValue("confidence", f"must be 1 (a guess) to 5 (certain), not {self.confidence!r}")
        if self.answer is not None and self.cannot_determine:
            raise InvalidValue("answer", "either an answer or “cannot determine”, not both")
        if self.answer is None and not self.cannot_determine and not self.faulty.strip():
            raise InvalidValue(
                "answer", "give one, or say “cannot determine”, or that the question is faulty"
            )

    @property
    def unanswered(self) -> bool:
        """Whether the question was only reported as faulty: non-response, neither right nor wrong."""
        return self.answer is None and not self.cannot_determine


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One model's answer to one question.

    ``answer`` None is a failed extraction: counted as wrong, and reported apart. ``raw`` is the free text
    that it was taken from, ``rule`` the extraction rule that fired ("given" where the file had the answer).
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
        """Whether no answer could be found."""
        return self.answer is None
