"""Storage of external scores, which are append-only. The newest column of a name applies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import func, select
from sqlmodel import Session

from domain.evaluations import ScoreColumnVersion
from storage.rows.evaluations import EvaluationRow, ScoreColumnRow


def add_column(
    db: Session,
    *,
    evaluation_id: int,
    name: str,
    version: str,
    scores: Mapping[int, float],
    by: int | None,
    now: datetime,
) -> None:
    """Store a column; ``scores`` are by the question's id in the database."""
    next_revision = func.coalesce(func.max(ScoreColumnRow.revision), 0) + 1
    is_same_column = (ScoreColumnRow.evaluation_id == evaluation_id, ScoreColumnRow.name == name)
    db.add(
        ScoreColumnRow(
            evaluation_id=evaluation_id,
            name=name,
            revision=db.execute(select(next_revision).where(*is_same_column)).scalar_one(),
            version=version,
            scores=json.dumps(sorted(scores.items())),
            imported_by=by,
            imported_at=now,
        )
    )
    db.flush()


def list_columns(db: Session, *, release_id: int, split: str) -> dict[int, list[ScoreColumnVersion]]:
    """Return the newest column of each name by the id of the evaluation, ordered by name."""
    statement = (
        select(ScoreColumnRow.id, ScoreColumnRow.evaluation_id, ScoreColumnRow.name, ScoreColumnRow.version)
        .join(EvaluationRow, EvaluationRow.id == ScoreColumnRow.evaluation_id)
        .where(EvaluationRow.release_id == release_id, EvaluationRow.split == split)
        .order_by(ScoreColumnRow.name, ScoreColumnRow.revision)
    )
    newest: dict[int, dict[str, ScoreColumnVersion]] = {}
    for row in db.execute(statement):
        column = ScoreColumnVersion(id=row.id, name=row.name, version=row.version)
        newest.setdefault(row.evaluation_id, {})[row.name] = column
    return {evaluation_id: list(columns.values()) for evaluation_id, columns in newest.items()}


def load_scores(db: Session, *, column_id: int) -> dict[int, float]:
    """Return the scores of a column by the question's id in the database."""
    text = db.execute(select(ScoreColumnRow.scores).where(ScoreColumnRow.id == column_id)).scalar_one()
    return dict(json.loads(text))
