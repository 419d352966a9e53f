"""Datasets to draw from, inserted row by row: only the columns that a draw reads have realistic values."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Engine, func, insert, select

from domain.draw_hash import compute_draw_hash
from storage.rows.datasets import DatasetRow, ExamRow, ImportRow, QuestionRow
from storage.unit_of_work import unit_of_work

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

#: Key, tier, task and category of a question.
QuestionValues = tuple[str, str | None, str | None, str | None]


def make_questions(
    count: int, *, first: int = 0, tiers: Sequence[str | None] = ("easy", "medium", "hard")
) -> list[QuestionValues]:
    """Questions q0, q1, …, which cycle through the tiers and five tasks, in two categories."""
    tasks = ("presence", "location", "negation", "differential", "geometric")
    return [
        (f"q{i}", tiers[i % len(tiers)], tasks[i % 5], ("lung", "heart")[i % 7 == 0])
        for i in range(first, first + count)
    ]


def insert_questions(
    engine: Engine, questions: Sequence[QuestionValues], *, dataset: str = "demo", per_exam: int = 3
) -> None:
    """Append the questions to the dataset in that order; the dataset is created if it does not exist."""
    with unit_of_work(engine) as db:
        row = db.execute(select(DatasetRow).where(DatasetRow.name == dataset)).scalars().first()
        if row is None:
            row = DatasetRow(name=dataset, created_at=NOW)
            db.add(row)
            db.flush()
        import_row = ImportRow(
            dataset_id=row.id,
            file_name="planted",
            file_sha256="0" * 64,
            file_format="native",
            questions=len(questions),
            known=0,
            refused=0,
            imported_at=NOW,
        )
        db.add(import_row)
        db.flush()
        exam = (db.execute(select(func.max(ExamRow.id))).scalar_one() or 0) + 1
        number = (db.execute(select(func.max(QuestionRow.id))).scalar_one() or 0) + 1
        db.execute(
            insert(ExamRow),
            [
                {"id": exam + i, "dataset_id": row.id, "key": f"E{exam + i}"}
                for i in range(-(-len(questions) // per_exam))
            ],
        )
        db.execute(
            insert(QuestionRow),
            [
                {
                    "id": number + i,
                    "dataset_id": row.id,
                    "key": key,
                    "exam_id": exam + i // per_exam,
                    "import_id": import_row.id,
                    "format": "closed",
                    "stem": f"Is there an effusion in {key}?",
                    "answer": '"yes"',
                    "difficulty": tier,
                    "task": task,
                    "category": category,
                    "draw_hash": compute_draw_hash(key),
                    "record_hash": key.encode().ljust(16, b"."),
                }
                for i, (key, tier, task, category) in enumerate(questions)
            ],
        )
