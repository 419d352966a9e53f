"""Storage of evaluations, their runs and their cases, which are append-only."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, insert, select
from sqlmodel import Session

from domain.errors import NotFound
from domain.evaluations import AnsweredBy, Condition, Evaluation, EvaluationCase, EvaluationRun, ImageSize
from domain.language_models import is_test_model
from storage.rows.datasets import DatasetRow
from storage.rows.evaluations import EvaluationCaseRow, EvaluationRow, EvaluationRunRow
from storage.rows.language_models import ModelRunRow, PromptVersionRow
from storage.rows.releases import ReleaseRow
from storage.rows.studies import PredictionRunRow
from storage.types import AnyRow, AnySelect

_CHUNK = 500
#: The columns of a case. Selecting columns is several times faster than loading ORM objects.
_CASE_COLUMNS = (
    EvaluationCaseRow.question_id, EvaluationCaseRow.permutation, EvaluationCaseRow.other_exam_id,
    EvaluationCaseRow.stem,
)  # fmt: skip


def add_evaluation(
    db: Session,
    *,
    name: str,
    release_id: int,
    split: str,
    answered_by: AnsweredBy,
    model: str,
    is_test_model: bool,
    prompt_id: int | None,
    image_size: ImageSize,
    seed: int,
    by: int | None,
    now: datetime,
) -> int:
    """Store an evaluation without runs and return its id."""
    row = EvaluationRow(
        name=name,
        release_id=release_id,
        split=split,
        answered_by=answered_by.value,
        model=model,
        is_test_model=is_test_model,
        prompt_id=prompt_id,
        image_size=image_size.value,
        seed=seed,
        created_by=by,
        created_at=now,
    )
    db.add(row)
    db.flush()
    return row.id or 0


def add_run(
    db: Session,
    *,
    evaluation_id: int,
    condition: Condition,
    model_id: int,
    model_run_id: int | None,
    cases: Sequence[EvaluationCase],
    excluded: dict[str, int],
) -> int:
    """Store a run with its cases and return its id."""
    row = EvaluationRunRow(
        evaluation_id=evaluation_id,
        condition=condition.value,
        model_id=model_id,
        model_run_id=model_run_id,
        cases=len(cases),
        excluded=json.dumps(excluded, sort_keys=True),
    )
    db.add(row)
    db.flush()
    run_id = row.id or 0
    if cases:
        db.execute(insert(EvaluationCaseRow), [_case_values(run_id, case) for case in cases])
    return run_id


def find_evaluation(db: Session, *, name: str) -> Evaluation | None:
    """Return the evaluation of that name; None if there is none."""
    row = db.execute(_select_evaluations().where(EvaluationRow.name == name)).one_or_none()
    return None if row is None else _evaluation_from_row(row)


def load_evaluation(db: Session, *, name: str) -> Evaluation:
    """Return the evaluation of that name.

    Raises:
        NotFound: there is none.
    """
    evaluation = find_evaluation(db, name=name)
    if evaluation is None:
        raise NotFound(f"There is no evaluation {name!r}. `cli.py evaluate list` shows all.")
    return evaluation


def list_evaluations(db: Session) -> list[Evaluation]:
    """Return all evaluations, the newest first."""
    return [
        _evaluation_from_row(row)
        for row in db.execute(_select_evaluations().order_by(EvaluationRow.id.desc()))
    ]


def list_runs(db: Session, *, evaluation_id: int) -> list[EvaluationRun]:
    """Return the runs of an evaluation in the order of the conditions."""
    statement = _select_runs().where(EvaluationRunRow.evaluation_id == evaluation_id)
    order = list(Condition)
    return sorted(
        (_run_from_row(row) for row in db.execute(statement)), key=lambda run: order.index(run.condition)
    )


def load_runs_by_evaluation(db: Session, *, condition: Condition) -> dict[int, EvaluationRun]:
    """Return the run of each evaluation in that condition, by the id of the evaluation."""
    statement = _select_runs().where(EvaluationRunRow.condition == condition.value)
    return {row.evaluation_id: _run_from_row(row) for row in db.execute(statement)}


def lock_run(db: Session, *, run_id: int) -> None:
    """Lock a run until the end of the transaction, so that two processes do not store the same answers."""
    db.execute(select(EvaluationRunRow.id).where(EvaluationRunRow.id == run_id).with_for_update())


def load_cases(
    db: Session, *, run_id: int, question_ids: Sequence[int] | None = None
) -> dict[int, EvaluationCase]:
    """Return the cases of a run by question id: all, or only those of ``question_ids``."""
    statement = select(*_CASE_COLUMNS).where(EvaluationCaseRow.run_id == run_id)
    if question_ids is None:
        rows = db.execute(statement.order_by(EvaluationCaseRow.question_id)).all()
    else:
        sorted_ids = sorted(set(question_ids))
        rows = [
            row
            for start in range(0, len(sorted_ids), _CHUNK)
            for row in db.execute(
                statement.where(EvaluationCaseRow.question_id.in_(sorted_ids[start : start + _CHUNK]))
            )
        ]
    return {row.question_id: _case_from_row(row) for row in rows}


def _case_values(run_id: int, case: EvaluationCase) -> dict[str, object]:
    return {
        "run_id": run_id,
        "question_id": case.question_row_id,
        "permutation": None if case.permutation is None else json.dumps(case.permutation),
        "other_exam_id": case.other_exam,
        "stem": case.stem,
    }


def _case_from_row(row: AnyRow) -> EvaluationCase:
    question_id, permutation, other_exam_id, stem = row  # faster than attributes; a run has 41,007 cases
    return EvaluationCase(
        question_row_id=question_id,
        permutation=None if permutation is None else tuple(json.loads(permutation)),
        other_exam=other_exam_id,
        stem=stem,
    )


def _run_from_row(row: AnyRow) -> EvaluationRun:
    return EvaluationRun(
        id=row.id,
        evaluation_id=row.evaluation_id,
        condition=Condition(row.condition),
        model_id=row.model_id,
        model_run=row.model_run,
        cases=row.cases,
        excluded=json.loads(row.excluded),
        predictions=row.predictions,
    )


def _select_runs() -> AnySelect:
    # Imports of predictions state how many they stored; counting the predictions would read all of them.
    prediction_count = (
        select(func.coalesce(func.sum(PredictionRunRow.predictions), 0))
        .where(PredictionRunRow.model_id == EvaluationRunRow.model_id)
        .scalar_subquery()
    )
    return select(
        EvaluationRunRow.id,
        EvaluationRunRow.evaluation_id,
        EvaluationRunRow.condition,
        EvaluationRunRow.model_id,
        ModelRunRow.name.label("model_run"),
        EvaluationRunRow.cases,
        EvaluationRunRow.excluded,
        prediction_count.label("predictions"),
    ).outerjoin(ModelRunRow, ModelRunRow.id == EvaluationRunRow.model_run_id)


def _select_evaluations() -> AnySelect:
    return (
        select(
            EvaluationRow.id,
            EvaluationRow.name,
            DatasetRow.name.label("dataset"),
            ReleaseRow.name.label("release"),
            EvaluationRow.release_id,
            EvaluationRow.split,
            EvaluationRow.answered_by,
            EvaluationRow.model,
            EvaluationRow.is_test_model,
            PromptVersionRow.name.label("prompt"),
            PromptVersionRow.version.label("prompt_version"),
            EvaluationRow.image_size,
            EvaluationRow.seed,
            EvaluationRow.created_at,
        )
        .join(ReleaseRow, ReleaseRow.id == EvaluationRow.release_id)
        .join(DatasetRow, DatasetRow.id == ReleaseRow.dataset_id)
        .outerjoin(PromptVersionRow, PromptVersionRow.id == EvaluationRow.prompt_id)
    )


def _evaluation_from_row(row: AnyRow) -> Evaluation:
    return Evaluation(
        id=row.id,
        name=row.name,
        dataset=row.dataset,
        release=row.release,
        release_id=row.release_id,
        split=row.split,
        answered_by=AnsweredBy(row.answered_by),
        model=row.model,
        is_test_model=row.is_test_model or is_test_model(row.model),  # old rows do not state it
        prompt=f"{row.prompt}@{row.prompt_version}" if row.prompt else None,
        image_size=ImageSize(row.image_size),
        seed=row.seed,
        created_at=row.created_at,
    )
