"""The check of grounded reports: experts mark each sentence of a sample of reports as right or wrong.

Source: GEMeX, section 3.1.2, where 361 of 367 sentences of 100 reports were right.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.vocabulary import Choice


class SentenceMark(Choice):
    """An expert's judgement of a sentence. A sentence without a region is right if it needs none."""

    RIGHT = "right"
    WRONG_REGION = "wrong_region", "wrong region"
    WRONG_SENTENCE = "wrong_sentence", "wrong sentence"
    MISSED = "missed", "missed sentence"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSentence:
    """A sentence to mark: one that the model grounded, or one of the report that has no region (None).

    ``sentences`` are the numbers, from 1, of its source sentences in the report.
    """

    text: str
    sentences: tuple[int, ...]
    region: str | None = None

    @property
    def marks(self) -> tuple[SentenceMark, ...]:
        """The marks that can be given."""
        if self.region is None:
            return (SentenceMark.RIGHT, SentenceMark.MISSED)
        return (SentenceMark.RIGHT, SentenceMark.WRONG_REGION, SentenceMark.WRONG_SENTENCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedReport:
    """A report of a check as the experts see it.

    Attributes:
        position: its number in the check, from 1.
        exam: the exam's id in the source.
        exam_row_id: the exam's id in the database; None if the exam is in no dataset of the check.
        sentences: the sentences of findings and impression.
        checked: the sentences to mark: the grounded ones, then those of the report without a region.
    """

    position: int
    exam: str
    exam_row_id: int | None
    sentences: tuple[str, ...]
    checked: tuple[CheckedSentence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionCheck:
    """A check of ``reports`` reports, drawn with ``seed`` from the replies of a model run.

    ``dataset`` has the images of the exams; None if there is none.
    """

    id: int
    name: str
    run: str
    prompt: str
    dataset: str | None
    seed: int
    reports: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class SentenceId:
    """A sentence of a check: the positions of its report and of the sentence, both from 1."""

    report: int
    sentence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceRevision:
    """A stored mark. ``revision`` counts from 1 for each expert and sentence; the latest one counts.

    ``mark`` is None if the mark was undone: the sentence is then not marked.
    """

    sentence: SentenceId
    person_id: int
    revision: int
    mark: SentenceMark | None
    marked_at: datetime
