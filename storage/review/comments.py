"""Storage of comments between reviewers and coordinators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import Exists, exists, func, select
from sqlalchemy.orm import aliased
from sqlmodel import Session

from domain.batches import AssignmentState
from domain.comments import Comment, CommentThread
from storage.inserts import insert_into
from storage.rows.batches import AssignmentRow, BatchRow
from storage.rows.comments import CommentReadRow, QuestionCommentRow
from storage.rows.datasets import DatasetRow, QuestionRow
from storage.rows.people import PersonRow
from storage.types import AnyRow, AnySelect

_AUTHOR, _REVIEWER = aliased(PersonRow), aliased(PersonRow)
COMMAND_LINE_NAME = "Command line"
_UNJUDGED = (AssignmentState.OPEN.value, AssignmentState.SKIPPED.value)


def add_comment(
    db: Session,
    *,
    batch_id: int,
    question_id: int,
    reviewer_id: int,
    author_id: int | None,
    text: str,
    now: datetime,
) -> int:
    """Append a comment and return its id."""
    row = QuestionCommentRow(
        batch_id=batch_id,
        question_id=question_id,
        reviewer_id=reviewer_id,
        author_id=author_id,
        text=text,
        written_at=now,
    )
    db.add(row)
    db.flush()
    return row.id or 0


def mark_read(db: Session, *, comments: Iterable[int], person_id: int, now: datetime) -> None:
    """Record that the person has read these comments. The time of the first reading is kept."""
    values = [{"comment_id": comment_id, "person_id": person_id, "read_at": now} for comment_id in comments]
    if values:
        db.execute(insert_into(db, CommentReadRow).values(values).on_conflict_do_nothing())


def load_comments(db: Session, *, batch_id: int, question_id: int, reviewer_id: int) -> tuple[Comment, ...]:
    """Return the comments of one thread, the oldest first."""
    statement = _select_comments().where(
        QuestionCommentRow.batch_id == batch_id,
        QuestionCommentRow.question_id == question_id,
        QuestionCommentRow.reviewer_id == reviewer_id,
    )
    return tuple(_comment_from_row(row) for row in db.execute(statement))


def list_threads(
    db: Session, *, person_id: int, question_id: int | None = None, reviewer_id: int | None = None
) -> list[CommentThread]:
    """Return threads with their comments, the thread with the newest comment first.

    Other reviewers' threads on questions that the person still has to judge are omitted, because the comments
    would influence the judgement.

    Args:
        db: a read-only session.
        person_id: the person who reads the threads; unread comments are counted for this person.
        question_id: limits the result to threads on this question.
        reviewer_id: limits the result to threads of this reviewer.
    """
    statement = _select_comments().where(~_is_unjudged_by(person_id))
    if question_id is not None:
        statement = statement.where(QuestionCommentRow.question_id == question_id)
    if reviewer_id is not None:
        statement = statement.where(QuestionCommentRow.reviewer_id == reviewer_id)
    rows = sorted(db.execute(statement), key=_thread_key)
    read_ids = set(
        db.execute(select(CommentReadRow.comment_id).where(CommentReadRow.person_id == person_id)).scalars()
    )
    threads = [
        _build_thread(list(thread_rows), read_ids, person_id) for _, thread_rows in groupby(rows, _thread_key)
    ]
    return sorted(threads, key=lambda thread: thread.comments[-1].number, reverse=True)


def count_unread(db: Session, *, person_id: int) -> int:
    """Return the number of comments that coordinators wrote to the person and the person has not read."""
    statement = (
        select(func.count())
        .select_from(QuestionCommentRow)
        .where(
            QuestionCommentRow.reviewer_id == person_id,
            QuestionCommentRow.author_id.is_distinct_from(person_id),
            ~exists().where(
                CommentReadRow.comment_id == QuestionCommentRow.id, CommentReadRow.person_id == person_id
            ),
        )
    )
    return int(db.execute(statement).scalar_one())


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionReviewer:
    """A reviewer of a question in a batch; ``name`` is the sign-in name."""

    batch: str
    name: str
    display_name: str


def list_reviewers(db: Session, *, question_id: int) -> list[QuestionReviewer]:
    """Return everybody to whom the question is assigned, ordered by batch and name."""
    statement = (
        select(BatchRow.name.label("batch"), PersonRow.name, PersonRow.display_name)
        .select_from(AssignmentRow)
        .join(BatchRow, BatchRow.id == AssignmentRow.batch_id)
        .join(PersonRow, PersonRow.id == AssignmentRow.person_id)
        .where(AssignmentRow.question_id == question_id)
        .order_by(BatchRow.id, PersonRow.name)
    )
    return [
        QuestionReviewer(batch=row.batch, name=row.name, display_name=row.display_name)
        for row in db.execute(statement)
    ]


def has_to_judge(db: Session, *, person_id: int, question_id: int) -> bool:
    """Return whether the person still has to judge the question in any batch."""
    statement = select(AssignmentRow.question_id).where(
        AssignmentRow.person_id == person_id,
        AssignmentRow.question_id == question_id,
        AssignmentRow.state.in_(_UNJUDGED),
    )
    return db.execute(statement.limit(1)).first() is not None


def _is_unjudged_by(person_id: int) -> Exists:
    assignment = aliased(AssignmentRow)
    return exists().where(
        assignment.person_id == person_id,
        assignment.question_id == QuestionCommentRow.question_id,
        assignment.state.in_(_UNJUDGED),
        QuestionCommentRow.reviewer_id != person_id,
    )


def _select_comments() -> AnySelect:
    return (
        select(
            QuestionCommentRow,
            _AUTHOR.display_name.label("author_name"),
            _REVIEWER.name.label("reviewer"),
            _REVIEWER.display_name.label("reviewer_name"),
            BatchRow.name.label("batch"),
            DatasetRow.name.label("dataset"),
            QuestionRow.key.label("question_key"),
        )
        .join(BatchRow, BatchRow.id == QuestionCommentRow.batch_id)
        .join(QuestionRow, QuestionRow.id == QuestionCommentRow.question_id)
        .join(DatasetRow, DatasetRow.id == QuestionRow.dataset_id)
        .join(_REVIEWER, _REVIEWER.id == QuestionCommentRow.reviewer_id)
        .outerjoin(_AUTHOR, _AUTHOR.id == QuestionCommentRow.author_id)
        .order_by(QuestionCommentRow.id)
    )


def _thread_key(row: AnyRow) -> tuple[int, int, int]:
    comment: QuestionCommentRow = row[0]
    return comment.batch_id, comment.question_id, comment.reviewer_id


def _comment_from_row(result: AnyRow) -> Comment:
    row: QuestionCommentRow = result[0]
    return Comment(
        number=row.id or 0,
        batch_id=row.batch_id,
        question_row_id=row.question_id,
        reviewer_id=row.reviewer_id,
        author_id=row.author_id,
        author_name=result.author_name or COMMAND_LINE_NAME,
        by_reviewer=row.author_id == row.reviewer_id,
        text=row.text,
        written_at=row.written_at,
    )


def _build_thread(rows: list[AnyRow], read_ids: set[int], person_id: int) -> CommentThread:
    comments = tuple(_comment_from_row(row) for row in rows)
    unread = [
        comment for comment in comments if comment.author_id != person_id and comment.number not in read_ids
    ]
    return CommentThread(
        batch=rows[0].batch,
        dataset=rows[0].dataset,
        question_id=rows[0].question_key,
        reviewer=rows[0].reviewer,
        reviewer_name=rows[0].reviewer_name,
        comments=comments,
        unread=len(unread),
    )
