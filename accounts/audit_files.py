"""Writes the audit trail as CSV or JSON Lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator

from accounts.service.audit_trail import ShownEntry
from domain.audit import AuditEntry
from domain.table_cells import harmless

FORMATS = ("csv", "jsonl")
_FIELDS = tuple(AuditEntry.__slots__)


def audit_lines(entries: Iterable[ShownEntry], *, file_format: str) -> Iterator[str]:
    """Write audit entries as text, one at a time.

    Args:
        entries: in order.
        file_format: "csv" (text cells protected against formulas) or "jsonl" (values as stored).

    Yields:
        Parts of the file with their line ends; ``withheld`` states that old, new and why were removed.
    """
    return _csv(entries) if file_format == "csv" else _json(entries)


def _json(entries: Iterable[ShownEntry]) -> Iterator[str]:
    for each in entries:
        plain = {name: getattr(each.entry, name) for name in _FIELDS}
        plain |= {"at": each.entry.at.isoformat(timespec="microseconds"), "withheld": each.withheld}
        yield json.dumps(plain, ensure_ascii=False) + "\n"


def _csv(entries: Iterable[ShownEntry]) -> Iterator[str]:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow((*_FIELDS, "withheld"))
    for each in entries:
        writer.writerow([*(_cell(getattr(each.entry, name)) for name in _FIELDS), int(each.withheld)])
        yield _taken(text)
    yield _taken(text)  # the header alone, if there are no entries


def _cell(value: object) -> object:
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, str):
        return harmless(value)
    return value.isoformat(timespec="microseconds")  # type: ignore[attr-defined]  # the time


def _taken(text: io.StringIO) -> str:
    written = text.getvalue()
    text.seek(0)
    text.truncate()
    return written
