"""One person's work on one question, loaded with few statements, because every verdict needs all of it.

Three statements load the batch with the person's relation to it, the work on the question, and the question
with its exam.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import (
    BindParameter,
    Boolean,
    and_,
    bindparam,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    union_all,
)
from sqlalchemy.orm import aliased
from sqlmodel import Session

from domain.batches import AssignmentState, Batch
from domain.blind_questions import BlindQuestion
from domain.errors import NotFound
from domain.exams import Exam
from domain.questions import Question
from domain.verdicts import Decision, OwnAnswer, RecentVerdict
from domain.vocabulary import AnswerFormat
from records.questions import QUESTION_COLUMNS, question_from_columns
from records.values import answer_from_json, from_json
from records.verdicts import image_display_from_column
from storage.intake.exams import RADIOGRAPH_COLUMNS, exam_from_row, radiograph_from_row
from storage.review.assignments import AssignedQuestion, BatchMember
from storage.review.practice import build_unqualified
from storage.review.shared_queues import SharedQueue
from storage.rows.batches import AssignmentRow, BatchRow
from storage.rows.claims import PoolMemberRow, SharedQueueRow
from storage.rows.comments import CommentReadRow, QuestionCommentRow
from storage.rows.datasets import ExamRow, ImageRow, QuestionRow, RadiographRow
from storage.rows.hidden import HiddenSetRow
from storage.rows.practice import PracticeSetRow
from storage.rows.verdicts import DraftRow, OwnAnswerRow, ReportOpeningRow, VerdictRow, ViewingTimeRow
from storage.sampling.batches import batch_from_row

_PERSON: BindParameter[int] = bindparam("person_id")
_BATCH: BindParameter[int] = bindparam("batch_id")
_QUESTION: BindParameter[int] = bindparam("question_id")
_POSITION: BindParameter[int] = bindparam("position")

# ------------------------------------------------------------------------------------------ the batch
_BATCH_COLUMNS = tuple(BatchRow.__table__.c)
_SELECT_BATCH = (
    select(
        *_BATCH_COLUMNS,
        SharedQueueRow.overlap,
        SharedQueueRow.idle_minutes,
        HiddenSetRow.id_mask,
        PoolMemberRow.person_id.label("member"),
        PracticeSetRow.batch_id.label("practice"),
        build_unqualified(_BATCH, _PERSON).label("unqualified"),
    )
    .select_from(BatchRow)
    .outerjoin(SharedQueueRow, SharedQueueRow.batch_id == BatchRow.id)
    .outerjoin(HiddenSetRow, HiddenSetRow.batch_id == BatchRow.id)
    .outerjoin(PracticeSetRow, PracticeSetRow.batch_id == BatchRow.id)
    .outerjoin(
        PoolMemberRow,
        and_(
            PoolMemberRow.batch_id == BatchRow.id,
            PoolMemberRow.person_id == _PERSON,
            PoolMemberRow.left_at.is_(None),
        ),
    )
    .where(BatchRow.id == _BATCH)
)
_LOCK_BATCH = _SELECT_BATCH.with_for_update(read=True, of=BatchRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchForPerson:
    """A batch with one person's relation to it.

    Attributes:
        batch: the batch.
        queue: the batch's shared queue; None if it has none.
        in_pool: whether the person is in the pool of that queue.
        id_mask: the mask of the batch's question ids; None if it has no hidden questions.
        is_practice: whether the batch is a practice set.
        is_qualified: whether the person may review it: no practice set is missing.
    """

    batch: Batch
    queue: SharedQueue | None
    in_pool: bool
    id_mask: int | None
    is_practice: bool = False
    is_qualified: bool = True


def find_batch_for_person(
    db: Session, *, batch_id: int, person_id: int, lock: bool = False
) -> BatchForPerson | None:
    """Return the batch with that id for the person; None if there is no such batch.

    With ``lock`` the batch is not closed and its settings do not change until the transaction ends, but other
    people can judge in it. On SQLite every writer waits anyway.
    """
    statement = _LOCK_BATCH if lock else _SELECT_BATCH
    row = db.execute(statement, {"batch_id": batch_id, "person_id": person_id}).first()
    if row is None:
        return None
    has_queue = row.overlap is not None
    return BatchForPerson(
        batch=batch_from_row(row),
        queue=SharedQueue(overlap=row.overlap, idle_timeout=timedelta(minutes=row.idle_minutes))
        if has_queue
        else None,
        in_pool=row.member is not None,
        id_mask=row.id_mask,
        is_practice=row.practice is not None,
        is_qualified=not row.unqualified,
    )


# --------------------------------------------------------------------------------------- the person's work
def _is_same_assignment(table: Any) -> Any:  # noqa: ANN401 - a table with these three columns; an SQL condition
    return and_(
        table.batch_id == AssignmentRow.batch_id,
        table.question_id == AssignmentRow.question_id,
        table.person_id == AssignmentRow.person_id,
    )


_COUNT_COMMENTS = (
    select(func.count())
    .select_from(QuestionCommentRow)
    .where(
        QuestionCommentRow.batch_id == AssignmentRow.batch_id,
        QuestionCommentRow.question_id == AssignmentRow.question_id,
        QuestionCommentRow.reviewer_id == AssignmentRow.person_id,
    )
    .correlate(AssignmentRow)
)
_SELECT_WORK = (
    select(
        AssignmentRow.question_id,
        AssignmentRow.position,
        AssignmentRow.state,
        QuestionRow.exam_id,
        OwnAnswerRow.person_id.label("answered_by"),
        OwnAnswerRow.answer,
        OwnAnswerRow.confidence,
        OwnAnswerRow.committed_at,
        OwnAnswerRow.image,
        ReportOpeningRow.image_alignment,
        ViewingTimeRow.seconds,
        ViewingTimeRow.seconds_looking,
        ViewingTimeRow.seconds_away,
        exists().where(_is_same_assignment(DraftRow)).label("has_drafts"),
        exists().where(_is_same_assignment(VerdictRow)).label("has_verdicts"),
        _COUNT_COMMENTS.scalar_subquery().label("comments"),
        _COUNT_COMMENTS.where(
            QuestionCommentRow.author_id.is_distinct_from(AssignmentRow.person_id),
            ~exists().where(
                CommentReadRow.comment_id == QuestionCommentRow.id,
                CommentReadRow.person_id == AssignmentRow.person_id,
            ),
        )
        .scalar_subquery()
        .label("unread_comments"),
    )
    .select_from(AssignmentRow)
    .join(QuestionRow, QuestionRow.id == AssignmentRow.question_id)
    .outerjoin(OwnAnswerRow, _is_same_assignment(OwnAnswerRow))
    .outerjoin(ReportOpeningRow, _is_same_assignment(ReportOpeningRow))
    .outerjoin(ViewingTimeRow, _is_same_assignment(ViewingTimeRow))
    .where(
        AssignmentRow.person_id == _PERSON,
        AssignmentRow.batch_id == _BATCH,
        AssignmentRow.question_id == _QUESTION,
    )
)
_LOCK_WORK = _SELECT_WORK.with_for_update(of=AssignmentRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionWork:
    """One person's input for one question so far.

    Attributes:
        assigned: the assignment, which may be withdrawn.
        exam_row_id: the id of the exam that the question is about.
        own_answer: the answer that was committed before the key was shown, if any.
        locked_alignment: the image alignment rated before the report was opened; None if it was not opened.
        viewing_seconds: the seconds in total, looking and away.
        has_drafts: whether there is unsaved input.
        has_verdicts: whether the person has judged the question in this batch.
        comments: the number of comments in the person's thread on the question.
        unread_comments: the number of these comments that coordinators wrote and the person has not read.
    """

    assigned: AssignedQuestion
    exam_row_id: int
    own_answer: OwnAnswer | None
    locked_alignment: int | None
    viewing_seconds: tuple[float, float, float]
    has_drafts: bool
    has_verdicts: bool
    comments: int = 0
    unread_comments: int = 0


def find_question_work(
    db: Session, *, batch_id: int, question_id: int, person_id: int, lock: bool = False
) -> QuestionWork | None:
    """Return the person's work on the question; None if it was never assigned to the person.

    With ``lock`` other writers of the assignment wait until the transaction ends. On SQLite every writer
    waits anyway.
    """
    values = {"batch_id": batch_id, "question_id": question_id, "person_id": person_id}
    row = db.execute(_LOCK_WORK if lock else _SELECT_WORK, values).first()
    if row is None:
        return None
    own_answer = None
    if row.answered_by is not None:
        own_answer = OwnAnswer(
            answer=None if row.answer is None else answer_from_json(row.answer),
            confidence=row.confidence,
            committed_at=row.committed_at,
            image=image_display_from_column(row.image),
        )
    return QuestionWork(
        assigned=AssignedQuestion(
            question_row_id=row.question_id, position=row.position, state=AssignmentState(row.state)
        ),
        exam_row_id=row.exam_id,
        own_answer=own_answer,
        locked_alignment=row.image_alignment,
        viewing_seconds=(row.seconds or 0.0, row.seconds_looking or 0.0, row.seconds_away or 0.0),
        has_drafts=bool(row.has_drafts),
        has_verdicts=bool(row.has_verdicts),
        comments=row.comments,
        unread_comments=row.unread_comments,
    )


# ----------------------------------------------------------------------------------- the question, its exam
_QUESTION_TABLE, _EXAM_TABLE = QuestionRow.__table__, ExamRow.__table__
_KEY_COLUMNS = tuple(_QUESTION_TABLE.c[name].label(f"question_{name}") for name in QUESTION_COLUMNS)
_BLIND_COLUMNS = tuple(
    _QUESTION_TABLE.c[name].label(f"question_{name}") for name in ("key", "format", "stem", "options")
)
_EXAM_COLUMNS = tuple(
    _EXAM_TABLE.c[name].label(f"exam_{name}") for name in ("key", "patient", "indication", "age", "sex")
)


def _select_question_with_exam(columns: Sequence[Any]) -> Any:  # noqa: ANN401 - a SELECT of these columns
    return (
        select(*columns, *_EXAM_COLUMNS, *RADIOGRAPH_COLUMNS)
        .select_from(_QUESTION_TABLE)
        .join(_EXAM_TABLE, _EXAM_TABLE.c.id == _QUESTION_TABLE.c.exam_id)
        .outerjoin(RadiographRow, RadiographRow.exam_id == _EXAM_TABLE.c.id)
        .outerjoin(ImageRow, ImageRow.sha256 == RadiographRow.image_sha256)
        .where(_QUESTION_TABLE.c.id == _QUESTION)
        .order_by(RadiographRow.position)
    )


_SELECT_WITH_KEY, _SELECT_BLIND = (
    _select_question_with_exam(_KEY_COLUMNS),
    _select_question_with_exam(_BLIND_COLUMNS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionWithExam:
    """A question and its exam. ``question`` is None if the answer key was not loaded."""

    blind_question: BlindQuestion
    question: Question | None
    exam: Exam


def load_question_with_exam(db: Session, *, question_id: int, blind: bool) -> QuestionWithExam:
    """Return the question with its exam. If ``blind``, no column that reveals the answer is loaded.

    Raises:
        NotFound: no question has that id.
    """
    db.flush()  # a select of table columns does not flush the session
    rows = db.execute(_SELECT_BLIND if blind else _SELECT_WITH_KEY, {"question_id": question_id}).all()
    if not rows:
        raise NotFound(f"There is no question number {question_id}.")
    first_row = rows[0]
    exam = exam_from_row(
        first_row, [radiograph_from_row(row) for row in rows if row.radiograph_key is not None]
    )
    blind_question = BlindQuestion(
        id=first_row.question_key,
        exam_id=exam.id,
        format=AnswerFormat(first_row.question_format),
        stem=first_row.question_stem,
        options=tuple(from_json(first_row.question_options)),
    )
    question = None if blind else question_from_columns(exam.id, first_row[: len(_KEY_COLUMNS)])
    return QuestionWithExam(blind_question=blind_question, question=question, exam=exam)


# ----------------------------------------------------------------------------------------- upcoming questions
_SELECT_OPEN = (
    select(AssignmentRow.question_id, AssignmentRow.position, QuestionRow.exam_id)
    .join(QuestionRow, QuestionRow.id == AssignmentRow.question_id)
    .where(
        AssignmentRow.person_id == _PERSON,
        AssignmentRow.batch_id == _BATCH,
        AssignmentRow.state == AssignmentState.OPEN.value,
    )
    .order_by(AssignmentRow.position)
)
_NEXT_OPEN = (
    _SELECT_OPEN.where(AssignmentRow.position > _POSITION).limit(bindparam("most")).subquery("next_open")
)
_FIRST_OPEN = _SELECT_OPEN.limit(1).subquery("first_open")
# Two look-ups in the index ``assignment_queue``.
_SELECT_UPCOMING = union_all(
    select(literal(0).label("part"), _NEXT_OPEN.c.question_id, _NEXT_OPEN.c.position, _NEXT_OPEN.c.exam_id),
    select(
        literal(1).label("part"), _FIRST_OPEN.c.question_id, _FIRST_OPEN.c.position, _FIRST_OPEN.c.exam_id
    ),
)


def load_upcoming_questions(
    db: Session, *, person_id: int, batch_id: int, position: int, limit: int
) -> tuple[tuple[BatchMember, ...], BatchMember | None]:
    """Return at most ``limit`` open questions after ``position``, and the queue's first open question."""
    values = {"person_id": person_id, "batch_id": batch_id, "position": position, "most": limit}
    following: list[BatchMember] = []
    first_question = None
    for row in db.execute(_SELECT_UPCOMING, values):
        question = BatchMember(
            question_row_id=row.question_id, position=row.position, exam_row_id=row.exam_id
        )
        if row.part == 0:
            following.append(question)
        else:
            first_question = question
    return tuple(sorted(following, key=lambda question: question.position)), first_question


# ------------------------------------------------------------------------------------------------ all batches
_STATE_COUNTS = (
    select(
        AssignmentRow.batch_id,
        AssignmentRow.state,
        func.count().label("questions"),
    )
    .where(AssignmentRow.person_id == _PERSON)
    .group_by(AssignmentRow.batch_id, AssignmentRow.state)
    .subquery("states")
)
_COUNT_UP_TO_POSITION = (
    select(func.count())
    .where(
        AssignmentRow.person_id == _PERSON,
        AssignmentRow.batch_id == _BATCH,
        AssignmentRow.state != AssignmentState.WITHDRAWN.value,
        AssignmentRow.position <= _POSITION,
    )
    .scalar_subquery()
)
_POOLS = select(
    PoolMemberRow.batch_id,
    literal(None).label("state"),
    literal(0).label("questions"),
    literal(1).label("shares"),
).where(PoolMemberRow.person_id == _PERSON, PoolMemberRow.left_at.is_(None))
_OWN_BATCHES = union_all(select(*_STATE_COUNTS.c, literal(0).label("shares")), _POOLS).subquery("mine")
_SELECT_BATCHES = (
    select(
        *_BATCH_COLUMNS,
        _OWN_BATCHES.c.state.label("assignment_state"),
        _OWN_BATCHES.c.questions,
        _OWN_BATCHES.c.shares,
        _COUNT_UP_TO_POSITION.label("so_far"),
    )
    .select_from(_OWN_BATCHES)
    .join(BatchRow, BatchRow.id == _OWN_BATCHES.c.batch_id)
    .order_by(BatchRow.id)
)
_SELECT_LOOKING_TIMES = select(VerdictRow.batch_id, VerdictRow.seconds_looking).where(
    VerdictRow.batch_id.in_(bindparam("batch_ids", expanding=True)),
    VerdictRow.person_id == _PERSON,
    VerdictRow.revision == 1,
)
_LATER_VERDICT = aliased(VerdictRow)
# The current verdicts of one batch on questions that the person may still open, the latest first.
_RECENT_VERDICTS = (
    select(VerdictRow.batch_id, VerdictRow.question_id, VerdictRow.decision, VerdictRow.given_at)
    .join(
        AssignmentRow,
        and_(
            AssignmentRow.batch_id == VerdictRow.batch_id,
            AssignmentRow.person_id == VerdictRow.person_id,
            AssignmentRow.question_id == VerdictRow.question_id,
        ),
    )
    .where(
        VerdictRow.batch_id == _BATCH,
        VerdictRow.person_id == _PERSON,
        or_(AssignmentRow.state != AssignmentState.WITHDRAWN.value, bindparam("in_pool", type_=Boolean)),
        ~exists().where(
            _LATER_VERDICT.batch_id == VerdictRow.batch_id,
            _LATER_VERDICT.person_id == VerdictRow.person_id,
            _LATER_VERDICT.question_id == VerdictRow.question_id,
            _LATER_VERDICT.revision > VerdictRow.revision,
        ),
    )
    .order_by(VerdictRow.given_at.desc(), VerdictRow.question_id.desc())
    .limit(bindparam("most"))
    .subquery("recent")
)
_TIMES = _SELECT_LOOKING_TIMES.subquery("times")
_SELECT_TIMES_AND_RECENT = union_all(
    select(*_RECENT_VERDICTS.c, null().label("seconds_looking")),
    select(_TIMES.c.batch_id, null(), null(), null(), _TIMES.c.seconds_looking),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCounts:
    """A batch in which the person has questions, with the number of questions by state."""

    batch: Batch
    in_pool: bool
    states: dict[AssignmentState, int]


def load_batch_counts(
    db: Session, *, person_id: int, batch_id: int = 0, position: int = -1
) -> tuple[tuple[BatchCounts, ...], int]:
    """Return every batch in which the person has questions, including closed ones, the oldest first.

    The second value is the number of the person's questions in batch ``batch_id`` up to ``position`` that are
    not withdrawn.
    """
    values = {"person_id": person_id, "batch_id": batch_id, "position": position}
    batches: dict[int, Batch] = {}
    states: dict[int, dict[AssignmentState, int]] = {}
    shared_batch_ids: set[int] = set()
    count_so_far = 0
    for row in db.execute(_SELECT_BATCHES, values):
        count_so_far = row.so_far
        if row.id not in batches:
            batches[row.id], states[row.id] = batch_from_row(row), {}
        if row.shares:
            shared_batch_ids.add(row.id)
        else:
            states[row.id][AssignmentState(row.assignment_state)] = row.questions
    counts = tuple(
        BatchCounts(batch=batch, in_pool=number in shared_batch_ids, states=states[number])
        for number, batch in batches.items()
        if number in shared_batch_ids or states[number].keys() - {AssignmentState.WITHDRAWN}
    )
    return counts, count_so_far


def load_looking_times(db: Session, *, person_id: int, batch_ids: Sequence[int]) -> dict[int, list[float]]:
    """Return {batch id: looking times of the person's first verdicts, in seconds}."""
    return _group_times(
        db.execute(_SELECT_LOOKING_TIMES, {"person_id": person_id, "batch_ids": list(batch_ids)})
    )


def load_times_and_recent(
    db: Session, *, person_id: int, batch_ids: Sequence[int], batch_id: int, in_pool: bool, most: int
) -> tuple[dict[int, list[float]], list[RecentVerdict]]:
    """Return the result of :func:`load_looking_times` and the person's last verdicts in one batch.

    Args:
        db: a session that reads.
        person_id: the reviewer.
        batch_ids: the batches of the looking times.
        batch_id: the batch of the last verdicts.
        in_pool: whether the person may open questions that they no longer have, as in a shared queue.
        most: the maximum number of verdicts. Each verdict is on another question.

    Returns:
        The times, and the verdicts, newest first.
    """
    values = {
        "person_id": person_id,
        "batch_ids": list(batch_ids),
        "batch_id": batch_id,
        "in_pool": in_pool,
        "most": most,
    }
    rows = db.execute(_SELECT_TIMES_AND_RECENT, values).all()
    recent = [
        RecentVerdict(question_row_id=row.question_id, decision=Decision(row.decision), given_at=row.given_at)
        for row in rows
        if row.question_id is not None
    ]
    recent.sort(key=lambda verdict: (verdict.given_at, verdict.question_row_id), reverse=True)
    return _group_times(row for row in rows if row.question_id is None), recent


def _group_times(rows: Iterable[Any]) -> dict[int, list[float]]:
    times: dict[int, list[float]] = {}
    for row in rows:
        times.setdefault(row.batch_id, []).append(row.seconds_looking)
    return times
