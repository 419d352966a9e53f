"""Controlled names that datasets give to raw names, and the raw names that occur."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, insert, select, text
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.batches import DerivedNames
from domain.errors import AlreadyThere
from domain.vocabulary import NOT_MAPPED
from storage.browsing.search_results import count_values
from storage.browsing.statistics import count_observations, get_label_sql
from storage.rows.people import PersonRow
from storage.rows.taxonomy import NameMappingRow
from storage.types import AnySelect
from terminology.taxonomy import DERIVED_FEATURES, NamedField, NameMapping, derive_feature, get_column

_MAX_LABELS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedName:
    """The current mapping of a raw name by a dataset, and who made it; ``id`` increases with time."""

    id: int
    raw_name: str
    controlled_name: str
    mapped_by: str | None
    mapped_at: datetime


def load_mapping(db: Session, *, dataset_id: int) -> NameMapping:
    """Return the controlled names of the raw names of a dataset."""
    rows = db.execute(_select_current(dataset_id).order_by(NameMappingRow.id))
    return NameMapping(
        own={
            (NamedField(row.field), row.raw_name): row.controlled_name for row in rows if row.controlled_name
        }
    )


def load_derived_names(db: Session, *, dataset_id: int, features: Collection[str]) -> DerivedNames:
    """Return {feature: {raw name: value}} for those features that are derived from a column.

    Raw names that are not mapped are missing. Reads every question of the dataset if a feature is derived.
    """
    derived = [feature for feature in features if feature in DERIVED_FEATURES]
    if not derived:
        return {}
    mapping = load_mapping(db, dataset_id=dataset_id)
    names: dict[str, dict[str, str]] = {}
    for feature in derived:
        values = {
            raw: derive_feature(feature, raw, mapping)
            for raw, _ in count_values(db, dataset_id=dataset_id, column=get_column(feature))
        }
        names[feature] = {raw: value for raw, value in sorted(values.items()) if value != NOT_MAPPED}
    return names


def list_mapped_names(db: Session, *, dataset_id: int, named_field: NamedField) -> list[MappedName]:
    """Return the current mappings of a field by the dataset, the newest first."""
    current = _select_current(dataset_id).where(NameMappingRow.field == named_field.value).subquery()
    statement = (
        select(current, PersonRow.name)
        .outerjoin(PersonRow, PersonRow.id == current.c.mapped_by)
        .where(current.c.controlled_name.is_not(None))
        .order_by(current.c.id.desc())
    )
    return [
        MappedName(
            id=row.id,
            raw_name=row.raw_name,
            controlled_name=row.controlled_name,
            mapped_by=row.name,
            mapped_at=row.mapped_at,
        )
        for row in db.execute(statement)
    ]


def load_previous_name(db: Session, *, dataset_id: int, named_field: NamedField, raw_name: str) -> str | None:
    """Return the controlled name that a raw name had before its last mapping; None if it had none."""
    statement = (
        select(NameMappingRow.controlled_name)
        .where(
            NameMappingRow.dataset_id == dataset_id,
            NameMappingRow.field == named_field.value,
            NameMappingRow.raw_name == raw_name,
        )
        .order_by(NameMappingRow.revision.desc())
        .offset(1)
        .limit(1)
    )
    return db.execute(statement).scalar_one_or_none()


def load_newest_mapping(db: Session, *, dataset_id: int) -> int:
    """Return the id of the newest mapping of the dataset, undone ones included; 0 if there is none."""
    statement = select(func.max(NameMappingRow.id)).where(NameMappingRow.dataset_id == dataset_id)
    return db.execute(statement).scalar_one() or 0


def append_mapping(
    db: Session,
    *,
    dataset_id: int,
    named_field: NamedField,
    raw_name: str,
    controlled_name: str | None,
    person_id: int | None,
    now: datetime,
) -> str | None:
    """Append the controlled name of a raw name; None removes the mapping. Return the previous one.

    Raises:
        AlreadyThere: another mapping of the name was saved at the same moment.
    """
    last = db.execute(
        select(NameMappingRow.revision, NameMappingRow.controlled_name)
        .where(
            NameMappingRow.dataset_id == dataset_id,
            NameMappingRow.field == named_field.value,
            NameMappingRow.raw_name == raw_name,
        )
        .order_by(NameMappingRow.revision.desc())
        .limit(1)
    ).first()
    values = {
        "dataset_id": dataset_id,
        "field": named_field.value,
        "raw_name": raw_name,
        "revision": 1 if last is None else last.revision + 1,
        "controlled_name": controlled_name,
        "mapped_by": person_id,
        "mapped_at": now,
    }
    try:
        with db.begin_nested():  # a savepoint, because a duplicate must not undo the caller's other work
            db.execute(insert(NameMappingRow), [values])
    except IntegrityError as error:
        raise AlreadyThere(
            f"Another person has just mapped {raw_name!r}. Reload the page to see the mapping."
        ) from error
    return None if last is None else last.controlled_name


def count_raw_names(db: Session, *, dataset_id: int, named_field: NamedField) -> list[tuple[str, int]]:
    """Return the raw names of a field with their numbers of questions, the most frequent first.

    This reads every question of the dataset.
    """
    if named_field is NamedField.REGION:
        labels = count_observations(db, dataset_id=dataset_id, limit=_MAX_LABELS)
        return [(label, questions) for label, questions, _ in labels if label]
    values = count_values(db, dataset_id=dataset_id, column=named_field.value)
    return [(value, questions) for value, questions in values if value]


def list_stems_with_name(
    db: Session, *, dataset_id: int, named_field: NamedField, raw_name: str, count: int
) -> list[tuple[int, str, str]]:
    """Return (id, key, stem) of the first questions that have the raw name."""
    if named_field is NamedField.REGION:
        label, boxes = get_label_sql(db)
        condition = f"q.id IN (SELECT q.id FROM question q, {boxes} WHERE q.dataset_id = :d AND q.boxes <> '[]' AND {label} = :name)"  # noqa: E501, S608 - our own text
    else:
        condition = f"q.dataset_id = :d AND q.{named_field.value} = :name"
    rows = db.execute(
        text(f"SELECT q.id, q.key, q.stem FROM question q WHERE {condition} ORDER BY q.id LIMIT :most"),  # noqa: S608 - our own names
        {"d": dataset_id, "name": raw_name, "most": count},
    )
    return [(row[0], row[1], row[2]) for row in rows]


def _select_current(dataset_id: int) -> AnySelect:
    """Select the highest revision of each raw name of a dataset."""
    newest = (
        select(func.max(NameMappingRow.id))
        .where(NameMappingRow.dataset_id == dataset_id)
        .group_by(NameMappingRow.field, NameMappingRow.raw_name)
    )
    return select(NameMappingRow.__table__).where(NameMappingRow.id.in_(newest))
