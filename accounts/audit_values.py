"""The values of an audit entry as fields with text, instead of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from domain.audit import AuditEntry

_MAX_LIST = 12  # the maximum number of listed items; for longer lists the total is added
_VALUE_FIELD = "value"  # the field name for a value that is not an object


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditField:
    """One field of an entry. ``before`` is None for an added field, ``after`` is None for a removed field."""

    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        """The field as "name: value", or as "name: before → after" if it had a value before."""
        if self.before is None or self.after is None:
            return f"{self.name}: {self.after if self.before is None else f'{self.before} → removed'}"
        return f"{self.name}: {self.before} → {self.after}"


def list_audit_fields(entry: AuditEntry) -> list[AuditField]:
    """Return the fields that the entry added, removed or changed; all fields if it changed none.

    The name of a nested field is its path, such as "plan seed".
    """
    before, after = _flatten(entry.old), _flatten(entry.new)
    fields = [
        AuditField(name=name, before=before.get(name), after=after.get(name)) for name in {**before, **after}
    ]
    return [field for field in fields if field.before != field.after] or fields


def _flatten(text: str | None) -> dict[str, str]:
    if text is None:
        return {}
    value = json.loads(text)
    return dict(_iterate_fields(value, ()) if isinstance(value, dict) else [(_VALUE_FIELD, _format(value))])


def _iterate_fields(value: dict[str, object], path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for key, item in value.items():
        item_path = (*path, key.replace("_", " "))
        if isinstance(item, dict) and item:
            yield from _iterate_fields(item, item_path)
        else:
            yield " ".join(item_path), _format(item)


def _format(value: object) -> str:
    if value is None or value in ("", [], {}):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        shown = ", ".join(_format(item) for item in value[:_MAX_LIST])
        return f"{shown}, … ({len(value):,} in all)" if len(value) > _MAX_LIST else shown
    if isinstance(value, dict):
        return "; ".join(f"{name} {text}" for name, text in _iterate_fields(value, ()))
    return str(value)
