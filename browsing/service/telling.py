"""One question with its whole history: as the machine wrote it, and everything since, in order."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel import Session

from domain.errors import NotFound
from domain.exams import Exam
from domain.people import Action, Person, require
from domain.questions import Question
from storage.browsing.found_questions import number_of
from storage.browsing.question_events import QuestionEvent, events_of
from storage.intake.exams import exam_number, load_exam, load_report
from storage.intake.questions import load_question
from storage.sampling.frames import dataset_number


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """``question`` is the machine's version; ``events`` are in the order in which they happened."""

    number: int
    question: Question
    exam_number: int
    exam: Exam
    report: str | None
    events: tuple[QuestionEvent, ...]


#: What comes first when two things happened in the same moment.
_ORDER = (
    "imported", "rule", "drawn", "assigned", "own answer", "skipped", "verdict", "adjudication", "released",
    "rule taken back",
)  # fmt: skip


def question_number(db: Session, *, by: Person, dataset: str, question: str) -> int:
    """The number of a question, by its id within the dataset.

    Raises:
        NotFound: no such dataset or question.
    """
    require(by, Action.BROWSE)
    found = number_of(db, dataset_id=dataset_number(db, name=dataset), key=question)
    if found is None:
        raise NotFound(f"The dataset {dataset!r} has no question {question!r}.")
    return found


def history(db: Session, *, by: Person, question_number: int) -> History:
    """The question and all that happened to it.

    Raises:
        NotFound: no question has that number.
    """
    require(by, Action.BROWSE)
    question = load_question(db, question_id=question_number)
    exam = exam_number(db, question_id=question_number)
    events = events_of(db, question_number=question_number)
    return History(
        number=question_number,
        question=question,
        exam_number=exam,
        exam=load_exam(db, exam_id=exam),
        report=load_report(db, exam_id=exam),
        events=tuple(sorted(events, key=lambda each: (each.when, _ORDER.index(each.what)))),
    )
