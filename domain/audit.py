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
    """Number and hash of an entry. Its holder can prove that the trail up to it was not rewritten."""

    number: int
    hash: str

    def __str__(self) -> str:
        return f"entry {self.number}, {self.hash}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One action in the audit trail.

    ``number`` counts from 1 without a gap and defines the order; the clock does not. ``person_id`` is None
    for the command line; ``person_name`` is the sign-in name at that time. ``old`` and ``new`` are canonical
    JSON texts, None if there was or is nothing. ``previous_hash`` is the ``hash`` of the entry before,
    :data:`NO_ENTRY` for the first. An entry is not checked when it is made: compare ``hash`` with
    :meth:`compute_hash`.
    """

    number: int
    at: datetime
    person_id: int | None
    person_name: str
    what: str
    subject: str
    old: str | None
    new: str | None
    why: str
    previous_hash: str
    hash: str

    def compute_hash(self) -> str:
        """The hash that the entry must have: SHA-256 of its content, as 64 hexadecimal digits."""
        return entry_hash(
            number=self.number,
            at=self.at,
            person_id=self.person_id,
            person_name=self.person_name,
            what=self.what,
            subject=self.subject,
            old=self.old,
            new=self.new,
            why=self.why,
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
    """The hash of an audit entry: SHA-256 of a canonical JSON list of the arguments, in UTF-8.

    Args:
        number: of the entry, from 1.
        at: with time zone; hashed in UTC with six decimals of the second, as both databases store it.
        person_id: None for the command line.
        person_name: sign-in name.
        what: the action.
        subject: what it was done to.
        old: canonical JSON text before, None if there was nothing.
        new: canonical JSON text after, None if there is nothing.
        why: the reason.
        previous_hash: of the entry before, :data:`NO_ENTRY` for the first.

    Returns:
        64 lower-case hexadecimal digits.
    """
    timestamp = at.astimezone(UTC).isoformat(timespec="microseconds")
    content = [number, timestamp, person_id, person_name, what, subject, old, new, why, previous_hash]
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def canonical(value: object) -> str:
    """Canonical JSON: sorted keys, no spaces, sets as sorted lists, times in UTC with microseconds.

    Args:
        value: a JSON value, time, set, mapping or dataclass.

    Returns:
        Equal values give equal text.

    Raises:
        ValueError: NaN or infinity.
        TypeError: any other value.

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
    raise TypeError(f"{type(value).__name__} has no form in the audit trail; give plain values")
