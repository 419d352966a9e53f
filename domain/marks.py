"""Marks of open answers, by experts who do not see who answered, and marks of extracted answers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from domain.questions import normalise_text_answer
from domain.vocabulary import Choice


class AnswerMark(Choice):
    """An expert's judgement of an open answer, compared with the answer key."""

    RIGHT = "right"
    PARTLY = "partly", "partly right"
    WRONG = "wrong"


class MarkerRole(Choice):
    """Which of the two markers of a study a person is.

    The mark of the first marker counts. The second marker is optional and measures the agreement of markers.
    """

    FIRST = "first", "first marker"
    SECOND = "second", "second marker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """The first or second marker of a study. Another person may take over the role and its marks."""

    study_id: int
    role: MarkerRole
    person_id: int
    name: str
    display_name: str


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class AnswerId:
    """The identity of an open answer: its case and the hash of its normalised text.

    Equal answers of several raters have the same identity, so they are marked once.
    """

    case_id: int
    text_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkRevision:
    """A stored mark. ``revision`` counts from 1 for each answer and marker; the latest one counts.

    ``mark`` is None if the mark was undone: the answer is then not marked.
    """

    study_id: int
    answer: AnswerId
    role: MarkerRole
    revision: int
    mark: AnswerMark | None
    marked_by: int
    marked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ReplyId:
    """The identity of a model's reply to a question; both are ids in the database."""

    model_id: int
    question_row_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionMark:
    """A person's judgement whether the answer was extracted correctly from a reply: right or wrong.

    ``revision`` counts from 1 for each reply; the latest one counts. ``mark`` is None if the mark was undone.
    ``marked_by`` is None for the command line.
    """

    reply: ReplyId
    revision: int
    mark: AnswerMark | None
    marked_by: int | None
    marked_at: datetime


def identify_answer(case_id: int, text: str) -> AnswerId:
    """Return the identity of an answer. Answers that differ in case or spacing only have the same identity.

    >>> identify_answer(1, "Pleural  effusion") == identify_answer(1, "pleural effusion")
    True
    """
    digest = hashlib.sha256(normalise_text_answer(text).encode()).hexdigest()
    return AnswerId(case_id=case_id, text_sha256=digest)
