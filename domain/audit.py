"""The audit trail: what was done, by whom, when and why; each entry is chained to the one before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Set
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, datetime

#: What the first entry names as the hash of the one before it.
NO_ENTRY = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One thing that was done. ``number`` counts from 1 without a gap; it, not the clock, is the order.

    ``person_id`` is None for the command line; ``person_name`` is the sign-in name at that time. ``old``
    and ``new`` are canonical JSON texts, None where there was or is nothing. ``previous_hash`` is the
    ``hash`` of the entry before, :data:`NO_ENTRY` at the first.
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

    def right_hash(self) -> str:
        """SHA-256 over the content and the hash of the entry before, as 64 hexadecimal digits."""
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
    """SHA-256 of the entry as one canonical JSON list in the order of the arguments, in UTF-8.

    The time is in UTC with six decimals of the second, so that both databases give back the same.
    """
    moment = at.astimezone(UTC).isoformat(timespec="microseconds")
    content = [number, moment, person_id, person_name, what, subject, old, new, why, previous_hash]
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def canonical(value: object) -> str:
    """One JSON spelling per value: sorted keys, no spaces, sorted sets, times in UTC with microseconds.

    Args:
        value: what JSON knows, and times, sets, mappings and dataclasses.

    Raises:
        ValueError: NaN or infinity.
        TypeError: any other value.

    >>> canonical({"b": {3, 1}, "a": None})
    '{"a":null,"b":[1,3]}'
    """
    return json.dumps(
        value, default=_plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, Set):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} has no form in the audit trail; give plain values")
