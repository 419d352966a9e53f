"""The audit trail: what was done, by whom, when and why, as a chain of hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Set
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, datetime

#: The previous hash of the first entry.
NO_ENTRY = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditHead:
    """Number and hash of an entry. Whoever has both can prove that no entry up to it was rewritten."""

    number: int
    hash: str

    def __str__(self) -> str:
        return f"entry {self.number}, {self.hash}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One action in the audit trail.

    ``number`` counts from 1 without gaps and defines the order of entries; ``at`` does not. ``person_id``
    is None for the command line. ``person_name`` is the sign-in name at that time. ``old`` and ``new`` are
    the values before and after as canonical JSON, or None. ``previous_hash`` is the ``hash`` of the preceding
    entry, :data:`NO_ENTRY` for the first one. The constructor does not check ``hash``: compare it with
    :meth:`compute_hash`.
    """

    number: int
    at: datetime
    person_id: int | None
    person_name: str
    action: str
    subject: str
    old: str | None
    new: str | None
    reason: str
    previous_hash: str
    hash: str

    def compute_hash(self) -> str:
        """Compute the hash that the entry must have: the SHA-256 of its content as 64 hexadecimal digits."""
        return entry_hash(
            number=self.number,
            at=self.at,
            person_id=self.person_id,
            person_name=self.person_name,
            what=self.action,
            subject=self.subject,
            old=self.old,
            new=self.new,
            why=self.reason,
            previous_hash=self.previous_hash,
        )


def entry_hash(
    *,
    number: int,
    at: datetime,
    person_id: int | None,
    person_name: str,
    what: str,
    subject: str,
    old: str | None,
    new: str | None,
    why: str,
    previous_hash: str,
) -> str:
    """Compute the hash of an audit entry: the SHA-256 of a canonical JSON list of the arguments in UTF-8.

    The arguments have the names of the table's columns, because callers pass the values of a row by column.

    Args:
        number: the number of the entry, from 1.
        at: the time of the action, with time zone. It is hashed in UTC with microseconds, as both databases
            store it.
        person_id: the id of the acting person; None for the command line.
        person_name: the sign-in name of the acting person.
        what: the action as a short verb phrase.
        subject: the object of the action.
        old: the value before as canonical JSON, or None.
        new: the value after as canonical JSON, or None.
        why: the person's reason, if one was given.
        previous_hash: the hash of the preceding entry; :data:`NO_ENTRY` for the first entry.

    Returns:
        64 lower-case hexadecimal digits.
    """
    timestamp = at.astimezone(UTC).isoformat(timespec="microseconds")
    content = [number, timestamp, person_id, person_name, what, subject, old, new, why, previous_hash]
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def canonical(value: object) -> str:
    """Convert a value to canonical JSON: sorted keys, no spaces, sets as sorted lists, times in UTC.

    Args:
        value: a JSON value, time, set, mapping or dataclass.

    Returns:
        The text; equal values have equal texts. Times have microseconds.

    Raises:
        ValueError: the value contains NaN or infinity.
        TypeError: the value has another type.

    >>> canonical({"b": {3, 1}, "a": None})
    '{"a":null,"b":[1,3]}'
    """
    return json.dumps(
        value,
        default=_to_json_value,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    )


def _to_json_value(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, Set):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(
        f"{type(value).__name__} can't be converted to JSON for the audit trail; use plain values"
    )
