"""Storage of runs: their settings, status and totals."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Select, select, update
from sqlmodel import Session

from domain.errors import NotFound
from domain.language_models import Budget, Call, Endpoint, ModelRun, RunStatus
from storage.language_models.endpoints import endpoint_from_row
from storage.rows.datasets import DatasetRow
from storage.rows.language_models import ModelEndpointRow, ModelRunRow, PromptVersionRow


def add_run(
    db: Session,
    *,
    name: str,
    stage: str,
    endpoint: Endpoint,
    dataset_id: int | None,
    prompt_id: int | None,
    budget: Budget,
    person_id: int | None,
    now: datetime,
) -> int:
    """Store a new run without requests and return its id."""
    row = ModelRunRow(
        name=name,
        stage=stage,
        endpoint_id=endpoint.id,
        dataset_id=dataset_id,
        prompt_id=prompt_id,
        max_calls=budget.max_calls,
        max_tokens=budget.max_tokens,
        max_cost_nanos=budget.max_cost_nanos,
        status=RunStatus.OPEN.value,
        requests=0,
        requests_sha256="",
        person_id=person_id,
        created_at=now,
    )
    db.add(row)
    db.flush()
    return row.id or 0


def set_requests(db: Session, *, run_id: int, requests: int, sha256: str) -> None:
    """Store the number of a run's requests and their hash."""
    db.execute(
        update(ModelRunRow).where(ModelRunRow.id == run_id).values(requests=requests, requests_sha256=sha256)
    )


def find_run(db: Session, *, name: str) -> ModelRun | None:
    row = db.execute(_select_runs().where(ModelRunRow.name == name)).first()
    return _run_from_row(*row) if row is not None else None


def load_run(db: Session, *, run_id: int, lock: bool = False) -> ModelRun:
    """Return a run.

    Args:
        db: a session; one that can write if ``lock`` is given.
        run_id: its id.
        lock: whether to lock the run until the end of the transaction.

    Raises:
        NotFound: there is no such run.
    """
    statement = _select_runs().where(ModelRunRow.id == run_id)
    if lock:
        statement = statement.with_for_update(of=ModelRunRow)
    row = db.execute(statement, execution_options={"populate_existing": True}).first()
    if row is None:
        raise NotFound(f"There is no model run {run_id}.")
    return _run_from_row(*row)


def list_runs(db: Session, *, limit: int) -> list[ModelRun]:
    """Return the newest runs."""
    rows = db.execute(_select_runs().order_by(ModelRunRow.id.desc()).limit(limit))
    return [_run_from_row(*row) for row in rows]


def set_status(db: Session, *, run_id: int, status: RunStatus, reason: str) -> None:
    """Store the status of a run. A cancelled run stays cancelled."""
    db.execute(
        update(ModelRunRow)
        .where(ModelRunRow.id == run_id, ModelRunRow.status != RunStatus.CANCELLED.value)
        .values(status=status.value, reason=reason)
    )


def set_endpoint(db: Session, *, run_id: int, endpoint_id: int) -> None:
    """Replace the endpoint that the run's further calls use."""
    db.execute(update(ModelRunRow).where(ModelRunRow.id == run_id).values(endpoint_id=endpoint_id))


def set_budget(db: Session, *, run_id: int, budget: Budget) -> None:
    """Replace the limits of a run."""
    db.execute(
        update(ModelRunRow)
        .where(ModelRunRow.id == run_id)
        .values(
            max_calls=budget.max_calls,
            max_tokens=budget.max_tokens,
            max_cost_nanos=budget.max_cost_nanos,
        )
    )


def add_totals(db: Session, *, run_id: int, calls: Sequence[Call]) -> None:
    """Add calls to the totals of a run."""
    if not calls:
        return
    db.execute(
        update(ModelRunRow)
        .where(ModelRunRow.id == run_id)
        .values(
            calls=ModelRunRow.calls + len(calls),
            prompt_tokens=ModelRunRow.prompt_tokens + sum(call.usage.prompt_tokens for call in calls),
            completion_tokens=ModelRunRow.completion_tokens
            + sum(call.usage.completion_tokens for call in calls),
            cost_nanos=ModelRunRow.cost_nanos + sum(call.cost_nanos or 0 for call in calls),
            unpriced_calls=ModelRunRow.unpriced_calls + sum(call.cost_nanos is None for call in calls),
        )
    )


def _select_runs() -> Select[ModelRunRow, ModelEndpointRow, str, str, int]:
    return (
        select(
            ModelRunRow, ModelEndpointRow, DatasetRow.name, PromptVersionRow.name, PromptVersionRow.version
        )
        .join(ModelEndpointRow, ModelEndpointRow.id == ModelRunRow.endpoint_id)
        .outerjoin(DatasetRow, DatasetRow.id == ModelRunRow.dataset_id)
        .outerjoin(PromptVersionRow, PromptVersionRow.id == ModelRunRow.prompt_id)
    )


def _run_from_row(
    row: ModelRunRow,
    endpoint: ModelEndpointRow,
    dataset: str | None,
    prompt: str | None,
    version: int | None,
) -> ModelRun:
    return ModelRun(
        id=row.id or 0,
        name=row.name,
        stage=row.stage,
        endpoint=endpoint_from_row(endpoint),
        dataset=dataset,
        prompt=f"{prompt}@{version}" if prompt else None,
        budget=Budget(max_calls=row.max_calls, max_tokens=row.max_tokens, max_cost_nanos=row.max_cost_nanos),
        status=RunStatus(row.status),
        reason=row.reason,
        requests=row.requests,
        requests_sha256=row.requests_sha256,
        calls=row.calls,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cost_nanos=row.cost_nanos,
        unpriced_calls=row.unpriced_calls,
        created_at=row.created_at,
    )
