"""Controlled names of the properties of questions: which raw names mean the same, and their headings.

The names are in `taxonomy.toml`, the names of regions in `terminology.regions`. A dataset may map further raw
names (:class:`NameMapping`). Raw names are kept; a controlled name is computed whenever it is needed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from domain.batches import DerivedNames
from domain.vocabulary import NOT_MAPPED, Choice
from terminology.regions import ALIASES, MERGED, REGIONS

_FILE = Path(__file__).parent / "taxonomy.toml"


class NamedField(Choice):
    """The properties that have controlled names. A region is the label of a box."""

    CATEGORY = ("category", "Category")
    SUBCATEGORY = ("subcategory", "Subcategory")
    CONTENT_TYPE = ("content_type", "Content type")
    REGION = ("region", "Region")


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledName:
    """A controlled name, its heading in the papers' tables, and other raw names that mean the same."""

    name: str
    heading: str
    raw_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Taxonomy:
    """The controlled names of each field in the order of the file, and the version of the file."""

    version: int
    names: Mapping[NamedField, tuple[ControlledName, ...]]

    def find(self, named_field: NamedField, raw: str) -> ControlledName | None:
        """Return the controlled name of a raw name; None if the taxonomy does not have it.

        Args:
            named_field: the property.
            raw: the raw name; case and spacing are ignored.
        """
        return _index_raw_names()[named_field].get(normalise_name(raw))

    def find_heading(self, named_field: NamedField, controlled: str) -> str:
        """Return the heading of a controlled name; ``NOT_MAPPED`` and "" are their own headings."""
        entry = self.find(named_field, controlled) if controlled not in ("", NOT_MAPPED) else None
        return entry.heading if entry is not None else controlled

    def list_names(self, named_field: NamedField) -> list[str]:
        """Return the controlled names of a field in the order of the file."""
        return [entry.name for entry in self.names[named_field]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameMapping:
    """The controlled names of a dataset: first the dataset's own, then those of the taxonomy.

    ``own`` has the controlled name by field and raw name.
    """

    own: Mapping[tuple[NamedField, str], str] = field(default_factory=dict)

    def find_controlled(self, named_field: NamedField, raw: str) -> str:
        """Return the controlled name of a raw name; "" for "", ``NOT_MAPPED`` if there is none.

        >>> mapping = NameMapping(own={(NamedField.CATEGORY, "Cor"): "Heart"})
        >>> [mapping.find_controlled(NamedField.CATEGORY, raw) for raw in ("Cor", "osseous  structures", "?")]
        ['Heart', 'Bone', 'not mapped']
        """
        if not raw:
            return ""
        own = self.own.get((named_field, raw))
        if own is not None:
            return own
        entry = load_taxonomy().find(named_field, raw)
        return entry.name if entry is not None else NOT_MAPPED


#: Features of a question that follow from a column: (the column's field, whether it is the heading).
DERIVED_FEATURES: Mapping[str, tuple[NamedField, bool]] = {
    "controlled_category": (NamedField.CATEGORY, False),
    "domain": (NamedField.CATEGORY, True),
    "controlled_subcategory": (NamedField.SUBCATEGORY, False),
    "disease_class": (NamedField.SUBCATEGORY, True),
    "controlled_content_type": (NamedField.CONTENT_TYPE, False),
}


def derive_feature(feature: str, raw: str, mapping: NameMapping) -> str:
    """Return the value of one of :data:`DERIVED_FEATURES` for the raw value of its column.

    >>> derive_feature("domain", "Osseous Structures", NameMapping())
    'Musculoskeletal'
    """
    named_field, is_heading = DERIVED_FEATURES[feature]
    controlled = mapping.find_controlled(named_field, raw)
    return load_taxonomy().find_heading(named_field, controlled) if is_heading else controlled


def derive_value(feature: str, raw: str, names: DerivedNames) -> str:
    """Return the value of a feature for the raw value of its column, from names looked up before.

    >>> derive_value("domain", "Cor", {"domain": {"Cor": "Cardiovascular"}})
    'Cardiovascular'
    >>> derive_value("task", "location", {})
    'location'
    """
    if feature not in DERIVED_FEATURES or not raw:
        return raw
    return names.get(feature, {}).get(raw, NOT_MAPPED)


def get_column(feature: str) -> str:
    """Return the column from which a feature follows; other features are columns themselves."""
    return DERIVED_FEATURES[feature][0].value if feature in DERIVED_FEATURES else feature


def normalise_name(name: str) -> str:
    """Return a name as it is compared: in lower case with single spaces.

    >>> normalise_name(" Osseous  structures")
    'osseous structures'
    """
    return " ".join(name.casefold().split())


@cache
def load_taxonomy() -> Taxonomy:
    """Load the taxonomy.

    Raises:
        ValueError: a raw name occurs twice in a field.
    """
    table = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    names: dict[NamedField, tuple[ControlledName, ...]] = {
        named_field: tuple(
            ControlledName(name=name, heading=heading, raw_names=tuple(raw_names))
            for heading, entries in table[named_field.value].items()
            for name, raw_names in entries.items()
        )
        for named_field in NamedField
        if named_field is not NamedField.REGION
    }
    names[NamedField.REGION] = tuple(_build_region(name) for name in REGIONS)
    for named_field, entries in names.items():
        _check_unique(named_field, entries)
    return Taxonomy(version=table["version"], names=names)


def _build_region(name: str) -> ControlledName:
    sources = tuple(source for source in MERGED.get(name, ()) if source != name)
    aliases = tuple(alias for alias, region in ALIASES.items() if region == name)
    side = name.split(maxsplit=1)[0]
    return ControlledName(
        name=name,
        heading=side if side in ("left", "right", "bilateral") else "midline",
        raw_names=(*sources, *aliases),
    )


def _check_unique(named_field: NamedField, entries: Iterable[ControlledName]) -> None:
    seen: set[str] = set()
    for entry in entries:
        for raw in (entry.name, *entry.raw_names):
            if normalise_name(raw) in seen:
                raise ValueError(f"taxonomy.toml: {named_field.value} {raw!r} occurs twice")
            seen.add(normalise_name(raw))


@cache
def _index_raw_names() -> Mapping[NamedField, Mapping[str, ControlledName]]:
    return {
        named_field: {
            normalise_name(raw): entry for entry in entries for raw in (entry.name, *entry.raw_names)
        }
        for named_field, entries in load_taxonomy().names.items()
    }
