"""Writes the audit trail as CSV or JSON Lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator

from accounts.service.audit_trail import VisibleEntry
from domain.audit import AuditEntry
from domain.table_cells import escape_formula

FORMATS = ("csv", "jsonl")
#: The fields of an entry by their names in the files.
_FIELDS = {{"action": "what", "reason": "why"}.get(field, field): field for field in AuditEntry.__slots__}


def format_audit_lines(entries: Iterable[VisibleEntry], *, file_format: str) -> Iterator[str]:
    """Write audit entries as text, one at a time.

    Args:
        entries: the entries, in order.
        file_format: "csv" (text cells protected against formulas) or "jsonl" (values as stored).

    Yields:
        Parts of the file with their line ends. ``withheld`` is true if old, new and reason were removed.
    """
    return _to_csv(entries) if file_format == "csv" else _to_jsonl(entries)


def _to_jsonl(entries: Iterable[VisibleEntry]) -> Iterator[str]:
    for visible in entries:
        values = {name: getattr(visible.entry, field) for name, field in _FIELDS.items()}
        values |= {"at": visible.entry.at.isoformat(timespec="microseconds"), "withheld": visible.withheld}
        yield json.dumps(values, ensure_ascii=False) + "\n"


def _to_csv(entries: Iterable[VisibleEntry]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow((*_FIELDS, "withheld"))
    for visible in entries:
        cells = [_format_cell(getattr(visible.entry, field)) for field in _FIELDS.values()]
        writer.writerow([*cells, int(visible.withheld)])
        yield _drain(buffer)
    yield _drain(buffer)  # the header alone, if there are no entries


def _format_cell(value: object) -> object:
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, str):
        return escape_formula(value)
    return value.isoformat(timespec="microseconds")  # type: ignore[attr-defined]  # the time of the entry


def _drain(buffer: io.StringIO) -> str:
    content = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return content
