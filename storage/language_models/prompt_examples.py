"""Storage of the in-context examples that people write from exams."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update
from sqlmodel import Session

from storage.rows.datasets import DatasetRow, ExamRow
from storage.rows.language_models import PromptExampleRow
from storage.rows.people import PersonRow
from storage.types import affected_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptExample:
    """An example of the prompt ``name``, with the dataset and the exam that it was written from.

    ``exam`` is the exam's id in its file. ``images`` are the SHA-256 of the radiographs of the example.
    ``written_by`` is the display name of the author; "" for the command line.
    """

    id: int
    name: str
    dataset: str
    exam: str
    variables: Mapping[str, str]
    images: tuple[str, ...]
    reply: str
    written_by: str
    written_at: datetime


def add_example(
    db: Session,
    *,
    name: str,
    exam_id: int,
    variables: Mapping[str, str],
    images: Sequence[str],
    reply: str,
    person_id: int | None,
    now: datetime,
) -> int:
    """Store an example and return its id."""
    row = PromptExampleRow(
        name=name,
        exam_id=exam_id,
        variables=json.dumps(dict(variables), ensure_ascii=False),
        images=json.dumps(list(images)),
        reply=reply,
        written_by=person_id,
        written_at=now,
    )
    db.add(row)
    db.flush()
    return row.id or 0


def list_examples(db: Session, *, name: str) -> list[PromptExample]:
    """Return the examples of a prompt that were not removed, in the order of writing."""
    rows = db.execute(
        select(PromptExampleRow, ExamRow.key, DatasetRow.name, PersonRow.display_name)
        .join(ExamRow, ExamRow.id == PromptExampleRow.exam_id)
        .join(DatasetRow, DatasetRow.id == ExamRow.dataset_id)
        .outerjoin(PersonRow, PersonRow.id == PromptExampleRow.written_by)
        .where(PromptExampleRow.name == name, PromptExampleRow.removed_at.is_(None))
        .order_by(PromptExampleRow.id)
    )
    return [
        PromptExample(
            id=row.id or 0,
            name=row.name,
            dataset=dataset,
            exam=exam,
            variables=json.loads(row.variables),
            images=tuple(json.loads(row.images)),
            reply=row.reply,
            written_by=author or "",
            written_at=row.written_at,
        )
        for row, exam, dataset, author in rows
    ]


def remove_example(db: Session, *, example_id: int, now: datetime) -> bool:
    """Remove an example. Return False if there is none."""
    result = db.execute(
        update(PromptExampleRow)
        .where(PromptExampleRow.id == example_id, PromptExampleRow.removed_at.is_(None))
        .values(removed_at=now)
    )
    return affected_rows(result) == 1
