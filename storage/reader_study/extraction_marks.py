"""Storage of the marks of extracted answers, which are append-only."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.errors import AlreadyThere
from domain.marks import AnswerMark, ExtractionMark, ReplyId
from storage.rows.marks import ExtractionMarkRow


def add_extraction_mark(db: Session, *, mark: ExtractionMark) -> None:
    """Append a mark.

    Raises:
        AlreadyThere: that revision of the mark already exists.
    """
    values = {
        "model_id": mark.reply.model_id,
        "question_id": mark.reply.question_row_id,
        "revision": mark.revision,
        "mark": None if mark.mark is None else mark.mark.value,
        "marked_by": mark.marked_by,
        "marked_at": mark.marked_at,
    }
    try:
        with db.begin_nested():  # a savepoint, because a duplicate must not undo the caller's other work
            db.execute(insert(ExtractionMarkRow), [values])
    except IntegrityError as error:
        raise AlreadyThere("This mark has already been saved.") from error


def list_extraction_marks(db: Session, *, model_ids: Collection[int]) -> tuple[ExtractionMark, ...]:
    """Return the latest revision of each mark of these models' replies, including undone marks, by time."""
    key = (ExtractionMarkRow.model_id, ExtractionMarkRow.question_id)
    latest = (
        select(*key, func.max(ExtractionMarkRow.revision).label("revision"))
        .where(ExtractionMarkRow.model_id.in_(sorted(model_ids)))
        .group_by(*key)
        .subquery()
    )
    statement = (
        select(ExtractionMarkRow)
        .join(
            latest,
            (latest.c.model_id == ExtractionMarkRow.model_id)
            & (latest.c.question_id == ExtractionMarkRow.question_id)
            & (latest.c.revision == ExtractionMarkRow.revision),
        )
        .order_by(ExtractionMarkRow.marked_at, *key)
    )
    return tuple(
        ExtractionMark(
            reply=ReplyId(model_id=row.model_id, question_row_id=row.question_id),
            revision=row.revision,
            mark=None if row.mark is None else AnswerMark(row.mark),
            marked_by=row.marked_by,
            marked_at=row.marked_at,
        )
        for row in db.execute(statement).scalars()
    )
