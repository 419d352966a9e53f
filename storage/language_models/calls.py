"""The ledger: an append-only table of calls. Only a call without a failure is ever reused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, insert, select
from sqlmodel import Session

from domain.language_models import REPAIRABLE_FAILURES, Call, FailureKind, Usage
from storage.rows.language_models import ModelCallRow, ModelRequestRow

_REQUESTS_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReply:
    """The reply to a request of a run. ``raw`` is the response, None without a usable one.

    ``failure`` is "" unless the request failed. ``model`` is the model that the server reported.
    """

    custom_id: str
    key: str
    raw: str | None
    model: str | None
    failure: str


def append_calls(db: Session, *, calls: Sequence[Call]) -> None:
    """Add calls to the ledger. Their ids are assigned by the database."""
    if calls:
        db.execute(insert(ModelCallRow), [_call_values(call) for call in calls])


def find_answered_keys(db: Session, *, keys: Sequence[str]) -> set[str]:
    """Return those keys that have a successful call."""
    statement = select(ModelCallRow.key).where(ModelCallRow.key.in_(keys), ModelCallRow.failure.is_(None))
    return set(db.execute(statement).scalars())


def load_faulty_replies(db: Session, *, run_id: int, positions: Sequence[int]) -> dict[int, Call]:
    """Return the latest call of each request whose reply the model is asked to correct, by position."""
    statement = (
        select(ModelCallRow)
        .where(
            ModelCallRow.run_id == run_id,
            ModelCallRow.position.in_(positions),
            ModelCallRow.failure.in_([failure.value for failure in REPAIRABLE_FAILURES]),
        )
        .order_by(ModelCallRow.id)
    )
    return {row.position: _call_from_row(row) for row in db.execute(statement).scalars()}


def list_request_calls(db: Session, *, run_id: int, position: int, key: str) -> list[Call]:
    """Return the calls of a request in order. If the ledger answered it, the reused call comes last."""
    statement = (
        select(ModelCallRow)
        .where(ModelCallRow.run_id == run_id, ModelCallRow.position == position)
        .order_by(ModelCallRow.id)
    )
    calls = [_call_from_row(row) for row in db.execute(statement).scalars()]
    if any(call.failure is None for call in calls):
        return calls
    reused = find_success(db, key=key)
    return [*calls, reused] if reused is not None else calls


def find_success(db: Session, *, key: str) -> Call | None:
    """Return the first successful call with that key."""
    statement = (
        select(ModelCallRow)
        .where(ModelCallRow.key == key, ModelCallRow.failure.is_(None))
        .order_by(ModelCallRow.id)
        .limit(1)
    )
    row = db.execute(statement).scalar_one_or_none()
    return _call_from_row(row) if row is not None else None


def iterate_replies(db: Session, *, run_id: int) -> Iterator[StoredReply]:
    """Yield each request's reply in order: the reply of the first successful call with the request's key."""
    last_position = -1
    while True:
        page = (
            select(
                ModelRequestRow.position,
                ModelRequestRow.custom_id,
                ModelRequestRow.failure,
                ModelRequestRow.key,
            )
            .where(ModelRequestRow.run_id == run_id, ModelRequestRow.position > last_position)
            .order_by(ModelRequestRow.position)
            .limit(_REQUESTS_AT_ONCE)
        )
        requests = db.execute(page).all()
        if not requests:
            return
        keys = {request.key for request in requests}
        statement = (
            select(ModelCallRow.key, ModelCallRow.raw, ModelCallRow.model)
            .where(ModelCallRow.key.in_(keys), ModelCallRow.failure.is_(None))
            .order_by(ModelCallRow.id.desc())  # so that the first call of a key replaces later calls
        )
        replies = {row.key: (row.raw, row.model) for row in db.execute(statement)}
        for request in requests:
            raw, model = replies.get(request.key, (None, None))
            yield StoredReply(
                custom_id=request.custom_id,
                key=request.key,
                raw=raw,
                model=model,
                failure=request.failure or "",
            )
        last_position = requests[-1].position


def count_calls_since(
    db: Session, *, run_id: int, since: datetime, after_id: int
) -> tuple[int, datetime | None]:
    """Return how many calls of a run since a time have an id above ``after_id``, and the first one's time."""
    statement = select(func.count(), func.min(ModelCallRow.called_at)).where(
        ModelCallRow.id > after_id, ModelCallRow.run_id == run_id, ModelCallRow.called_at >= since
    )
    row = db.execute(statement).one()
    return int(row[0]), row[1]


def find_highest_call_id(db: Session) -> int:
    """Return the id of the newest call; 0 if there is none."""
    return db.execute(select(func.max(ModelCallRow.id))).scalar_one() or 0


def find_latest_call(db: Session, *, endpoint_id: int) -> Call | None:
    """Return the newest call of an endpoint."""
    statement = (
        select(ModelCallRow)
        .where(ModelCallRow.endpoint_id == endpoint_id)
        .order_by(ModelCallRow.called_at.desc(), ModelCallRow.id.desc())
        .limit(1)
    )
    row = db.execute(statement).scalar_one_or_none()
    return _call_from_row(row) if row is not None else None


def _call_values(call: Call) -> dict[str, object]:
    return {
        "key": call.key,
        "run_id": call.run_id,
        "position": call.position,
        "endpoint_id": call.endpoint_id,
        "round": call.round,
        "failure": call.failure.value if call.failure else None,
        "error": _remove_nul(call.error),
        "raw": _remove_nul(call.raw),
        "model": call.model,
        "fingerprint": call.fingerprint,
        "finish_reason": call.finish_reason,
        "prompt_tokens": call.usage.prompt_tokens,
        "completion_tokens": call.usage.completion_tokens,
        "cached_tokens": call.usage.cached_tokens,
        "cost_nanos": call.cost_nanos,
        "price_source": call.price_source,
        "attempts": call.attempts,
        "seconds": call.seconds,
        "called_at": call.called_at,
    }


def _remove_nul(text: str) -> str:
    """Remove NUL, which PostgreSQL cannot store. Valid JSON has no NUL, because JSON escapes it."""
    return text.replace("\0", "")


def _call_from_row(row: ModelCallRow) -> Call:
    return Call(
        id=row.id or 0,
        key=row.key,
        run_id=row.run_id,
        position=row.position,
        endpoint_id=row.endpoint_id,
        round=row.round,
        failure=FailureKind(row.failure) if row.failure else None,
        error=row.error,
        raw=row.raw,
        model=row.model,
        fingerprint=row.fingerprint,
        finish_reason=row.finish_reason,
        usage=Usage(
            prompt_tokens=row.prompt_tokens,
            completion_tokens=row.completion_tokens,
            cached_tokens=row.cached_tokens,
        ),
        cost_nanos=row.cost_nanos,
        price_source=row.price_source,
        attempts=row.attempts,
        seconds=row.seconds,
        called_at=row.called_at,
    )
