"""Storage of datasets and the files that were imported into them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, update
from sqlmodel import Session

from domain.errors import NotFound
from domain.expectations import COMPLETE, Expectations
from records.values import from_json, to_json
from storage.rows.datasets import DatasetRow, ExamRow, ImportRow, ProblemRow, QuestionRow, RadiographRow
from storage.sampling.exclude_copies import exclude_hidden_datasets
from storage.types import AnySelect


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSummary:
    """A dataset with its counts. ``images`` counts distinct files, ``problems`` the reported problems."""

    id: int
    name: str
    minimum_explanation: int
    created_at: datetime
    questions: int
    exams: int
    images: int
    problems: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFile:
    """An imported file: the time of import, and how many records were new, known and refused."""

    file_name: str
    file_sha256: str
    file_format: str
    questions: int
    known: int
    refused: int
    imported_at: datetime


def find_dataset_id(db: Session, *, name: str) -> int | None:
    """Return the id of the dataset with that name; None if there is none."""
    return db.execute(select(DatasetRow.id).where(DatasetRow.name == name)).scalar_one_or_none()


def add_dataset(db: Session, *, name: str, minimum_explanation: int | None, now: datetime) -> int:
    """Create an empty dataset and return its id. With ``minimum_explanation`` None it has the default."""
    row = DatasetRow(name=name, created_at=now)
    if minimum_explanation is not None:
        row.minimum_explanation = minimum_explanation
    db.add(row)
    db.flush()
    if row.id is None:
        raise ValueError("a flushed row without a number")
    return row.id


def load_minimum_explanation(db: Session, *, dataset_id: int) -> int:
    """Return the minimum length of an explanation for the dataset's format check, in characters."""
    statement = select(DatasetRow.minimum_explanation).where(DatasetRow.id == dataset_id)
    return int(db.execute(statement).scalar_one())


def set_minimum_explanation(db: Session, *, dataset_id: int, characters: int) -> None:
    """Change the minimum length of an explanation.

    Reported problems do not change until the dataset is checked again.
    """
    db.execute(update(DatasetRow).where(DatasetRow.id == dataset_id).values(minimum_explanation=characters))


def count_dataset_questions(db: Session, *, dataset_id: int) -> int:
    """Return how many questions the dataset has."""
    statement = select(func.count()).select_from(QuestionRow).where(QuestionRow.dataset_id == dataset_id)
    return int(db.execute(statement).scalar_one())


def load_dataset(db: Session, *, name: str) -> DatasetSummary:
    """Return the dataset with that name.

    Raises:
        NotFound: there is none; the message lists the existing ones.
    """
    summary = next((dataset for dataset in list_datasets(db) if dataset.name == name), None)
    if summary is None:
        statement = select(DatasetRow.name).where(exclude_hidden_datasets()).order_by(DatasetRow.name)
        names = ", ".join(db.execute(statement).scalars())
        raise NotFound(
            f"There is no dataset {name!r}. "
            f"{f'Existing datasets: {names}.' if names else 'Import one first.'}"
        )
    return summary


def list_datasets(db: Session) -> list[DatasetSummary]:
    """Return all datasets, ordered by name."""
    question_counts = _load_counts(
        db, select(QuestionRow.dataset_id, func.count()).group_by(QuestionRow.dataset_id)
    )
    exam_counts = _load_counts(db, select(ExamRow.dataset_id, func.count()).group_by(ExamRow.dataset_id))
    problem_counts = _load_counts(
        db, select(ProblemRow.dataset_id, func.count()).group_by(ProblemRow.dataset_id)
    )
    image_counts = _load_counts(
        db,
        select(ExamRow.dataset_id, func.count(RadiographRow.image_sha256.distinct()))
        .join(RadiographRow, RadiographRow.exam_id == ExamRow.id)
        .group_by(ExamRow.dataset_id),
    )
    return [
        DatasetSummary(
            id=row.id or 0,
            name=row.name,
            minimum_explanation=row.minimum_explanation,
            created_at=row.created_at,
            questions=question_counts.get(row.id, 0),
            exams=exam_counts.get(row.id, 0),
            images=image_counts.get(row.id, 0),
            problems=problem_counts.get(row.id, 0),
        )
        for row in db.execute(
            select(DatasetRow).where(exclude_hidden_datasets()).order_by(DatasetRow.name)
        ).scalars()
    ]


def add_import(
    db: Session,
    *,
    dataset_id: int,
    file_name: str,
    file_format: str,
    expectations: Expectations = COMPLETE,
    by: int | None,
    now: datetime,
) -> int:
    """Add the row of a file whose import begins, with all counts 0; return its id."""
    row = ImportRow(
        dataset_id=dataset_id, file_name=file_name, file_sha256="", file_format=file_format,
        questions=0, known=0, refused=0, imported_by=by, imported_at=now,
        expectations=_expectations_to_json(expectations),
    )  # fmt: skip
    db.add(row)
    db.flush()
    if row.id is None:
        raise ValueError("a flushed row without a number")
    return row.id


def load_expectations(db: Session, *, dataset_id: int) -> dict[int, Expectations]:
    """Return the expectations of each imported file's format, by the id of the import."""
    statement = select(ImportRow.id, ImportRow.expectations).where(ImportRow.dataset_id == dataset_id)
    return {row.id: _expectations_from_json(row.expectations) for row in db.execute(statement)}


def finish_import(
    db: Session, *, import_id: int, file_sha256: str, questions: int, known: int, refused: int
) -> None:
    """Store the hash of an imported file and the counts of its records, at the end of the import."""
    db.execute(
        update(ImportRow)
        .where(ImportRow.id == import_id)
        .values(file_sha256=file_sha256, questions=questions, known=known, refused=refused)
    )


def load_import_state(db: Session, *, dataset_id: int) -> tuple[int, int]:
    """Return the id of the newest import of a dataset and the number of records of all its imports.

    Each import changes them at its beginning and its end. A cached result that depends on exams is up to date
    only if neither has changed.
    """
    records = ImportRow.questions + ImportRow.known + ImportRow.refused
    statement = select(func.coalesce(func.max(ImportRow.id), 0), func.coalesce(func.sum(records), 0)).where(
        ImportRow.dataset_id == dataset_id
    )
    newest, total = db.execute(statement).one()
    return int(newest), int(total)


def find_dataset_of_last_import(db: Session) -> str | None:
    """Return the name of the dataset of the newest import; None if there is no import."""
    statement = (
        select(DatasetRow.name)
        .join(ImportRow, ImportRow.dataset_id == DatasetRow.id)
        .where(exclude_hidden_datasets())
        .order_by(ImportRow.id.desc())
        .limit(1)
    )
    return db.execute(statement).scalar_one_or_none()


def list_imported_files(db: Session, *, dataset_id: int) -> list[ImportedFile]:
    """Return the imported files of a dataset, the latest first."""
    statement = select(ImportRow).where(ImportRow.dataset_id == dataset_id).order_by(ImportRow.id.desc())
    return [
        ImportedFile(
            file_name=row.file_name,
            file_sha256=row.file_sha256,
            file_format=row.file_format,
            questions=row.questions,
            known=row.known,
            refused=row.refused,
            imported_at=row.imported_at,
        )
        for row in db.execute(statement).scalars()
    ]


def _expectations_to_json(expectations: Expectations) -> str | None:
    if expectations == COMPLETE:
        return None
    return to_json({"fields": sorted(expectations.fields), "option_count": expectations.option_count})


def _expectations_from_json(text: str | None) -> Expectations:
    if text is None:
        return COMPLETE
    plain = from_json(text)
    return Expectations(fields=frozenset(plain["fields"]), option_count=plain["option_count"])


def _load_counts(db: Session, statement: AnySelect) -> dict[int | None, int]:
    return {row[0]: row[1] for row in db.execute(statement)}
