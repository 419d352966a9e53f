"""Storage of the cases of reader studies and of each reader's slots."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, insert, select
from sqlmodel import Session, SQLModel

from domain.errors import NotFound
from domain.studies import BlindCase, Case, CaseKind, Slot
from domain.vocabulary import AnswerFormat
from records.questions import QUESTION_COLUMNS, question_from_columns, question_to_columns
from records.values import from_json, to_json
from storage.rows.datasets import ExamRow, QuestionRow
from storage.rows.studies import CaseKeyRow, CaseRow, ReadingRow, SlotRow

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


def add_cases(db: Session, *, study_id: int, cases: Sequence[Case]) -> None:
    """Add the cases of a new study. Their ids are assigned here."""
    for case in cases:
        blind_case, question = case.blind_case, case.question
        columns = question_to_columns(question) | {"key": blind_case.question_id}
        row = CaseRow(
            **_select_columns(CaseRow, columns),
            study_id=study_id,
            number=blind_case.number,
            kind=blind_case.kind.value,
            question_id=blind_case.question_row_id,
            exam_id=blind_case.exam_row_id,
            asks_box=blind_case.asks_box,
            sha256=blind_case.sha256,
        )
        db.add(row)
        db.flush()
        db.add(
            CaseKeyRow(
                **_select_columns(CaseKeyRow, columns),
                case_id=row.id or 0,
                stratum=case.stratum,
                inclusion_probability=case.inclusion_probability,
            )
        )
    db.flush()


def load_blind_case(db: Session, *, case_id: int) -> BlindCase:
    """Return the part of a case that readers see. The answer key is not loaded.

    Raises:
        NotFound: no case has that id.
    """
    row = db.get(CaseRow, case_id)
    if row is None:
        raise NotFound(f"There is no case number {case_id}.")
    return _blind_case_from_row(row)


def list_blind_cases(db: Session, *, study_id: int) -> tuple[BlindCase, ...]:
    """Return every case of the study without its answer key, ordered by number."""
    rows = db.execute(select(CaseRow).where(CaseRow.study_id == study_id).order_by(CaseRow.number)).scalars()
    return tuple(_blind_case_from_row(row) for row in rows)


def load_case(db: Session, *, case_id: int) -> Case:
    """Return the case with its answer key, for the analysis and for feedback on an answered training case.

    Raises:
        NotFound: no case has that id.
    """
    for case in _load_cases(db, CaseRow.id == case_id):
        return case
    raise NotFound(f"There is no case number {case_id}.")


def list_cases(db: Session, *, study_id: int) -> tuple[Case, ...]:
    """Return every case of the study with its answer key, including training cases, ordered by number."""
    return _load_cases(db, CaseRow.study_id == study_id)


def load_question_row_ids(db: Session, *, dataset_id: int, keys: Sequence[str]) -> dict[str, int]:
    """Return the database ids of the dataset's questions, by their ids in the imported file (``keys``).

    Raises:
        NotFound: the dataset has no question with one of these ids.
    """
    numbers: dict[str, int] = {}
    for start in range(0, len(keys), _CHUNK):
        rows = db.execute(
            select(QuestionRow.key, QuestionRow.id).where(
                QuestionRow.dataset_id == dataset_id,
                QuestionRow.key.in_(keys[start : start + _CHUNK]),
            )
        )
        numbers.update((row.key, row.id) for row in rows)
    missing = [key for key in keys if key not in numbers]
    if missing:
        raise NotFound(
            f"The dataset has no question {missing[0]!r}. Choose the dataset that contains the question, or "
            "import the question first."
        )
    return numbers


def count_cases(db: Session, *, study_id: int) -> dict[CaseKind, int]:
    """Return the number of the study's cases by kind."""
    rows = db.execute(
        select(CaseRow.kind, func.count()).where(CaseRow.study_id == study_id).group_by(CaseRow.kind)
    )
    counts = {CaseKind(kind): count for kind, count in rows}
    return {kind: counts.get(kind, 0) for kind in CaseKind}


def replace_slots(db: Session, *, study_id: int, slots: Sequence[Slot]) -> None:
    """Replace the slots of all readers of the study.

    The database refuses this after the study's first reading.
    """
    db.execute(delete(SlotRow).where(SlotRow.study_id == study_id))
    values = [
        {
            "reader_id": slot.reader_id,
            "position": slot.position,
            "study_id": study_id,
            "case_id": slot.case_id,
            "arm": slot.arm,
            "repeat": slot.repeat,
            "period": slot.period,
            "option_order": to_json(list(slot.option_order)),
        }
        for slot in slots
    ]
    if values:
        db.execute(insert(SlotRow), values)
    db.flush()


def hash_patient_data(db: Session, *, study_id: int) -> str:
    """Return a hash of patient, age and sex of a study's cases, which a later import may complete."""
    digest = hashlib.sha256()
    rows = db.execute(
        select(CaseRow.number, ExamRow.patient, ExamRow.age, ExamRow.sex)
        .join(ExamRow, ExamRow.id == CaseRow.exam_id)
        .where(CaseRow.study_id == study_id)
        .order_by(CaseRow.number)
    )
    for row in rows:
        digest.update(f"{tuple(row)!r}\n".encode())
    return digest.hexdigest()


def list_slots(db: Session, *, study_id: int | None = None, reader_id: int | None = None) -> tuple[Slot, ...]:
    """Return the slots of one reader, or of all readers of a study, by reader and position."""
    condition = SlotRow.reader_id == reader_id if reader_id is not None else SlotRow.study_id == study_id
    rows = db.execute(
        select(SlotRow).where(condition).order_by(SlotRow.reader_id, SlotRow.position)
    ).scalars()
    return tuple(_slot_from_row(row) for row in rows)


def find_slot(db: Session, *, reader_id: int, position: int) -> Slot | None:
    """Return the reader's slot at that position."""
    row = db.get(SlotRow, (reader_id, position))
    return None if row is None else _slot_from_row(row)


def list_open_slots(db: Session, *, reader_id: int, limit: int = 1) -> tuple[Slot, ...]:
    """Return the reader's first slots without a reading; at most ``limit`` slots."""
    has_reading = (
        select(ReadingRow.reader_id)
        .where(
            ReadingRow.reader_id == SlotRow.reader_id,
            ReadingRow.case_id == SlotRow.case_id,
            ReadingRow.arm == SlotRow.arm,
            ReadingRow.repeat == SlotRow.repeat,
        )
        .exists()
    )
    rows = db.execute(
        select(SlotRow)
        .where(SlotRow.reader_id == reader_id, ~has_reading)
        .order_by(SlotRow.position)
        .limit(limit)
    ).scalars()
    return tuple(_slot_from_row(row) for row in rows)


def _load_cases(db: Session, condition: Any) -> tuple[Case, ...]:  # noqa: ANN401  # a clause
    rows = db.execute(
        select(CaseRow, CaseKeyRow, ExamRow.key.label("exam_key"), ExamRow.patient)
        .join(CaseKeyRow, CaseKeyRow.case_id == CaseRow.id)
        .join(ExamRow, ExamRow.id == CaseRow.exam_id)
        .where(condition)
        .order_by(CaseRow.number)
    )
    return tuple(_case_from_rows(row[0], row[1], row.exam_key, row.patient) for row in rows)


def _case_from_rows(row: CaseRow, key: CaseKeyRow, exam_key: str, patient: str | None) -> Case:
    columns = {**key.model_dump(), **row.model_dump()}
    return Case(
        blind_case=_blind_case_from_row(row),
        question=question_from_columns(exam_key, [columns.get(name) for name in QUESTION_COLUMNS]),
        stratum=key.stratum,
        inclusion_probability=key.inclusion_probability,
        patient=patient,
    )


def _select_columns(table: type[SQLModel], columns: dict[str, Any]) -> dict[str, Any]:
    """Return those of a question's columns that the table has."""
    return {name: value for name, value in columns.items() if name in table.model_fields}


def _blind_case_from_row(row: CaseRow) -> BlindCase:
    return BlindCase(
        id=row.id or 0,
        study_id=row.study_id,
        number=row.number,
        kind=CaseKind(row.kind),
        question_row_id=row.question_id,
        exam_row_id=row.exam_id,
        question_id=row.key,
        format=AnswerFormat(row.format),
        stem=row.stem,
        options=tuple(from_json(row.options)),
        asks_box=row.asks_box,
        sha256=row.sha256,
    )


def _slot_from_row(row: SlotRow) -> Slot:
    return Slot(
        reader_id=row.reader_id,
        position=row.position,
        case_id=row.case_id,
        arm=row.arm,
        repeat=row.repeat,
        period=row.period,
        option_order=tuple(from_json(row.option_order)),
    )
