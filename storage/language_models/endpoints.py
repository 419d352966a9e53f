"""Storage of endpoints, and of each dataset's data-use policy."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from sqlalchemy import select, update
from sqlmodel import Session

from domain.language_models import DEFAULT_DATA_USE, DataUse, Endpoint
from storage.rows.language_models import DatasetDataUseRow, ModelEndpointRow

_MICROS_PER_DOLLAR = Decimal(1_000_000)


def add_endpoint(db: Session, *, endpoint: Endpoint, person_id: int | None, now: datetime) -> Endpoint:
    """Store a new endpoint. An endpoint in use with the same name is retired."""
    db.execute(
        update(ModelEndpointRow)
        .where(ModelEndpointRow.name == endpoint.name, ModelEndpointRow.retired_at.is_(None))
        .values(retired_at=now)
    )
    row = ModelEndpointRow(
        name=endpoint.name,
        url=endpoint.url,
        model=endpoint.model,
        reported_model=endpoint.reported_model,
        data_use=endpoint.data_use.value,
        family=endpoint.family,
        key_name=endpoint.key_name,
        price_input=_to_micros(endpoint.price_input),
        price_output=_to_micros(endpoint.price_output),
        max_parallel=endpoint.max_parallel,
        timeout_seconds=endpoint.timeout_seconds,
        accepts_images=endpoint.accepts_images,
        added_by=person_id,
        added_at=now,
    )
    db.add(row)
    db.flush()
    return endpoint_from_row(row)


def retire_endpoint(db: Session, *, endpoint_id: int, now: datetime) -> None:
    db.execute(update(ModelEndpointRow).where(ModelEndpointRow.id == endpoint_id).values(retired_at=now))


def find_endpoint(db: Session, *, name: str) -> Endpoint | None:
    """Return the endpoint in use with that name."""
    statement = select(ModelEndpointRow).where(
        ModelEndpointRow.name == name, ModelEndpointRow.retired_at.is_(None)
    )
    row = db.execute(statement).scalar_one_or_none()
    return endpoint_from_row(row) if row is not None else None


def list_endpoints(db: Session) -> list[Endpoint]:
    """Return the endpoints in use, by name."""
    statement = (
        select(ModelEndpointRow).where(ModelEndpointRow.retired_at.is_(None)).order_by(ModelEndpointRow.name)
    )
    return [endpoint_from_row(row) for row in db.execute(statement).scalars()]


def load_declared_families(db: Session) -> dict[str, str]:
    """Return the declared family of each model by its name, including endpoints no longer in use."""
    statement = (
        select(ModelEndpointRow.model, ModelEndpointRow.reported_model, ModelEndpointRow.family)
        .where(ModelEndpointRow.family.is_not(None))
        .order_by(ModelEndpointRow.id)
    )
    return {
        name: row.family for row in db.execute(statement) for name in (row.model, row.reported_model) if name
    }


def load_data_use(db: Session, *, dataset_id: int) -> DataUse:
    """Return the policy of a dataset."""
    row = db.get(DatasetDataUseRow, dataset_id, populate_existing=True)
    return DEFAULT_DATA_USE if row is None else DataUse(row.data_use)


def load_all_data_use(db: Session) -> dict[int, DataUse]:
    """Return the policies that were chosen, by id of the dataset."""
    rows = db.execute(select(DatasetDataUseRow)).scalars()
    return {row.dataset_id: DataUse(row.data_use) for row in rows}


def save_data_use(db: Session, *, dataset_id: int, data_use: DataUse, now: datetime) -> None:
    """Store the policy of a dataset in place of the previous one."""
    db.merge(DatasetDataUseRow(dataset_id=dataset_id, data_use=data_use.value, changed_at=now))
    db.flush()


def endpoint_from_row(row: ModelEndpointRow) -> Endpoint:
    """Return the endpoint of a row."""
    return Endpoint(
        id=row.id or 0,
        name=row.name,
        url=row.url,
        model=row.model,
        reported_model=row.reported_model,
        data_use=DataUse(row.data_use),
        family=row.family,
        key_name=row.key_name,
        price_input=_from_micros(row.price_input),
        price_output=_from_micros(row.price_output),
        max_parallel=row.max_parallel,
        timeout_seconds=row.timeout_seconds,
        accepts_images=row.accepts_images,
        retired_at=row.retired_at,
    )


def _to_micros(price: Decimal | None) -> int | None:
    return None if price is None else round(price * _MICROS_PER_DOLLAR)


def _from_micros(micros: int | None) -> Decimal | None:
    return None if micros is None else Decimal(micros) / _MICROS_PER_DOLLAR
