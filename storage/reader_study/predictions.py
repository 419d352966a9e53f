"""Storage of models and their predictions, which are append-only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlmodel import Session

from domain.questions import Answer
from domain.readings import Prediction
from records.values import (
    answer_from_json,
    boxes_from_json,
    boxes_to_plain,
    to_json,
    to_json_lines,
    to_plain,
)
from storage.intake.bulk import insert_rows
from storage.rows.datasets import DatasetRow
from storage.rows.studies import ModelRow, PredictionRow, PredictionRunRow
from storage.types import AnyRow

#: The columns of a prediction. Rows of the ORM would take several times the time and memory.
_COLUMNS = (
    PredictionRow.model_id, PredictionRow.question_id, PredictionRow.answer, PredictionRow.raw,
    PredictionRow.rule, PredictionRow.explanation, PredictionRow.boxes, PredictionRow.seconds,
    PredictionRow.probability,
)  # fmt: skip
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


def list_model_names(db: Session, *, dataset_id: int) -> dict[int, str]:
    """Return the names of the dataset's models by id."""
    rows = db.execute(select(ModelRow.id, ModelRow.name).where(ModelRow.dataset_id == dataset_id))
    return {row.id: row.name for row in rows}


def list_models(db: Session, *, dataset_id: int | None = None) -> list[ModelRecord]:
    """Return all models, or those of one dataset, ordered by dataset and name."""
    counts = (
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
            func.coalesce(counts.c.n, 0).label("n"),
            func.coalesce(counts.c.answered, 0).label("answered"),
        )
        .join(DatasetRow, DatasetRow.id == ModelRow.dataset_id)
        .outerjoin(counts, counts.c.model_id == ModelRow.id)
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
    answer_json = {
        answer: to_json(to_plain(answer)) for answer in {prediction.answer for prediction in predictions}
    }
    boxes = to_json_lines(boxes_to_plain(prediction.boxes) for prediction in predictions)
    insert_rows(
        db,
        table="prediction",
        columns=(
            "model_id", "question_id", "run_id", "answer", "raw", "rule", "explanation", "boxes", "seconds",
            "probability",
        ),
        rows=(
            (
                prediction.model_id, prediction.question_row_id, run_id,
                None if prediction.answer is None else answer_json[prediction.answer], prediction.raw,
                prediction.rule, prediction.explanation, boxes_json, prediction.seconds,
                prediction.probability,
            )
            for prediction, boxes_json in zip(predictions, boxes, strict=True)
        ),
    )  # fmt: skip


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
    statement = (
        select(*_COLUMNS).where(PredictionRow.model_id == model_id).order_by(PredictionRow.question_id)
    )
    answers: dict[str, Answer] = {}
    if question_ids is None:
        yield from (_prediction_from_row(row, answers) for row in db.execute(statement))
        return
    sorted_ids = sorted(set(question_ids))
    for start in range(0, len(sorted_ids), _CHUNK):
        chunk_statement = statement.where(PredictionRow.question_id.in_(sorted_ids[start : start + _CHUNK]))
        yield from (_prediction_from_row(row, answers) for row in db.execute(chunk_statement))


def count_predictions(db: Session, *, model_ids: Sequence[int]) -> dict[int, int]:
    """Return {model id: number of its predictions}, without models that have none."""
    rows = db.execute(
        select(PredictionRow.model_id, func.count().label("n"))
        .where(PredictionRow.model_id.in_(model_ids))
        .group_by(PredictionRow.model_id)
    )
    return {row.model_id: row.n for row in rows}


def _prediction_from_row(row: AnyRow, answers: dict[str, Answer]) -> Prediction:
    """Return the prediction. Equal answers share one object, which is kept in ``answers``."""
    answer = None
    if row.answer is not None:
        answer = answers.get(row.answer)
        if answer is None:
            answer = answers.setdefault(row.answer, answer_from_json(row.answer))
    return Prediction(
        model_id=row.model_id,
        question_row_id=row.question_id,
        answer=answer,
        raw=row.raw,
        rule=row.rule,
        explanation=row.explanation,
        boxes=() if row.boxes == "[]" else boxes_from_json(row.boxes),
        seconds=row.seconds,
        probability=row.probability,
    )
