"""Compares a release with an earlier one of the same dataset: added, removed and changed questions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from domain.errors import Refused
from release.private import QUESTIONS as PRIVATE
from release.verify import read_manifest

#: The names of changes, by field.
_PLURALS = {
    "answer": "keys",
    "also_right": "further right answers",
    "stem": "stems",
    "options": "options",
    "explanation": "explanations",
    "boxes": "boxes",
    "task": "tasks",
    "category": "categories",
    "difficulty": "difficulties",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Ids of questions that were added (``added``), removed (``removed``), moved between sides, or changed.

    ``changed`` is by field; ``unchanged`` counts unchanged questions.
    """

    old: str
    new: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    moved: tuple[str, ...]
    changed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unchanged: int = 0

    @property
    def sentence(self) -> str:
        """A sentence: "v2 against v1: 41 keys changed, 12 questions came; 900 are the same"."""
        parts = [
            f"{len(ids):,} {_change_label(name, len(ids))} changed" for name, ids in self.changed.items()
        ]
        parts += [
            f"{len(ids):,} question{'' if len(ids) == 1 else 's'} {change}"
            for ids, change in (
                (self.added, "came"),
                (self.removed, "went"),
                (self.moved, "moved between public and private"),
            )
            if ids
        ]
        summary = ", ".join(parts) or "nothing changed"
        return f"{self.new} against {self.old}: {summary}; {self.unchanged:,} are the same"


def compare_releases(old: Path, new: Path) -> Comparison:
    """Compare two releases.

    Keys of private questions are not in the folder of a release, so their changes are not found.

    Args:
        old: folder of the earlier release.
        new: folder of the later release.

    Raises:
        InvalidValue: one of the folders is no release.
        Refused: they are of different datasets.
    """
    manifests = [read_manifest(folder) for folder in (old, new)]
    datasets = [manifest["dataset"] for manifest in manifests]
    if datasets[0] != datasets[1]:
        raise Refused(
            f"The releases have different datasets: {old} has {datasets[0]!r}, {new} has {datasets[1]!r}. "
            "Choose two releases of one dataset."
        )
    before, after = _read_records(old), _read_records(new)
    both = [key for key in after if key in before]
    changed: dict[str, list[str]] = {}
    unchanged = 0
    for key in both:
        changed_fields = [
            name
            for name in _PLURALS
            if _normalized_value(before[key], name) != _normalized_value(after[key], name)
        ]
        if before[key]["_side"] != after[key]["_side"]:
            changed_fields = [
                name for name in changed_fields if name in ("stem", "options", "task", "difficulty")
            ]
        for name in changed_fields:
            changed.setdefault(name, []).append(key)
        unchanged += not changed_fields
    return Comparison(
        old=manifests[0]["name"],
        new=manifests[1]["name"],
        added=tuple(key for key in after if key not in before),
        removed=tuple(key for key in before if key not in after),
        moved=tuple(key for key in both if before[key]["_side"] != after[key]["_side"]),
        changed={name: tuple(changed[name]) for name in _PLURALS if name in changed},
        unchanged=unchanged,
    )


def _change_label(name: str, count: int) -> str:
    plural = _PLURALS[name]
    if count != 1:
        return plural
    return {"categories": "category", "difficulties": "difficulty", "boxes": "question's boxes"}.get(
        plural, plural.removesuffix("s")
    )


def _read_records(folder: Path) -> dict[str, dict[str, Any]]:
    records: dict[str, dict[str, Any]] = {}
    for name in ("gold.jsonl", PRIVATE):
        path = folder / name
        if not path.is_file():
            continue
        with path.open("rb") as file:
            for line in file:
                record = msgspec.json.decode(line)
                record["_side"] = name
                records[record["id"]] = record
    return records


def _normalized_value(record: dict[str, Any], name: str) -> Any:  # noqa: ANN401 - any JSON value
    """The value without empty parts, so that missing and empty fields are equal."""
    return record.get(name) or None
