"""Storage of the requests of runs. A process claims requests by lease, so several processes share a run.

The claiming functions require that the run is locked: :func:`storage.language_models.runs.load_run`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, insert, select, update
from sqlmodel import Session

from domain.language_models import FailureKind, RequestStatus
from storage.rows.language_models import ModelRequestRow
from storage.types import affected_rows

#: Statuses in which a request can still cause costs, so the budget reserves its tokens.
_UNDER_WAY = (RequestStatus.LEASED.value, RequestStatus.IN_BATCH.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRequest:
    """A request as stored, see ``ModelRequestRow``."""

    position: int
    custom_id: str
    key: str
    body: str
    is_copy: bool = False
    status: RequestStatus = RequestStatus.WAITING
    failure: FailureKind | None = None
    repairs: int = 0
    reused: bool = False
    reserve_prompt: int = 0
    reserve_completion: int = 0


def add_requests(db: Session, *, run_id: int, requests: Sequence[StoredRequest]) -> None:
    """Store new requests of a run.

    Raises:
        IntegrityError: a custom id occurs twice.
    """
    db.execute(
        insert(ModelRequestRow),
        [
            {
                "run_id": run_id,
                "position": request.position,
                "custom_id": request.custom_id,
                "key": request.key,
                "body": request.body,
                "is_copy": request.is_copy,
                "status": request.status.value,
                "repairs": 0,
                "reused": False,
                "reserve_prompt": request.reserve_prompt,
                "reserve_completion": request.reserve_completion,
            }
            for request in requests
        ],
    )


def end_expired_leases(db: Session, *, run_id: int, now: datetime) -> None:
    """Let requests be claimed again if their process has not renewed the lease in time."""
    db.execute(
        update(ModelRequestRow)
        .where(
            ModelRequestRow.run_id == run_id,
            ModelRequestRow.status == RequestStatus.LEASED.value,
            ModelRequestRow.lease_until <= now,
        )
        .values(status=RequestStatus.WAITING.value, worker=None, lease_until=None)
    )


def list_waiting_requests(db: Session, *, run_id: int, limit: int) -> list[StoredRequest]:
    """Return the first requests that may be claimed; copies of another request never are."""
    statement = (
        select(ModelRequestRow)
        .where(
            ModelRequestRow.run_id == run_id,
            ModelRequestRow.status == RequestStatus.WAITING.value,
            ~ModelRequestRow.is_copy,
        )
        .order_by(ModelRequestRow.position)
        .limit(limit)
    )
    rows = db.execute(statement, execution_options={"populate_existing": True}).scalars()
    return [_request_from_row(row) for row in rows]


def lease_requests(
    db: Session, *, run_id: int, positions: Sequence[int], worker: str, lease_until: datetime
) -> None:
    """Give waiting requests to a process, or renew its leases."""
    if positions:
        db.execute(
            update(ModelRequestRow)
            .where(
                ModelRequestRow.run_id == run_id,
                ModelRequestRow.position.in_(positions),
                (ModelRequestRow.status == RequestStatus.WAITING.value) | _is_held_by(worker),
            )
            .values(status=RequestStatus.LEASED.value, worker=worker, lease_until=lease_until)
        )


def mark_as_in_batch(db: Session, *, run_id: int, positions: Sequence[int]) -> None:
    """Mark waiting requests as written to a batch file."""
    db.execute(
        update(ModelRequestRow)
        .where(ModelRequestRow.run_id == run_id, ModelRequestRow.position.in_(positions))
        .values(status=RequestStatus.IN_BATCH.value)
    )


def load_requests_by_custom_id(
    db: Session, *, run_id: int, custom_ids: Sequence[str]
) -> dict[str, StoredRequest]:
    """Return requests of a run by custom id."""
    statement = select(ModelRequestRow).where(
        ModelRequestRow.run_id == run_id, ModelRequestRow.custom_id.in_(custom_ids)
    )
    rows = db.execute(statement, execution_options={"populate_existing": True}).scalars()
    return {row.custom_id: _request_from_row(row) for row in rows}


def list_answered(db: Session, *, run_id: int) -> list[str]:
    """Return the custom ids of the requests with a usable reply, in order."""
    statement = (
        select(ModelRequestRow.custom_id)
        .where(ModelRequestRow.run_id == run_id, ModelRequestRow.status == RequestStatus.DONE.value)
        .order_by(ModelRequestRow.position)
    )
    return list(db.execute(statement).scalars())


def finish_requests(db: Session, *, run_id: int, keys: Sequence[str], reused: bool) -> None:
    """Mark the requests with these keys as done, copies included."""
    if keys:
        db.execute(
            update(ModelRequestRow)
            .where(
                ModelRequestRow.run_id == run_id,
                ModelRequestRow.key.in_(keys),
                ModelRequestRow.status != RequestStatus.DONE.value,
            )
            .values(
                status=RequestStatus.DONE.value, failure=None, reused=reused, worker=None, lease_until=None
            )
        )


def fail_request(db: Session, *, run_id: int, key: str, failure: FailureKind) -> None:
    """Mark the requests with this key as failed, copies included."""
    db.execute(
        update(ModelRequestRow)
        .where(
            ModelRequestRow.run_id == run_id,
            ModelRequestRow.key == key,
            ModelRequestRow.status != RequestStatus.DONE.value,
        )
        .values(status=RequestStatus.FAILED.value, failure=failure.value, worker=None, lease_until=None)
    )


def await_repair(db: Session, *, run_id: int, position: int, repairs: int, more_prompt: int) -> None:
    """Let a request be claimed again for a corrected reply, with up to ``more_prompt`` more prompt tokens."""
    db.execute(
        update(ModelRequestRow)
        .where(
            ModelRequestRow.run_id == run_id,
            ModelRequestRow.position == position,
            ModelRequestRow.status != RequestStatus.DONE.value,
        )
        .values(
            status=RequestStatus.WAITING.value,
            repairs=repairs,
            reserve_prompt=ModelRequestRow.reserve_prompt + more_prompt,
            worker=None,
            lease_until=None,
        )
    )


def return_requests(db: Session, *, run_id: int, positions: Sequence[int], worker: str | None = None) -> None:
    """Let requests be claimed again: those that ``worker`` holds; if it is None, those in a batch file."""
    is_held = (
        _is_held_by(worker) if worker is not None else ModelRequestRow.status == RequestStatus.IN_BATCH.value
    )
    db.execute(
        update(ModelRequestRow)
        .where(ModelRequestRow.run_id == run_id, ModelRequestRow.position.in_(positions), is_held)
        .values(status=RequestStatus.WAITING.value, worker=None, lease_until=None)
    )


def return_batch(db: Session, *, run_id: int) -> int:
    """Let all requests in batch files be claimed again; return their number."""
    result = db.execute(
        update(ModelRequestRow)
        .where(ModelRequestRow.run_id == run_id, ModelRequestRow.status == RequestStatus.IN_BATCH.value)
        .values(status=RequestStatus.WAITING.value)
    )
    return affected_rows(result)


def retry_failed(db: Session, *, run_id: int) -> int:
    """Let failed requests be claimed again; return their number."""
    result = db.execute(
        update(ModelRequestRow)
        .where(ModelRequestRow.run_id == run_id, ModelRequestRow.status == RequestStatus.FAILED.value)
        .values(status=RequestStatus.WAITING.value, failure=None, repairs=0)
    )
    return affected_rows(result)


def sum_reserved(db: Session, *, run_id: int) -> tuple[int, int, int]:
    """Return the number of requests under way, and the tokens reserved for prompts and replies."""
    row = db.execute(
        select(
            func.count(),
            func.coalesce(func.sum(ModelRequestRow.reserve_prompt), 0),
            func.coalesce(func.sum(ModelRequestRow.reserve_completion), 0),
        ).where(ModelRequestRow.run_id == run_id, ModelRequestRow.status.in_(_UNDER_WAY))
    ).one()
    return int(row[0]), int(row[1]), int(row[2])


def count_by_status(db: Session, *, run_id: int) -> dict[RequestStatus, int]:
    """Count the requests of a run by status."""
    rows = db.execute(
        select(ModelRequestRow.status, func.count())
        .where(ModelRequestRow.run_id == run_id)
        .group_by(ModelRequestRow.status)
    )
    return {RequestStatus(status): count for status, count in rows}


def count_failures(db: Session, *, run_id: int) -> dict[FailureKind, int]:
    """Count the failed requests of a run by kind, the most frequent first."""
    rows = db.execute(
        select(ModelRequestRow.failure, func.count())
        .where(ModelRequestRow.run_id == run_id, ModelRequestRow.status == RequestStatus.FAILED.value)
        .group_by(ModelRequestRow.failure)
        .order_by(func.count().desc(), ModelRequestRow.failure)
    )
    return {FailureKind(failure): count for failure, count in rows}


def count_reused(db: Session, *, run_id: int) -> int:
    """Count the requests that the ledger answered."""
    statement = select(func.count()).where(
        ModelRequestRow.run_id == run_id,
        ModelRequestRow.status == RequestStatus.DONE.value,
        ModelRequestRow.reused,
    )
    return int(db.execute(statement).scalar_one())


def list_requests(
    db: Session,
    *,
    run_id: int,
    status: RequestStatus | None = None,
    failure: FailureKind | None = None,
    first: int = 0,
    limit: int,
) -> list[StoredRequest]:
    """Return the matching requests of a run in order; ``first`` is the number of requests to skip."""
    conditions: list[ColumnElement[bool]] = [ModelRequestRow.run_id == run_id]
    if status is not None:
        conditions.append(ModelRequestRow.status == status.value)
    if failure is not None:
        conditions.append(ModelRequestRow.failure == failure.value)
    statement = (
        select(ModelRequestRow)
        .where(*conditions)
        .order_by(ModelRequestRow.position)
        .offset(first)
        .limit(limit)
    )
    return [_request_from_row(row) for row in db.execute(statement).scalars()]


def _is_held_by(worker: str) -> ColumnElement[bool]:
    return (ModelRequestRow.status == RequestStatus.LEASED.value) & (ModelRequestRow.worker == worker)


def _request_from_row(row: ModelRequestRow) -> StoredRequest:
    return StoredRequest(
        position=row.position,
        custom_id=row.custom_id,
        key=row.key,
        body=row.body,
        is_copy=row.is_copy,
        status=RequestStatus(row.status),
        failure=FailureKind(row.failure) if row.failure else None,
        repairs=row.repairs,
        reused=row.reused,
        reserve_prompt=row.reserve_prompt,
        reserve_completion=row.reserve_completion,
    )
