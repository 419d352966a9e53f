"""Compares a release with an earlier release of the same dataset: added, removed and changed questions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from domain.count_texts import count_text
from domain.errors import NotFound, Refused
from release.private import KEYS, keys_folder_of
from release.private import QUESTIONS as PRIVATE
from release.verify import read_manifest

#: The noun for a changed field in the singular and the plural, by the field's name.
_FIELD_NOUNS = {
    "answer": ("key", "keys"),
    "also_right": ("list of further correct answers", "lists of further correct answers"),
    "stem": ("stem", "stems"),
    "options": ("list of options", "lists of options"),
    "explanation": ("explanation", "explanations"),
    "boxes": ("set of boxes", "sets of boxes"),
    "task": ("task", "tasks"),
    "category": ("category", "categories"),
    "difficulty": ("difficulty", "difficulties"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """A field of a question with its JSON values in both releases; None if it is missing or empty."""

    question_id: str
    field: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The differences between the releases ``old`` and ``new``.

    ``added``, ``removed`` and ``moved`` (to or from the private split) are ids of questions.
    ``changed`` has the ids of the changed questions by field, and ``unchanged`` is the number of unchanged
    questions. ``changes`` has the values, in the order of the questions of the new release.
    """

    old: str
    new: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    moved: tuple[str, ...]
    changed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unchanged: int = 0
    changes: tuple[FieldChange, ...] = ()

    @property
    def sentence(self) -> str:
        """The summary, such as "v2 compared with v1: 41 keys changed, 12 questions added; 900 unchanged"."""
        parts = [f"{count_text(len(ids), *_FIELD_NOUNS[name])} changed" for name, ids in self.changed.items()]
        parts += [
            f"{count_text(len(ids), 'question')} {change}"
            for ids, change in (
                (self.added, "added"),
                (self.removed, "removed"),
                (self.moved, "moved between public and private"),
            )
            if ids
        ]
        summary = ", ".join(parts) or "nothing changed"
        return f"{self.new} compared with {self.old}: {summary}; {self.unchanged:,} unchanged"


def compare_releases(old: Path, new: Path, *, with_keys: bool = False) -> Comparison:
    """Compare two releases.

    Args:
        old: the folder of the earlier release.
        new: the folder of the later release.
        with_keys: whether to compare private questions with their keys, for which the folders of the keys of
            both releases are needed. Otherwise changed keys of private questions are not detected, because
            the folder of a release does not have them.

    Raises:
        InvalidValue: one of the folders is not a release.
        Refused: the releases have different datasets.
        NotFound: a folder of keys is missing.
    """
    manifests = [read_manifest(folder) for folder in (old, new)]
    datasets = [manifest["dataset"] for manifest in manifests]
    if datasets[0] != datasets[1]:
        raise Refused(
            f"The releases have different datasets: {old} has {datasets[0]!r}, {new} has {datasets[1]!r}. "
            "Choose two releases of one dataset."
        )
    old_records, new_records = (_read_records(folder, with_keys=with_keys) for folder in (old, new))
    common_ids = [question_id for question_id in new_records if question_id in old_records]
    changed: dict[str, list[str]] = {}
    changes: list[FieldChange] = []
    unchanged = 0
    for question_id in common_ids:
        before, after = old_records[question_id], new_records[question_id]
        changed_fields = [
            name for name in _FIELD_NOUNS if _normalize_value(before, name) != _normalize_value(after, name)
        ]
        if before["_side"] != after["_side"] and not with_keys:
            changed_fields = [
                name for name in changed_fields if name in ("stem", "options", "task", "difficulty")
            ]
        for name in changed_fields:
            changed.setdefault(name, []).append(question_id)
            changes.append(
                FieldChange(
                    question_id=question_id,
                    field=name,
                    before=_normalize_value(before, name),
                    after=_normalize_value(after, name),
                )
            )
        unchanged += not changed_fields
    return Comparison(
        old=manifests[0]["name"],
        new=manifests[1]["name"],
        added=tuple(question_id for question_id in new_records if question_id not in old_records),
        removed=tuple(question_id for question_id in old_records if question_id not in new_records),
        moved=tuple(
            question_id
            for question_id in common_ids
            if old_records[question_id]["_side"] != new_records[question_id]["_side"]
        ),
        changed={name: tuple(changed[name]) for name in _FIELD_NOUNS if name in changed},
        unchanged=unchanged,
        changes=tuple(changes),
    )


def _read_records(folder: Path, *, with_keys: bool) -> dict[str, dict[str, Any]]:
    records: dict[str, dict[str, Any]] = {}
    for name in ("gold.jsonl", PRIVATE):
        path = folder / name
        if not path.is_file():
            continue
        if with_keys and name == PRIVATE:
            path = keys_folder_of(folder) / KEYS
            if not path.is_file():
                raise NotFound(f"{path} is missing. Restore it, or compare without private keys.")
        with path.open("rb") as file:
            for line in file:
                record = msgspec.json.decode(line)
                record["_side"] = name
                records[record["id"]] = record
    return records


def _normalize_value(record: dict[str, Any], name: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value, or None if it is empty, so that missing and empty fields are equal."""
    return record.get(name) or None
