"""The data that a marker sees: an open answer with the question and its key, but not who answered."""

from __future__ import annotations

from dataclasses import dataclass

from domain.exams import Radiograph
from domain.marks import AnswerMark, Marker, MarkerRole, MarkRevision
from domain.questions import Question
from domain.studies import ReaderStudy
from reader_study.open_answers import OpenAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkingTask:
    """A study in which a person marks: ``done`` of ``total`` answers have a mark of this marker.

    ``last`` is the latest mark that was not undone; None if there is none.
    """

    study: ReaderStudy
    role: MarkerRole
    total: int
    done: int
    last: MarkRevision | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkingSheet:
    """One open answer with its question and key.

    ``number`` is the position of the answer, from 1. ``mark`` and ``revision`` belong to the latest mark of
    the role; revision 0 means that there is no mark. ``previous`` and ``next`` are the neighbours in the
    order, and ``next_unmarked`` is the next other answer without a mark, or else the first other one.
    ``exam_row_id`` is the id of the exam in the database, and ``radiographs`` are its radiographs.
    """

    task: MarkingTask
    answer: OpenAnswer
    case_number: int
    question: Question
    exam_row_id: int
    radiographs: tuple[Radiograph, ...]
    number: int
    mark: AnswerMark | None
    revision: int
    previous: OpenAnswer | None
    next: OpenAnswer | None
    next_unmarked: OpenAnswer | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedAnswer:
    """An open answer with the marks of both markers, for the coordinator. It does not state who answered."""

    case: int
    question_id: str
    stem: str
    key: str
    answer: str
    first: AnswerMark | None
    second: AnswerMark | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkingProgress:
    """The markers of a study and their progress: ``marked`` of ``total`` answers, by role.

    ``open_cases`` is the number of scored cases with an open question.
    """

    open_cases: int
    markers: tuple[Marker, ...]
    total: int
    marked: dict[MarkerRole, int]
