"""Storage of the markers of a study and of their marks, and the open answers that they mark.

The functions that load answers select neither the reader nor the model, so that marking is blind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, insert, select, union
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.errors import AlreadyThere
from domain.marks import AnswerId, AnswerMark, Marker, MarkerRole, MarkRevision
from domain.studies import CaseKind
from domain.vocabulary import FREE_TEXT_FORMATS
from records.values import answer_from_json
from storage.inserts import insert_into
from storage.rows.marks import AnswerMarkRow, StudyMarkerRow
from storage.rows.people import PersonRow
from storage.rows.studies import CaseRow, ModelRow, PredictionRow, ReadingRow


def save_marker(
    db: Session, *, study_id: int, role: MarkerRole, person_id: int | None, now: datetime
) -> None:
    """Set the person in one role of the study; None removes the marker."""
    if person_id is None:
        db.execute(
            delete(StudyMarkerRow).where(
                StudyMarkerRow.study_id == study_id, StudyMarkerRow.place == role.value
            )
        )
        return
    values = {"person_id": person_id, "assigned_at": now}
    db.execute(
        insert_into(db, StudyMarkerRow)
        .values(study_id=study_id, place=role.value, **values)
        .on_conflict_do_update(index_elements=["study_id", "place"], set_=values)
    )


def list_markers(db: Session, *, study_id: int) -> tuple[Marker, ...]:
    """Return the markers of a study, the first marker first."""
    rows = db.execute(
        select(StudyMarkerRow.place, PersonRow.id, PersonRow.name, PersonRow.display_name)
        .join(PersonRow, PersonRow.id == StudyMarkerRow.person_id)
        .where(StudyMarkerRow.study_id == study_id)
        .order_by(StudyMarkerRow.place)
    )
    return tuple(
        Marker(
            study_id=study_id,
            role=MarkerRole(row.place),
            person_id=row.id,
            name=row.name,
            display_name=row.display_name,
        )
        for row in rows
    )


def list_marker_roles(db: Session, *, person_id: int) -> tuple[tuple[int, MarkerRole], ...]:
    """Return (study id, role) of each study in which the person marks, the oldest study first."""
    rows = db.execute(
        select(StudyMarkerRow.study_id, StudyMarkerRow.place)
        .where(StudyMarkerRow.person_id == person_id)
        .order_by(StudyMarkerRow.study_id)
    )
    return tuple((row.study_id, MarkerRole(row.place)) for row in rows)


def add_mark(db: Session, *, revision: MarkRevision) -> None:
    """Append a mark.

    Raises:
        AlreadyThere: that revision of the mark already exists.
    """
    values = {
        "case_id": revision.answer.case_id,
        "text_sha256": revision.answer.text_sha256,
        "place": revision.role.value,
        "revision": revision.revision,
        "study_id": revision.study_id,
        "mark": None if revision.mark is None else revision.mark.value,
        "marked_by": revision.marked_by,
        "marked_at": revision.marked_at,
    }
    try:
        with db.begin_nested():  # a savepoint, because a duplicate must not undo the caller's other work
            db.execute(insert(AnswerMarkRow), [values])
    except IntegrityError as error:
        raise AlreadyThere("This mark has already been saved.") from error


def list_latest_marks(
    db: Session, *, study_id: int, role: MarkerRole | None = None
) -> tuple[MarkRevision, ...]:
    """Return the latest revision of each mark of the study, including undone marks, ordered by time.

    ``role`` limits the result to one marker's marks.
    """
    conditions = [AnswerMarkRow.study_id == study_id]
    if role is not None:
        conditions.append(AnswerMarkRow.place == role.value)
    key = (AnswerMarkRow.case_id, AnswerMarkRow.text_sha256, AnswerMarkRow.place)
    latest_revisions = (
        select(*key, func.max(AnswerMarkRow.revision).label("revision")).where(*conditions).group_by(*key)
    )
    latest = latest_revisions.subquery()
    statement = (
        select(AnswerMarkRow)
        .join(
            latest,
            (latest.c.case_id == AnswerMarkRow.case_id)
            & (latest.c.text_sha256 == AnswerMarkRow.text_sha256)
            & (latest.c.place == AnswerMarkRow.place)
            & (latest.c.revision == AnswerMarkRow.revision),
        )
        .order_by(AnswerMarkRow.marked_at, *key)
    )
    return tuple(mark_from_row(row) for row in db.execute(statement).scalars())


def iterate_open_answers(
    db: Session, *, study_id: int, model_names: Collection[str] | None
) -> Iterator[tuple[int, str]]:
    """Yield (case id, text) of each distinct answer to an open scored case, by case and text.

    Only the latest revision of a reading counts. ``model_names`` are the models of the study; None for all
    models with predictions. The reader or model that gave an answer is not loaded.
    """
    is_open_case = (
        (CaseRow.study_id == study_id)
        & (CaseRow.kind == CaseKind.SCORED.value)
        & CaseRow.format.in_(FREE_TEXT_FORMATS)
    )
    later = ReadingRow.__table__.alias("later")
    has_later_revision = (
        select(later.c.reader_id)
        .where(
            later.c.reader_id == ReadingRow.reader_id,
            later.c.case_id == ReadingRow.case_id,
            later.c.arm == ReadingRow.arm,
            later.c.repeat == ReadingRow.repeat,
            later.c.revision > ReadingRow.revision,
        )
        .exists()
    )
    reader_answers = (
        select(CaseRow.id.label("case_id"), ReadingRow.answer)
        .join(ReadingRow, ReadingRow.case_id == CaseRow.id)
        .where(is_open_case, ReadingRow.answer.is_not(None), ~has_later_revision)
    )
    model_answers = (
        select(CaseRow.id.label("case_id"), PredictionRow.answer)
        .join(PredictionRow, PredictionRow.question_id == CaseRow.question_id)
        .join(ModelRow, ModelRow.id == PredictionRow.model_id)
        .where(is_open_case, PredictionRow.answer.is_not(None))
    )
    if model_names is not None:
        model_answers = model_answers.where(ModelRow.name.in_(sorted(model_names)))
    for row in db.execute(union(reader_answers, model_answers).order_by("case_id", "answer")):
        answer = answer_from_json(row.answer)
        if isinstance(answer, str):
            yield row.case_id, answer


def mark_from_row(row: Any) -> MarkRevision:  # noqa: ANN401  # a row of the table, or of a query of it
    """Return the mark of a row."""
    return MarkRevision(
        study_id=row.study_id,
        answer=AnswerId(case_id=row.case_id, text_sha256=row.text_sha256),
        role=MarkerRole(row.place),
        revision=row.revision,
        mark=None if row.mark is None else AnswerMark(row.mark),
        marked_by=row.marked_by,
        marked_at=row.marked_at,
    )
