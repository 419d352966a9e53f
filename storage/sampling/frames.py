"""The sampling frame of a draw: the questions that can be drawn. They are counted, or loaded as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, func, select, true, union
from sqlmodel import Session

from domain.batches import DerivedNames
from domain.errors import NotFound
from domain.vocabulary import AnswerFormat, Difficulty
from storage.browsing.bulk_actions import list_rejection_times, select_rejected
from storage.rows.batches import BatchQuestionRow, BatchRow
from storage.rows.datasets import DatasetRow, QuestionRow
from storage.sampling.exclude_copies import exclude_hidden_datasets
from storage.types import AnySelect
from terminology.taxonomy import derive_value, get_column

_BLOCK = 50_000  # rows in memory as Python objects at a time
_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build

#: Tier and further values of a cell; None and "" for missing values.
Cell = tuple[Difficulty | None, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Questions of a dataset with ids in (after, through], as columns of length N.

    ``numbers`` are the ids of the questions, ``hashes`` their stored 64-bit hashes, ``strata`` indices into
    ``cells``. ``sizes`` has the number of questions in each cell.
    """

    numbers: NDArray[np.int64]
    hashes: NDArray[np.int64]
    strata: NDArray[np.int32]
    cells: tuple[Cell, ...]
    sizes: tuple[int, ...]


def load_dataset_sizes(db: Session) -> dict[str, int]:
    """Return the number of questions of each dataset, by name, in the order of creation."""
    counted = select(QuestionRow.dataset_id, func.count().label("n")).group_by(QuestionRow.dataset_id)
    question_counts = counted.subquery()
    statement = (
        select(DatasetRow.name, func.coalesce(question_counts.c.n, 0))
        .outerjoin(question_counts, question_counts.c.dataset_id == DatasetRow.id)
        .where(exclude_hidden_datasets())
        .order_by(DatasetRow.id)
    )
    return {row[0]: row[1] for row in db.execute(statement)}


def list_dataset_names(db: Session) -> list[str]:
    """Return the names of all datasets in alphabetical order."""
    return list(
        db.execute(
            select(DatasetRow.name).where(exclude_hidden_datasets()).order_by(DatasetRow.name)
        ).scalars()
    )


def load_dataset_names(db: Session) -> dict[int, str]:
    """Return the names of all datasets by id."""
    statement = select(DatasetRow.id, DatasetRow.name).where(exclude_hidden_datasets())
    return {row[0]: row[1] for row in db.execute(statement)}


def load_dataset_row_id(db: Session, *, name: str) -> int:
    """Return the id of the dataset with that name.

    Raises:
        NotFound: there is none; the message lists the existing ones.
    """
    ids_by_name = {dataset_name: dataset_id for dataset_id, dataset_name in load_dataset_names(db).items()}
    if name not in ids_by_name:
        names = ", ".join(sorted(ids_by_name)) or "none yet; import questions first"
        raise NotFound(f"There is no dataset {name!r}. Existing datasets: {names}.")
    return int(ids_by_name[name])


def load_last_question_row_id(db: Session, *, dataset_id: int) -> int:
    """Return the highest id of a question of the dataset; 0 if it has none. New ids are always higher."""
    statement = select(func.max(QuestionRow.id)).where(QuestionRow.dataset_id == dataset_id)
    return db.execute(statement).scalar_one() or 0


def count_frame(
    db: Session,
    *,
    dataset_id: int,
    after: int,
    through: int,
    stratify_by: Sequence[str] = (),
    names: DerivedNames | None = None,
    with_rejected: bool = False,
    excluded: AnySelect | None = None,
) -> dict[Cell, int]:
    """Count the questions of the frame by cell.

    ``stratify_by`` may contain "task", "category", "generator", "prompt_version", and derived features,
    whose values by raw name are in ``names``. Questions that bulk actions reject are counted only with
    ``with_rejected``. ``excluded`` is a query for the ids of further questions that are not counted.
    """
    columns = _stratum_columns_of(stratify_by)
    statement = _filter_frame(
        select(*columns, func.count()), dataset_id=dataset_id, after=after, through=through
    ).group_by(*columns)
    if excluded is not None:
        statement = statement.where(QuestionRow.id.not_in(excluded))
    if not with_rejected:
        statement = _exclude_rejected(db, statement, dataset_id=dataset_id)
    counts = Counter[Cell]()
    for row in db.execute(statement):
        counts[_cell_from_values(row[:-1], stratify_by, names or {})] += row[-1]
    return dict(counts)


def load_exam_sizes(
    db: Session,
    *,
    dataset_id: int,
    question_ids: Iterable[int] | None = None,
    formats: Sequence[AnswerFormat] = (),
) -> tuple[int, int]:
    """Return the number of questions of the frame, and the number of their exams.

    ``question_ids`` limits the frame to these questions; None means all questions of the dataset.
    ``formats`` limits it to these answer formats; empty means all.
    """
    frame = [QuestionRow.dataset_id == dataset_id, *_match_formats(formats)]
    if question_ids is None:
        statement = select(func.count(), func.count(QuestionRow.exam_id.distinct())).where(*frame)
        row = db.execute(_exclude_rejected(db, statement, dataset_id=dataset_id)).one()
        return row[0], row[1]
    question_count, distinct_exams, sorted_ids = 0, set[int](), sorted(question_ids)
    for start in range(0, len(sorted_ids), _CHUNK):
        chunk = select(QuestionRow.exam_id).where(
            *frame, QuestionRow.id.in_(sorted_ids[start : start + _CHUNK])
        )
        exam_ids = list(db.execute(_exclude_rejected(db, chunk, dataset_id=dataset_id)).scalars())
        question_count += len(exam_ids)
        distinct_exams.update(exam_ids)
    return question_count, len(distinct_exams)


def select_in_batches(*, dataset_id: int, batch_ids: Collection[int]) -> AnySelect:
    """Select the ids of the dataset's questions that are in one of these batches."""
    return (
        select(BatchQuestionRow.question_id)
        .join(BatchRow, BatchRow.id == BatchQuestionRow.batch_id)
        .where(BatchRow.dataset_id == dataset_id, BatchRow.id.in_(batch_ids))
    )


def select_in_other_batches(*, dataset_id: int, batch_id: int | None) -> AnySelect:
    """Select the ids of the dataset's questions that are in a batch other than ``batch_id``."""
    condition = BatchRow.id != batch_id if batch_id is not None else true()
    return (
        select(BatchQuestionRow.question_id)
        .join(BatchRow, BatchRow.id == BatchQuestionRow.batch_id)
        .where(BatchRow.dataset_id == dataset_id, condition)
    )


def list_in_other_batches(db: Session, *, dataset_id: int, batch_id: int | None) -> NDArray[np.int64]:
    """Return the ids that :func:`select_in_other_batches` selects, in no particular order."""
    result = db.connection().execute(select_in_other_batches(dataset_id=dataset_id, batch_id=batch_id))
    return np.fromiter(result.scalars(), dtype=np.int64)


def select_outside_exams(*, dataset_id: int, exam_row_ids: Sequence[int]) -> AnySelect:
    """Select the ids of the dataset's questions on exams other than these."""
    return select(QuestionRow.id.label("question_id")).where(
        QuestionRow.dataset_id == dataset_id, QuestionRow.exam_id.not_in(exam_row_ids)
    )


def list_exams_in_other_batches(db: Session, *, dataset_id: int) -> set[int]:
    """Return the ids of the dataset's exams with a question in any batch."""
    drawn = select_in_other_batches(dataset_id=dataset_id, batch_id=None)
    return set(db.execute(select(QuestionRow.exam_id).where(QuestionRow.id.in_(drawn))).scalars())


def unite_selects(parts: Sequence[AnySelect]) -> AnySelect | None:
    """Select the ids that any of the parts selects; None if there are no parts."""
    if len(parts) < 2:
        return parts[0] if parts else None
    united = union(*parts).subquery()
    return select(united.c.question_id)


def lock_dataset(db: Session, *, dataset_id: int) -> None:
    """Wait for other draws, new studies and corrections of boxes; SQLite has one writer at a time anyway."""
    lock = select(DatasetRow.id).where(DatasetRow.id == dataset_id).with_for_update(key_share=True)
    db.execute(lock)  # imports may add questions meanwhile


def load_frame(
    db: Session,
    *,
    dataset_id: int,
    after: int,
    through: int,
    stratify_by: Sequence[str] = (),
    names: DerivedNames | None = None,
    with_rejected: bool = False,
    excluded: AnySelect | None = None,
    formats: Sequence[AnswerFormat] = (),
) -> Frame:
    """Load the frame's columns in blocks. The result takes 20 bytes per question.

    ``stratify_by`` and ``names`` are as in :func:`count_frame`. Questions that bulk actions reject are part
    of the frame only with ``with_rejected``. ``excluded`` is a query for the ids of further questions that
    are not part of the frame. ``formats`` limits the frame to these answer formats; empty means all.
    """
    columns = _stratum_columns_of(stratify_by)
    statement = _filter_frame(
        select(QuestionRow.id, QuestionRow.draw_hash, *columns),
        dataset_id=dataset_id,
        after=after,
        through=through,
    ).where(*_match_formats(formats))
    if excluded is not None:
        statement = statement.where(QuestionRow.id.not_in(excluded))
    if not with_rejected:
        statement = _exclude_rejected(db, statement, dataset_id=dataset_id)
    codes: dict[tuple[str, ...], int] = {}
    numbers, hashes, strata = [_empty(np.int64)], [_empty(np.int64)], [_empty(np.int32)]
    # Executed on the connection: with this many rows the session's bookkeeping takes longer than the query.
    result = db.connection().execute(statement, execution_options={"yield_per": _BLOCK})
    for block in result.partitions():
        number_column, hash_column, *value_columns = zip(*block, strict=True)
        cell_values = list(zip(*value_columns, strict=True))
        next_code = count(len(codes))
        codes |= {value: next(next_code) for value in sorted(set(cell_values) - codes.keys())}
        numbers.append(np.array(number_column, dtype=np.int64))
        hashes.append(np.array(hash_column, dtype=np.int64))
        strata.append(
            np.fromiter(map(codes.__getitem__, cell_values), dtype=np.int32, count=len(cell_values))
        )
    all_strata = np.concatenate(strata)
    cells = [_cell_from_values(values, stratify_by, names or {}) for values in codes]
    distinct_cells = {cell: index for index, cell in enumerate(dict.fromkeys(cells))}
    if len(distinct_cells) < len(cells):  # several raw names have the same controlled name
        cell_indices = np.array([distinct_cells[cell] for cell in cells], dtype=np.int32)
        all_strata = cell_indices[all_strata]
    return Frame(
        numbers=np.concatenate(numbers),
        hashes=np.concatenate(hashes),
        strata=all_strata,
        cells=tuple(distinct_cells),
        sizes=tuple(np.bincount(all_strata, minlength=len(distinct_cells)).tolist()),
    )


def load_question_key(db: Session, *, question_id: int) -> str:
    """Return the id in the imported file of the question with the database id ``question_id``."""
    return str(db.execute(select(QuestionRow.key).where(QuestionRow.id == question_id)).scalar_one())


def map_questions_to_exams(db: Session, *, question_ids: Sequence[int]) -> dict[int, int]:
    """Return {question id: exam id}."""
    exams: dict[int, int] = {}
    for start in range(0, len(question_ids), _CHUNK):
        statement = select(QuestionRow.id, QuestionRow.exam_id).where(
            QuestionRow.id.in_(question_ids[start : start + _CHUNK])
        )
        exams.update((row[0], row[1]) for row in db.execute(statement))
    return exams


def _stratum_columns_of(stratify_by: Sequence[str]) -> list[ColumnElement[str]]:
    allowed = {
        "task": QuestionRow.task,
        "category": QuestionRow.category,
        "generator": QuestionRow.generator,
        "prompt_version": QuestionRow.prompt_version,
    }
    return [
        func.coalesce(column, "")
        for column in (QuestionRow.difficulty, *(allowed[get_column(name)] for name in stratify_by))
    ]


def _match_formats(formats: Sequence[AnswerFormat]) -> list[ColumnElement[bool]]:
    return [QuestionRow.format.in_([format_.value for format_ in formats])] if formats else []


def _filter_frame(statement: AnySelect, *, dataset_id: int, after: int, through: int) -> AnySelect:
    return statement.where(
        QuestionRow.dataset_id == dataset_id, QuestionRow.id > after, QuestionRow.id <= through
    )


def _exclude_rejected(db: Session, statement: AnySelect, *, dataset_id: int) -> AnySelect:
    if not list_rejection_times(db, dataset_id=dataset_id):
        return statement
    rejected = select_rejected(dataset_id=dataset_id)
    return statement.where(QuestionRow.id.not_in(rejected))


def _cell_from_values(values: Sequence[str], stratify_by: Sequence[str], names: DerivedNames) -> Cell:
    tier, *other_values = values
    further = (
        derive_value(feature, value, names) for feature, value in zip(stratify_by, other_values, strict=True)
    )
    return (Difficulty(tier) if tier else None, tuple(further))


def _empty(dtype: type[np.generic]) -> NDArray[Any]:
    return np.empty(0, dtype=dtype)
