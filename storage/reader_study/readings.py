"""Storage of readings, which are append-only, and of drafts of readings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.errors import AlreadyThere
from domain.readings import Reading, ReadingKey
from records.values import answer_from_json, boxes_from_json, boxes_to_plain, from_json, to_json, to_plain
from records.verdicts import image_display_from_column
from storage.rows.studies import CaseRow, ReadingDraftRow, ReadingRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingDraft:
    """A reader's unsaved input for a case, and the time spent so far; ``body`` is plain JSON."""

    revision: int
    body: dict[str, Any]
    seconds: float
    seconds_looking: float
    seconds_away: float
    began_at: datetime


def add_reading(db: Session, *, reading: Reading) -> None:
    """Append a reading.

    Raises:
        AlreadyThere: that revision of the reading already exists.
    """
    add_readings(db, readings=[reading])


def add_readings(db: Session, *, readings: Sequence[Reading]) -> None:
    """Append all readings or none.

    Raises:
        AlreadyThere: that revision of one of the readings already exists.
    """
    if not readings:
        return
    try:
        with db.begin_nested():  # a savepoint, because a duplicate must not undo the caller's other work
            db.execute(insert(ReadingRow), [_reading_values(reading) for reading in readings])
    except IntegrityError as error:
        raise AlreadyThere("This reading has already been saved.") from error


def _reading_values(reading: Reading) -> dict[str, object]:
    key = reading.key
    return {
        "study_id": key.study_id,
        "reader_id": key.reader_id,
        "case_id": key.case_id,
        "arm": key.arm,
        "repeat": key.repeat,
        "revision": reading.revision,
        "position": reading.position,
        "period": reading.period,
        "protocol_version": reading.protocol_version,
        "answer": None if reading.answer is None else to_json(to_plain(reading.answer)),
        "cannot_determine": reading.cannot_determine,
        "faulty": reading.faulty,
        "confidence": reading.confidence,
        "boxes": to_json(boxes_to_plain(reading.boxes)),
        "seconds": reading.seconds,
        "seconds_looking": reading.seconds_looking,
        "seconds_away": reading.seconds_away,
        "began_at": reading.began_at,
        "read_at": reading.read_at,
        "outside": reading.is_external,
        "image": reading.image,
    }


def find_last_reading(db: Session, *, key: ReadingKey) -> Reading | None:
    """Return the reading of that key with the highest revision."""
    row = db.execute(_select_by_key(key).order_by(ReadingRow.revision.desc()).limit(1)).scalar_one_or_none()
    return None if row is None else reading_from_row(row)


def find_reading(db: Session, *, key: ReadingKey, revision: int) -> Reading | None:
    """Return the reading of that key with that revision."""
    row = db.execute(_select_by_key(key).where(ReadingRow.revision == revision)).scalar_one_or_none()
    return None if row is None else reading_from_row(row)


def iterate_readings(
    db: Session,
    *,
    study_id: int,
    reader_id: int | None = None,
    case_id: int | None = None,
    all_revisions: bool = False,
) -> Iterator[Reading]:
    """Yield the readings of a study, of a reader or of a case, ordered by reader, position and revision.

    Hidden repeats and training cases are included. Without ``all_revisions`` only the last revision of each
    reading is yielded.
    """
    statement = select(ReadingRow).where(ReadingRow.study_id == study_id)
    if reader_id is not None:
        statement = statement.where(ReadingRow.reader_id == reader_id)
    if case_id is not None:
        statement = statement.where(ReadingRow.case_id == case_id)
    if not all_revisions:
        latest = (
            select(
                ReadingRow.reader_id,
                ReadingRow.case_id,
                ReadingRow.arm,
                ReadingRow.repeat,
                func.max(ReadingRow.revision).label("revision"),
            )
            .where(ReadingRow.study_id == study_id)
            .group_by(ReadingRow.reader_id, ReadingRow.case_id, ReadingRow.arm, ReadingRow.repeat)
            .subquery()
        )
        statement = statement.join(
            latest,
            (latest.c.reader_id == ReadingRow.reader_id)
            & (latest.c.case_id == ReadingRow.case_id)
            & (latest.c.arm == ReadingRow.arm)
            & (latest.c.repeat == ReadingRow.repeat)
            & (latest.c.revision == ReadingRow.revision),
        )
    statement = statement.order_by(
        ReadingRow.reader_id, ReadingRow.position, ReadingRow.case_id, ReadingRow.revision
    )
    for row in db.execute(statement).scalars():
        yield reading_from_row(row)


def count_readings(db: Session, *, study_id: int, revision: int | None = None) -> int:
    """Return the number of readings with that revision; with None, all revisions are counted.

    Each answered case of a reader has one reading with revision 1.
    """
    statement = select(func.count()).where(ReadingRow.study_id == study_id)
    if revision is not None:
        statement = statement.where(ReadingRow.revision == revision)
    return int(db.execute(statement).scalar_one())


def find_last_read_at(db: Session, *, reader_id: int, period: int) -> datetime | None:
    """Return the time of the reader's last reading in that period; None if there is none."""
    return db.execute(
        select(ReadingRow.read_at)
        .where(ReadingRow.reader_id == reader_id, ReadingRow.period == period)
        .order_by(ReadingRow.read_at.desc())
        .limit(1)
    ).scalar_one_or_none()


def find_last_read_position(db: Session, *, reader_id: int) -> int | None:
    """Return the position of the reader's last reading; None if there is none."""
    return db.execute(
        select(ReadingRow.position)
        .where(ReadingRow.reader_id == reader_id)
        .order_by(ReadingRow.read_at.desc(), ReadingRow.position.desc())
        .limit(1)
    ).scalar_one_or_none()


def find_draft(db: Session, *, key: ReadingKey) -> ReadingDraft | None:
    """Return the draft of that key; None if there is none."""
    row = _find_draft_row(db, key)
    if row is None:
        return None
    return ReadingDraft(
        revision=row.revision,
        body=from_json(row.body),
        seconds=row.seconds,
        seconds_looking=row.seconds_looking,
        seconds_away=row.seconds_away,
        began_at=row.began_at,
    )


def save_draft(db: Session, *, key: ReadingKey, revision: int, body: dict[str, Any], now: datetime) -> None:
    """Store the draft. It replaces the previous one."""
    row = _find_draft_row(db, key) or _make_draft_row(key, now)
    row.revision, row.body, row.changed_at = revision, to_json(body), now
    db.add(row)
    db.flush()


def save_times(
    db: Session,
    *,
    key: ReadingKey,
    seconds: float,
    seconds_looking: float,
    seconds_away: float,
    now: datetime,
) -> None:
    """Store the times. A time never decreases, so a message that arrives late changes nothing."""
    row = _find_draft_row(db, key) or _make_draft_row(key, now)
    row.seconds = max(row.seconds, seconds)
    row.seconds_looking = max(row.seconds_looking, seconds_looking)
    row.seconds_away = max(row.seconds_away, seconds_away)
    row.changed_at = now
    db.add(row)
    db.flush()


def clear_draft(db: Session, *, key: ReadingKey, revision: int) -> None:
    """Empty the draft after its reading was saved. The times are kept."""
    row = _find_draft_row(db, key)
    if row is not None:
        row.revision, row.body = revision, "{}"
        db.add(row)
        db.flush()


def delete_drafts(db: Session, *, reader_id: int) -> None:
    """Delete all drafts of the reader, before the reader's slots are recreated."""
    db.execute(delete(ReadingDraftRow).where(ReadingDraftRow.reader_id == reader_id))


def has_reading_on_exam(db: Session, *, reader_id: int, exam_row_id: int) -> bool:
    """Return whether the reader has a reading of a case of that exam."""
    statement = (
        select(ReadingRow.case_id)
        .join(CaseRow, CaseRow.id == ReadingRow.case_id)
        .where(ReadingRow.reader_id == reader_id, CaseRow.exam_id == exam_row_id)
        .limit(1)
    )
    return db.execute(statement).first() is not None


def _find_draft_row(db: Session, key: ReadingKey) -> ReadingDraftRow | None:
    return db.get(ReadingDraftRow, (key.reader_id, key.case_id, key.arm, key.repeat))


def _make_draft_row(key: ReadingKey, now: datetime) -> ReadingDraftRow:
    return ReadingDraftRow(
        reader_id=key.reader_id,
        case_id=key.case_id,
        arm=key.arm,
        repeat=key.repeat,
        began_at=now,
        changed_at=now,
    )


def _select_by_key(key: ReadingKey) -> Select[Any]:
    return select(ReadingRow).where(
        ReadingRow.reader_id == key.reader_id,
        ReadingRow.case_id == key.case_id,
        ReadingRow.arm == key.arm,
        ReadingRow.repeat == key.repeat,
    )


def reading_from_row(row: Any) -> Reading:  # noqa: ANN401 - a row with the table's columns
    return Reading(
        key=ReadingKey(
            study_id=row.study_id,
            reader_id=row.reader_id,
            case_id=row.case_id,
            arm=row.arm,
            repeat=row.repeat,
        ),
        revision=row.revision,
        position=row.position,
        period=row.period,
        protocol_version=row.protocol_version,
        answer=None if row.answer is None else answer_from_json(row.answer),
        cannot_determine=row.cannot_determine,
        faulty=row.faulty,
        confidence=row.confidence,
        boxes=boxes_from_json(row.boxes),
        seconds=row.seconds,
        seconds_looking=row.seconds_looking,
        seconds_away=row.seconds_away,
        began_at=row.began_at,
        read_at=row.read_at,
        is_external=row.outside,
        image=image_display_from_column(row.image),
    )
