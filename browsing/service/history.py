"""Services for a question's history: the imported version and all later events, in order."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel import Session

from domain.errors import NotFound
from domain.exams import Exam
from domain.history import QuestionEvent
from domain.people import Action, Person, require
from domain.provenance import Provenance
from domain.questions import Question
from storage.browsing.question_events import load_events
from storage.browsing.search_results import find_question_row_id
from storage.intake.exams import load_exam, load_exam_row_id, load_report
from storage.intake.provenance import load_provenance
from storage.intake.questions import load_question
from storage.review.comments import list_threads
from storage.sampling.frames import load_dataset_row_id


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A question's history. ``question`` is the imported version, ``events`` are ordered by time.

    ``provenance`` is the origin of a generated question; None if its file states none.
    """

    number: int
    question: Question
    exam_row_id: int
    exam: Exam
    report: str | None
    provenance: Provenance | None
    events: tuple[QuestionEvent, ...]


#: The order of events with the same time.
_EVENT_ORDER = (
    "imported", "boxes converted", "boxes corrected", "bulk action", "drawn", "assigned", "own answer",
    "skipped", "verdict", "comment", "adjudication", "released", "bulk action undone",
)  # fmt: skip


def load_question_row_id(db: Session, *, by: Person, dataset: str, question_id: str) -> int:
    """Load the database id of the question that has ``question_id`` in its file.

    Raises:
        NotFound: there is no such dataset or question.
    """
    require(by, Action.BROWSE)
    number = find_question_row_id(db, dataset_id=load_dataset_row_id(db, name=dataset), key=question_id)
    if number is None:
        raise NotFound(f"The dataset {dataset!r} has no question {question_id!r}.")
    return number


def load_history(db: Session, *, by: Person, question_row_id: int) -> History:
    """Load a question with all its events.

    Raises:
        NotFound: there is no such question.
    """
    require(by, Action.BROWSE)
    question = load_question(db, question_id=question_row_id)
    exam_id = load_exam_row_id(db, question_id=question_row_id)
    events = [
        *load_events(db, question_row_id=question_row_id),
        *_load_comment_events(db, by=by, question_row_id=question_row_id),
    ]
    return History(
        number=question_row_id,
        question=question,
        exam_row_id=exam_id,
        exam=load_exam(db, exam_id=exam_id),
        report=load_report(db, exam_id=exam_id),
        provenance=load_provenance(db, question_id=question_row_id),
        events=tuple(sorted(events, key=lambda event: (event.occurred_at, _EVENT_ORDER.index(event.kind)))),
    )


def _load_comment_events(db: Session, *, by: Person, question_row_id: int) -> list[QuestionEvent]:
    """List the comments that the person may see; see :func:`storage.review.comments.list_threads`."""
    return [
        QuestionEvent(
            kind="comment",
            occurred_at=comment.written_at,
            person_name=comment.author_name,
            container=thread.batch,
            details={
                "text": comment.text,
                "to": "the coordinators" if comment.by_reviewer else thread.reviewer_name,
            },
        )
        for thread in list_threads(db, person_id=by.id, question_id=question_row_id)
        for comment in thread.comments
    ]
