"""Services for the controlled names of a dataset: which raw names occur, and to what they are mapped."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import InvalidValue, NotFound
from domain.people import Action, Person, require
from domain.vocabulary import NOT_MAPPED
from storage.intake import datasets
from storage.quality import name_mappings
from terminology.taxonomy import NamedField, NameMapping, load_taxonomy, normalise_name

#: The maximum length of a raw name that can be mapped. Names are in an index, whose entries are limited.
MAX_NAME_LENGTH = 500
_MIN_SIMILARITY = 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class RawName:
    """A raw name of a dataset.

    ``controlled`` is None if the name is not mapped. ``is_own`` states that the dataset has its own mapping.
    ``mapped_by`` is the person who made it; "" if the command made it, or if the taxonomy maps the name.
    """

    name: str
    questions: int
    controlled: str | None
    heading: str
    is_own: bool
    mapped_by: str
    mapped_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NameReport:
    """The raw names of a field of a dataset, the most frequent first.

    ``last_mapped`` is the raw name that was mapped last in this dataset; None if there is none.
    ``previous_name`` is the controlled name that the dataset gave it before; None if it gave none, or one
    that the taxonomy no longer has.
    """

    dataset: str
    field: NamedField
    names: tuple[RawName, ...]
    last_mapped: str | None
    previous_name: str | None = None

    @property
    def questions(self) -> int:
        """The number of questions with a name; for regions, a question counts once for each region."""
        return sum(name.questions for name in self.names)

    @property
    def unmapped(self) -> tuple[RawName, ...]:
        """The names without a controlled name."""
        return tuple(name for name in self.names if name.controlled is None)


def load_names(db: Session, *, by: Person, dataset: str, field: NamedField) -> NameReport:
    """Load the raw names of a field. This reads all questions of the dataset.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    dataset_id = datasets.load_dataset(db, name=dataset).id
    taxonomy = load_taxonomy()
    mapping = name_mappings.load_mapping(db, dataset_id=dataset_id)
    mapped_rows = name_mappings.list_mapped_names(db, dataset_id=dataset_id, named_field=field)
    own_rows = {row.raw_name: row for row in mapped_rows}
    names = []
    for raw, questions in name_mappings.count_raw_names(db, dataset_id=dataset_id, named_field=field):
        controlled = mapping.find_controlled(field, raw)
        row = own_rows.get(raw)
        names.append(
            RawName(
                name=raw,
                questions=questions,
                controlled=None if controlled == NOT_MAPPED else controlled,
                heading="" if controlled == NOT_MAPPED else taxonomy.find_heading(field, controlled),
                is_own=row is not None,
                mapped_by=(row.mapped_by or "") if row is not None else "",
                mapped_at=row.mapped_at if row is not None else None,
            )
        )
    last_mapped = mapped_rows[0].raw_name if mapped_rows else None
    previous_name = (
        name_mappings.load_previous_name(db, dataset_id=dataset_id, named_field=field, raw_name=last_mapped)
        if last_mapped is not None
        else None
    )
    return NameReport(
        dataset=dataset,
        field=field,
        names=tuple(names),
        last_mapped=last_mapped,
        previous_name=previous_name if previous_name in taxonomy.list_names(field) else None,
    )


def load_name_mapping(db: Session, *, by: Person, dataset: str) -> NameMapping:
    """Load the controlled names of all raw names of a dataset.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    return name_mappings.load_mapping(db, dataset_id=datasets.load_dataset(db, name=dataset).id)


def list_name_examples(
    db: Session, *, by: Person, dataset: str, field: NamedField, raw: str, count: int = 3
) -> list[tuple[int, str, str]]:
    """List (id, key, stem) of the first questions that have a raw name.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    dataset_id = datasets.load_dataset(db, name=dataset).id
    return name_mappings.list_stems_with_name(
        db, dataset_id=dataset_id, named_field=field, raw_name=raw, count=count
    )


def map_name(
    db: Session,
    *,
    by: Person,
    dataset: str,
    field: NamedField,
    raw: str,
    controlled: str | None,
    now: datetime,
) -> None:
    """Give a raw name of a dataset a controlled name; None removes the dataset's own mapping.

    Mapping a name again to the same controlled name changes nothing.

    Raises:
        NotFound: there is no such dataset, or no question has the raw name.
        InvalidValue: the controlled name is not in the taxonomy, or the raw name is too long.
        AlreadyThere: another person mapped the name at the same moment.
    """
    require(by, Action.IMPORT_QUESTIONS)
    dataset_id = datasets.load_dataset(db, name=dataset).id
    if controlled is not None and controlled not in load_taxonomy().list_names(field):
        raise InvalidValue(
            "controlled name",
            f"{controlled!r} is not a controlled name of the field {field.label.lower()}. Similar: "
            f"{', '.join(suggest_names(field, controlled)[:3])}",
        )
    if len(raw) > MAX_NAME_LENGTH:
        raise InvalidValue(
            "raw name", f"has {len(raw):,} characters; names of at most {MAX_NAME_LENGTH} can be mapped"
        )
    own_name = name_mappings.load_mapping(db, dataset_id=dataset_id).own.get((field, raw))
    if own_name == controlled:
        return
    if controlled is not None and not name_mappings.list_stems_with_name(
        db, dataset_id=dataset_id, named_field=field, raw_name=raw, count=1
    ):
        raise NotFound(
            f"No question of dataset {dataset} has the {field.label.lower()} {raw!r}. `cli.py taxonomy names "
            f"{dataset} --field {field.value}` lists the names that occur."
        )
    previous = name_mappings.append_mapping(
        db,
        dataset_id=dataset_id,
        named_field=field,
        raw_name=raw,
        controlled_name=controlled,
        person_id=by.id or None,
        now=now,
    )
    record_action(
        db,
        by=by,
        action="map name",
        subject=f"dataset {dataset_id}",
        old={"field": field.value, "name": raw, "controlled": previous},
        new={"field": field.value, "name": raw, "controlled": controlled},
        now=now,
    )


def suggest_names(field: NamedField, raw: str) -> list[str]:
    """Return all controlled names of a field, those whose names or words are similar to ``raw`` first."""
    normalised = normalise_name(raw)
    words = set(normalised.split())

    def rate(names: tuple[str, ...]) -> float:
        texts = [normalise_name(name) for name in names]
        ratio = max(difflib.SequenceMatcher(None, normalised, text).ratio() for text in texts)
        shared_share = max(len(words & set(text.split())) / max(1, len(set(text.split()))) for text in texts)
        return max(ratio if ratio >= _MIN_SIMILARITY else 0.0, shared_share)

    entries = load_taxonomy().names[field]
    rates = {entry.name: rate((entry.name, *entry.raw_names)) for entry in entries}
    return sorted(rates, key=lambda name: -rates[name])  # a stable sort keeps the order of the taxonomy
