"""The audit trail as CSV or JSON Lines, line by line."""

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
    """Lines with their ends. CSV cells are harmless in a spreadsheet; JSON has the very values.

    ``withheld`` says that old, new and why were taken out for who exports.
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
    yield _taken(text)  # the header alone, where there is no entry


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
