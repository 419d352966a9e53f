"""Storage of assignments and of each reviewer's queue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    BindParameter,
    Select,
    bindparam,
    case,
    func,
    insert,
    literal,
    select,
    union_all,
    update,
)
from sqlmodel import Session

from domain.batches import AssignmentState
from storage.rows.batches import AssignmentRow, BatchQuestionRow, BatchRow
from storage.rows.datasets import QuestionRow
from storage.rows.hidden import HiddenSetRow
from storage.sampling.exclude_copies import exclude_hidden
from storage.types import AnyRow, AnySelect

#: Distance between the positions of adjacent questions in a batch with hidden questions.
POSITION_GAP = 1000
_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build
#: The states of an assignment that was not withdrawn.
_NOT_WITHDRAWN = (AssignmentState.OPEN, AssignmentState.DONE, AssignmentState.SKIPPED)

# Built once: every verdict executes these several times, and building them takes longer than executing them.
# The statements contain the states as literals, so that the index is searched state by state.
_IS_IN_QUEUE = (
    AssignmentRow.person_id == bindparam("person_id"),
    AssignmentRow.batch_id == bindparam("batch_id"),
)
_SELECT_ASSIGNMENTS = select(AssignmentRow.question_id, AssignmentRow.position, AssignmentRow.state).where(
    *_IS_IN_QUEUE
)
_POSITION: BindParameter[int] = bindparam("position")
_SELECT_OPEN = _SELECT_ASSIGNMENTS.where(AssignmentRow.state == AssignmentState.OPEN.value)
_SELECT_FIRST_OPEN = _SELECT_OPEN.order_by(AssignmentRow.position).limit(1)
_SELECT_OPEN_AFTER = (
    _SELECT_OPEN.where(AssignmentRow.position > _POSITION)
    .order_by(AssignmentRow.position)
    .limit(bindparam("most"))
)
_SELECT_SKIPPED = _SELECT_ASSIGNMENTS.where(AssignmentRow.state == AssignmentState.SKIPPED.value).order_by(
    AssignmentRow.position
)
_SELECT_ASSIGNMENT = _SELECT_ASSIGNMENTS.where(AssignmentRow.question_id == bindparam("question_id"))
_LOCK_ASSIGNMENT = _SELECT_ASSIGNMENT.with_for_update()


def _select_nearest(state: AssignmentState, *, forward: bool) -> Select[tuple[int, int]]:
    on_side = AssignmentRow.position > _POSITION if forward else AssignmentRow.position < _POSITION
    order = AssignmentRow.position if forward else AssignmentRow.position.desc()
    name = f"{'after' if forward else 'before'}_{state.value}"
    nearest = (
        _SELECT_ASSIGNMENTS.where(AssignmentRow.state == state.value, on_side)
        .order_by(order)
        .limit(1)
        .subquery(name)
    )
    return select(nearest.c.question_id, nearest.c.position)


# One index look-up per state, because the index is ordered by state first.
_SELECT_NEIGHBOURS = union_all(
    *(_select_nearest(state, forward=forward) for state in _NOT_WITHDRAWN for forward in (False, True))
)
_SELECT_COUNTS = (
    select(
        AssignmentRow.state,
        func.count(),
        func.sum(case((AssignmentRow.position <= _POSITION, literal(1)), else_=literal(0))),
    )
    .where(*_IS_IN_QUEUE)
    .group_by(AssignmentRow.state)
)
_SELECT_BATCHES = (
    select(AssignmentRow.batch_id)
    .where(
        AssignmentRow.person_id == bindparam("person_id"),
        AssignmentRow.state != AssignmentState.WITHDRAWN.value,
    )
    .distinct()
    .order_by(AssignmentRow.batch_id)
)
_LOCK_BATCH = select(BatchRow.id).where(BatchRow.id == bindparam("batch_id")).with_for_update(read=True)
_SELECT_EXAM_IDS = select(QuestionRow.id, QuestionRow.exam_id).where(
    QuestionRow.id.in_(bindparam("question_ids", expanding=True))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedQuestion:
    """A question assigned to a person in a batch; questions are ordered by ``position``."""

    question_row_id: int
    position: int
    state: AssignmentState


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchMember:
    """A question of a batch with its exam, and its position in the batch or in a person's queue."""

    question_row_id: int
    exam_row_id: int
    position: int


def find_first_open(db: Session, *, person_id: int, batch_id: int) -> AssignedQuestion | None:
    """Return the first open question by position, with one look-up in the index ``assignment_queue``."""
    return _find_assignment(db, _SELECT_FIRST_OPEN, {"person_id": person_id, "batch_id": batch_id})


def list_skipped(db: Session, *, person_id: int, batch_id: int) -> tuple[AssignedQuestion, ...]:
    """Return the questions that the person has skipped, by position."""
    return tuple(
        _assignment_from_row(row)
        for row in db.execute(_SELECT_SKIPPED, {"person_id": person_id, "batch_id": batch_id})
    )


def list_open_after(
    db: Session, *, person_id: int, batch_id: int, position: int, limit: int
) -> tuple[AssignedQuestion, ...]:
    """Return the next open questions after ``position``; at most ``limit`` questions."""
    values = {"person_id": person_id, "batch_id": batch_id, "position": position, "most": limit}
    return tuple(_assignment_from_row(row) for row in db.execute(_SELECT_OPEN_AFTER, values))


def find_neighbours(
    db: Session, *, person_id: int, batch_id: int, position: int
) -> tuple[int | None, int | None]:
    """Return the ids of the nearest questions before and after ``position`` that are not withdrawn."""
    values = {"person_id": person_id, "batch_id": batch_id, "position": position}
    candidates = [(row.position, row.question_id) for row in db.execute(_SELECT_NEIGHBOURS, values)]
    before = max((candidate for candidate in candidates if candidate[0] < position), default=None)
    after = min((candidate for candidate in candidates if candidate[0] > position), default=None)
    return (before and before[1], after and after[1])


def find_assignment(
    db: Session, *, person_id: int, batch_id: int, question_id: int, lock: bool = False
) -> AssignedQuestion | None:
    """Return the person's assignment to the question, even if withdrawn; None if there never was one.

    With ``lock`` other writers of this assignment wait until the transaction ends. On SQLite every writer
    waits anyway.
    """
    values = {"person_id": person_id, "batch_id": batch_id, "question_id": question_id}
    return _find_assignment(db, _LOCK_ASSIGNMENT if lock else _SELECT_ASSIGNMENT, values)


def lock_batch_shared(db: Session, *, batch_id: int) -> None:
    """Keep the batch open and its settings unchanged until the transaction ends.

    Other transactions may hold the same lock, so several people can judge at the same time. On SQLite every
    writer waits anyway.
    """
    db.execute(_LOCK_BATCH, {"batch_id": batch_id})


def load_last_change(db: Session, *, batch_id: int) -> tuple[int | None, datetime | None]:
    """Return the id of the person who last changed the batch, and the time of the change.

    The id is None for a change on the command line. Both are None if the batch was never changed.
    """
    row = db.execute(select(BatchRow.changed_by, BatchRow.changed_at).where(BatchRow.id == batch_id)).one()
    return row.changed_by, row.changed_at


def set_state(
    db: Session,
    *,
    person_id: int,
    batch_id: int,
    question_ids: Sequence[int],
    state: AssignmentState,
    now: datetime,
) -> None:
    """Set the state of the person's assignments to these questions."""
    for start in range(0, len(question_ids), _CHUNK):
        db.execute(
            update(AssignmentRow)
            .where(
                AssignmentRow.person_id == person_id,
                AssignmentRow.batch_id == batch_id,
                AssignmentRow.question_id.in_(question_ids[start : start + _CHUNK]),
            )
            .values(state=state.value, changed_at=now)
        )


def add_assignments(
    db: Session, *, batch_id: int, person_id: int, questions: Sequence[tuple[int, int]], now: datetime
) -> None:
    """Add open assignments for (question id, position in the batch). None of them may exist yet.

    In a batch with hidden questions the assignments have gaps between their positions.
    """
    if questions:
        step = POSITION_GAP if db.get(HiddenSetRow, batch_id) else 1
        db.execute(
            insert(AssignmentRow),
            [
                {
                    "batch_id": batch_id,
                    "question_id": question_row_id,
                    "person_id": person_id,
                    "position": position * step,
                    "state": AssignmentState.OPEN.value,
                    "assigned_at": now,
                    "changed_at": now,
                }
                for question_row_id, position in questions
            ],
        )


def count_by_state(
    db: Session, *, person_id: int, batch_id: int, position: int = -1
) -> tuple[dict[AssignmentState, int], int]:
    """Count the person's questions by state, and those up to ``position`` that are not withdrawn.

    A state without questions has no entry.
    """
    values = {"person_id": person_id, "batch_id": batch_id, "position": position}
    by_state: dict[AssignmentState, int] = {}
    count_so_far = 0
    for state, count, count_up_to in db.execute(_SELECT_COUNTS, values):
        by_state[AssignmentState(state)] = count
        count_so_far += count_up_to if state in _NOT_WITHDRAWN else 0
    return by_state, count_so_far


def count_by_person(db: Session, *, batch_id: int) -> dict[int, dict[AssignmentState, int]]:
    """Count the questions of the batch by person id and state, including withdrawn questions.

    Hidden questions are not counted.
    """
    rows = db.execute(
        select(AssignmentRow.person_id, AssignmentRow.state, func.count())
        .where(AssignmentRow.batch_id == batch_id, exclude_hidden(AssignmentRow.question_id))
        .group_by(AssignmentRow.person_id, AssignmentRow.state)
    )
    by_person: dict[int, dict[AssignmentState, int]] = {}
    for person_id, state, count in rows:
        by_person.setdefault(person_id, {})[AssignmentState(state)] = count
    return by_person


def list_batches_of_person(db: Session, *, person_id: int) -> tuple[int, ...]:
    """Return the ids of the batches in which the person has questions, the oldest first."""
    return tuple(db.execute(_SELECT_BATCHES, {"person_id": person_id}).scalars())


def has_question_on_exam(db: Session, *, person_id: int, exam_row_id: int, batch_ids: Sequence[int]) -> bool:
    """Return whether the person has a question about that exam in one of those batches."""
    statement = (
        select(AssignmentRow.question_id)
        .join(QuestionRow, QuestionRow.id == AssignmentRow.question_id)
        .where(
            QuestionRow.exam_id == exam_row_id,
            AssignmentRow.batch_id.in_(batch_ids),
            AssignmentRow.person_id == person_id,
            AssignmentRow.state != AssignmentState.WITHDRAWN.value,
        )
        .limit(1)
    )
    return db.execute(statement).first() is not None


def list_batch_members(db: Session, *, batch_id: int) -> tuple[BatchMember, ...]:
    """Return every question of the batch with its exam, by position."""
    rows = db.execute(
        select(BatchQuestionRow.question_id, QuestionRow.exam_id, BatchQuestionRow.position)
        .join(QuestionRow, QuestionRow.id == BatchQuestionRow.question_id)
        .where(BatchQuestionRow.batch_id == batch_id)
        .order_by(BatchQuestionRow.position)
    )
    return tuple(
        BatchMember(question_row_id=row.question_id, exam_row_id=row.exam_id, position=row.position)
        for row in rows
    )


def iterate_assignments(db: Session, *, batch_id: int) -> Iterator[tuple[int, int, AssignmentState]]:
    """Yield (question id, person id, state) of the batch's assignments, including withdrawn ones.

    Hidden questions are omitted.
    """
    rows = db.execute(
        select(AssignmentRow.question_id, AssignmentRow.person_id, AssignmentRow.state)
        .where(AssignmentRow.batch_id == batch_id, exclude_hidden(AssignmentRow.question_id))
        .order_by(AssignmentRow.position, AssignmentRow.person_id)
    )
    for question_id, person_id, state in rows:
        yield question_id, person_id, AssignmentState(state)


def load_exam_row_ids(db: Session, *, question_ids: Iterable[int]) -> dict[int, int]:
    """Return {question id: exam id}; intended for few questions."""
    return {row.id: row.exam_id for row in db.execute(_SELECT_EXAM_IDS, {"question_ids": list(question_ids)})}


def _find_assignment(db: Session, statement: AnySelect, values: dict[str, int]) -> AssignedQuestion | None:
    row = db.execute(statement, values).first()
    return None if row is None else _assignment_from_row(row)


def _assignment_from_row(row: AnyRow) -> AssignedQuestion:
    return AssignedQuestion(
        question_row_id=row.question_id,
        position=row.position,
        state=AssignmentState(row.state),
    )
