"""Loads and creates assignments, for all services that assign questions."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session

from domain.batches import AssignmentState, Batch
from domain.mail import NoticeKind
from notifications.service import notify
from review.distribution import CurrentAssignments, Distribution, list_current_holders
from storage.review.assignments import add_assignments, iterate_assignments, list_batch_members, set_state


def load_current_assignments(db: Session, batch: Batch) -> CurrentAssignments:
    """Load all assignments of a batch."""
    states: dict[int, dict[int, AssignmentState]] = {}
    for question_row_id, person_id, state in iterate_assignments(db, batch_id=batch.id):
        states.setdefault(question_row_id, {})[person_id] = state
    reviewers_by_exam: dict[int, set[int]] = {}
    for member in list_batch_members(db, batch_id=batch.id):
        reviewers_by_exam.setdefault(member.exam_row_id, set()).update(
            list_current_holders(states.get(member.question_row_id, {}))
        )
    return CurrentAssignments(
        states=states,
        reviewers_by_exam={exam: frozenset(people) for exam, people in reviewers_by_exam.items()},
    )


def create_assignments(
    db: Session,
    batch: Batch,
    current: CurrentAssignments,
    distribution: Distribution,
    *,
    by_id: int,
    now: datetime,
) -> None:
    """Create the assignments of a distribution, reopen withdrawn ones, and queue the notices by mail.

    ``by_id`` is the id of the person who assigns; 0 for the command line.
    """
    for person_id, questions in distribution.by_person.items():
        # The row of a withdrawn assignment still exists and is reopened.
        reopened_row_ids = {
            question.question_row_id
            for question in questions
            if current.states.get(question.question_row_id, {}).get(person_id) is AssignmentState.WITHDRAWN
        }
        set_state(
            db,
            person_id=person_id,
            batch_id=batch.id,
            question_ids=list(reopened_row_ids),
            state=AssignmentState.OPEN,
            now=now,
        )
        new_questions = [
            (question.question_row_id, question.position)
            for question in questions
            if question.question_row_id not in reopened_row_ids
        ]
        add_assignments(db, batch_id=batch.id, person_id=person_id, questions=new_questions, now=now)
    reviewer_ids = [person_id for person_id, questions in distribution.by_person.items() if questions]
    notify(
        db,
        by_id=by_id,
        person_ids=reviewer_ids,
        kind=NoticeKind.ASSIGNED,
        name=batch.name,
        path=f"review?batch={batch.id}",
        now=now,
    )
