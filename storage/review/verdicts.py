"""Storage of verdicts, own answers, skips and report openings, which are append-only."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.errors import AlreadyThere
from domain.image_display import ImageDisplay
from domain.verdicts import OwnAnswer, Verdict
from records.values import answer_from_json, to_json, to_plain
from records.verdicts import (
    VERDICT_COLUMNS,
    image_display_from_column,
    verdict_from_columns,
    verdict_to_columns,
)
from storage.inserts import insert_into
from storage.rows.verdicts import OwnAnswerRow, ReportOpeningRow, SkipRow, VerdictRow

_IS_BY_PERSON = (
    VerdictRow.batch_id == bindparam("batch_id"),
    VerdictRow.person_id == bindparam("person_id"),
)
# Built once, because every verdict executes these several times.
_SELECT_LAST_JUDGED = (
    select(VerdictRow.question_id)
    .where(*_IS_BY_PERSON)
    .order_by(VerdictRow.given_at.desc(), VerdictRow.question_id.desc())
    .limit(1)
)
_SELECT_VERDICTS = select(*VerdictRow.__table__.columns).where(
    *_IS_BY_PERSON, VerdictRow.question_id == bindparam("question_id")
)
_SELECT_LAST = _SELECT_VERDICTS.order_by(VerdictRow.revision.desc()).limit(1)
_SELECT_REVISION = _SELECT_VERDICTS.where(VerdictRow.revision == bindparam("revision"))
_SELECT_ALIGNMENT = select(ReportOpeningRow.image_alignment).where(
    ReportOpeningRow.batch_id == bindparam("batch_id"),
    ReportOpeningRow.question_id == bindparam("question_id"),
    ReportOpeningRow.person_id == bindparam("person_id"),
)


def add_verdict(db: Session, *, verdict: Verdict) -> Verdict:
    """Append a verdict.

    Returns:
        The verdict as stored.

    Raises:
        AlreadyThere: that revision of this person's verdict on the question already exists.
    """
    statement = insert_into(db, VerdictRow).values(**verdict_to_columns(verdict)).on_conflict_do_nothing()
    row = db.execute(statement.returning(*VerdictRow.__table__.columns)).first()
    if row is None:
        raise AlreadyThere("This verdict has already been saved.")
    return verdict_from_row(row)


def find_last_verdict(db: Session, *, batch_id: int, question_id: int, person_id: int) -> Verdict | None:
    """Return the person's verdict on the question with the highest revision."""
    return _find_verdict(db, batch_id, question_id, person_id, None)


def find_verdict(
    db: Session, *, batch_id: int, question_id: int, person_id: int, revision: int
) -> Verdict | None:
    """Return the person's verdict on the question with that revision."""
    return _find_verdict(db, batch_id, question_id, person_id, revision)


def find_last_judged_question(db: Session, *, batch_id: int, person_id: int) -> int | None:
    """Return the id of the question that the person judged last; None if there is none."""
    return db.execute(
        _SELECT_LAST_JUDGED, {"batch_id": batch_id, "person_id": person_id}
    ).scalar_one_or_none()


def has_judgements(db: Session, *, batch_id: int) -> bool:
    """Return whether the batch has a verdict, an own answer or a report opening."""
    return any(
        db.execute(select(table.batch_id).where(table.batch_id == batch_id).limit(1)).first() is not None
        for table in (VerdictRow, OwnAnswerRow, ReportOpeningRow)
    )


def find_own_answer(db: Session, *, batch_id: int, question_id: int, person_id: int) -> OwnAnswer | None:
    """Return the person's own answer, which was given before the key was loaded; None if there is none."""
    row = db.get(OwnAnswerRow, (batch_id, question_id, person_id))
    if row is None:
        return None
    return OwnAnswer(
        answer=None if row.answer is None else answer_from_json(row.answer),
        confidence=row.confidence,
        committed_at=row.committed_at,
        image=image_display_from_column(row.image),
    )


def add_own_answer(
    db: Session, *, batch_id: int, question_id: int, person_id: int, answer: OwnAnswer
) -> None:
    """Append an own answer.

    Raises:
        AlreadyThere: the person has already committed an answer.
    """
    row = OwnAnswerRow(
        batch_id=batch_id,
        question_id=question_id,
        person_id=person_id,
        answer=None if answer.answer is None else to_json(to_plain(answer.answer)),
        confidence=answer.confidence,
        committed_at=answer.committed_at,
        image=answer.image,
    )
    _append(db, row, "own answer")


def find_last_skip(db: Session, *, batch_id: int, question_id: int, person_id: int) -> tuple[int, str] | None:
    """Return (number, reason) of the person's latest skip of the question; None if there is none."""
    row = db.execute(
        select(SkipRow.number, SkipRow.reason)
        .where(
            SkipRow.batch_id == batch_id, SkipRow.question_id == question_id, SkipRow.person_id == person_id
        )
        .order_by(SkipRow.number.desc())
        .limit(1)
    ).first()
    return None if row is None else (row.number, row.reason)


def add_skip(
    db: Session,
    *,
    batch_id: int,
    question_id: int,
    person_id: int,
    number: int,
    reason: str,
    now: datetime,
) -> None:
    """Append a skip; ``number`` counts from 1 for this person and question."""
    row = SkipRow(
        batch_id=batch_id,
        question_id=question_id,
        person_id=person_id,
        number=number,
        reason=reason,
        skipped_at=now,
    )
    _append(db, row, "skip")


def find_locked_alignment(db: Session, *, batch_id: int, question_id: int, person_id: int) -> int | None:
    """Return the image alignment rated before the report was opened; None if it was not opened."""
    values = {"batch_id": batch_id, "question_id": question_id, "person_id": person_id}
    return db.execute(_SELECT_ALIGNMENT, values).scalar_one_or_none()


def add_report_opening(
    db: Session,
    *,
    batch_id: int,
    question_id: int,
    person_id: int,
    image_alignment: int,
    image: ImageDisplay | None,
    now: datetime,
) -> None:
    """Append the opening of the report, with the image alignment, which can't be changed afterwards."""
    row = ReportOpeningRow(
        batch_id=batch_id,
        question_id=question_id,
        person_id=person_id,
        image_alignment=image_alignment,
        opened_at=now,
        image=image,
    )
    _append(db, row, "report opening")


def verdict_from_row(row: Any) -> Verdict:  # noqa: ANN401 - a VerdictRow, or a result row with its columns
    """Return the verdict from a row that has all columns of the table."""
    return verdict_from_columns([getattr(row, name) for name in VERDICT_COLUMNS])


def _find_verdict(
    db: Session, batch_id: int, question_id: int, person_id: int, revision: int | None
) -> Verdict | None:
    values = {"batch_id": batch_id, "question_id": question_id, "person_id": person_id}
    if revision is None:
        row = db.execute(_SELECT_LAST, values).first()
    else:
        row = db.execute(_SELECT_REVISION, {**values, "revision": revision}).first()
    return None if row is None else verdict_from_row(row)


def _append(db: Session, row: Any, noun: str) -> None:  # noqa: ANN401 - a row of one of the tables above
    # A savepoint keeps the transaction's other work if the database rejects the row.
    try:
        with db.begin_nested():
            db.add(row)
    except IntegrityError as error:
        raise AlreadyThere(f"This {noun} has already been saved.") from error
