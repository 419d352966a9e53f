"""Storage of models and their predictions, which are append-only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, insert, select
from sqlmodel import Session

from domain.readings import Prediction
from records.values import answer_from_json, boxes_from_json, boxes_to_plain, to_json, to_plain
from storage.rows.datasets import DatasetRow
from storage.rows.studies import ModelRow, PredictionRow, PredictionRunRow

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    """A model with its number of predictions. ``failed`` counts predictions without an extractable answer."""

    id: int
    dataset: str
    name: str
    simulated: bool
    predictions: int
    failed: int


def get_or_add_model(
    db: Session, *, dataset_id: int, name: str, simulated: bool = False, now: datetime
) -> int:
    """Return the id of the dataset's model with that name. If there is none, it is added."""
    model_id = db.execute(
        select(ModelRow.id).where(ModelRow.dataset_id == dataset_id, ModelRow.name == name)
    ).scalar_one_or_none()
    if model_id is not None:
        return int(model_id)
    row = ModelRow(dataset_id=dataset_id, name=name, simulated=simulated, created_at=now)
    db.add(row)
    db.flush()
    return row.id or 0


def list_models(db: Session, *, dataset_id: int | None = None) -> list[ModelRecord]:
    """Return all models, or those of one dataset, ordered by dataset and name."""
    counted = (
        select(
            PredictionRow.model_id,
            func.count().label("n"),
            func.count(PredictionRow.answer).label("answered"),
        )
        .group_by(PredictionRow.model_id)
        .subquery()
    )
    statement = (
        select(
            ModelRow.id,
            DatasetRow.name.label("dataset"),
            ModelRow.name,
            ModelRow.simulated,
            func.coalesce(counted.c.n, 0).label("n"),
            func.coalesce(counted.c.answered, 0).label("answered"),
        )
        .join(DatasetRow, DatasetRow.id == ModelRow.dataset_id)
        .outerjoin(counted, counted.c.model_id == ModelRow.id)
    )
    if dataset_id is not None:
        statement = statement.where(ModelRow.dataset_id == dataset_id)
    models = [
        ModelRecord(
            id=row.id,
            dataset=row.dataset,
            name=row.name,
            simulated=row.simulated,
            predictions=row.n,
            failed=row.n - row.answered,
        )
        for row in db.execute(statement)
    ]
    return sorted(models, key=lambda model: (model.dataset, model.name))


def add_run(
    db: Session,
    *,
    model_id: int,
    file_name: str,
    file_sha256: str,
    predictions: int,
    failed: int,
    refused: int,
    by: int | None,
    now: datetime,
) -> int:
    """Record the import of a file of predictions and return the id of the record."""
    row = PredictionRunRow(
        model_id=model_id,
        file_name=file_name,
        file_sha256=file_sha256,
        predictions=predictions,
        failed=failed,
        refused=refused,
        imported_by=by,
        imported_at=now,
    )
    db.add(row)
    db.flush()
    return row.id or 0


def add_predictions(db: Session, *, run_id: int, predictions: Sequence[Prediction]) -> None:
    """Append predictions. The model must not have predictions on these questions yet."""
    values = [
        {
            "model_id": prediction.model_id,
            "question_id": prediction.question_number,
            "run_id": run_id,
            "answer": None if prediction.answer is None else to_json(to_plain(prediction.answer)),
            "raw": prediction.raw,
            "rule": prediction.rule,
            "explanation": prediction.explanation,
            "boxes": to_json(boxes_to_plain(prediction.boxes)),
            "seconds": prediction.seconds,
        }
        for prediction in predictions
    ]
    if values:
        db.execute(insert(PredictionRow), values)


def load_predicted_questions(db: Session, *, model_id: int) -> frozenset[int]:
    """Return the ids of the questions with a prediction of the model."""
    return frozenset(
        db.execute(select(PredictionRow.question_id).where(PredictionRow.model_id == model_id)).scalars()
    )


def count_predicted_questions(db: Session, *, dataset_id: int, question_ids: Sequence[int]) -> dict[int, int]:
    """Return {model id: number of these questions on which the model has predictions}."""
    counts: Counter[int] = Counter()
    sorted_ids = sorted(set(question_ids))
    for start in range(0, len(sorted_ids), _CHUNK):
        statement = (
            select(PredictionRow.model_id, func.count().label("n"))
            .join(ModelRow, ModelRow.id == PredictionRow.model_id)
            .where(
                ModelRow.dataset_id == dataset_id,
                PredictionRow.question_id.in_(sorted_ids[start : start + _CHUNK]),
            )
            .group_by(PredictionRow.model_id)
        )
        counts.update({row.model_id: row.n for row in db.execute(statement)})
    return dict(counts)


def iterate_predictions(
    db: Session, *, model_id: int, question_ids: Sequence[int] | None = None
) -> Iterator[Prediction]:
    """Yield the model's predictions on those questions, or all its predictions, ordered by question id."""
    statement = select(PredictionRow).where(PredictionRow.model_id == model_id)
    statement = statement.order_by(PredictionRow.question_id)
    if question_ids is None:
        yield from (_prediction_from_row(row) for row in db.execute(statement).scalars())
        return
    sorted_ids = sorted(set(question_ids))
    for start in range(0, len(sorted_ids), _CHUNK):
        chunk_statement = statement.where(PredictionRow.question_id.in_(sorted_ids[start : start + _CHUNK]))
        yield from (_prediction_from_row(row) for row in db.execute(chunk_statement).scalars())


def _prediction_from_row(row: PredictionRow) -> Prediction:
    return Prediction(
        model_id=row.model_id,
        question_number=row.question_id,
        answer=None if row.answer is None else answer_from_json(row.answer),
        raw=row.raw,
        rule=row.rule,
        explanation=row.explanation,
        boxes=boxes_from_json(row.boxes),
        seconds=row.seconds,
    )
