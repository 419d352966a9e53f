"""Reads, exports and verifies the audit trail."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from domain.audit import NO_ENTRY, AuditEntry, canonical
from domain.people import Action, Person, require
from storage.audit import entries as audit_reading
from storage.audit import judgements
from storage.audit.entries import AuditFilter
from storage.audit.trail import BEGIN_TRAIL, load_last_number_and_hash
from storage.review.assignments import list_batches_of_person
from storage.review.shared_queues import list_pools_of_person

__all__ = [
    "AuditCheck",
    "AuditFilter",
    "VisibleEntry",
    "export_audit",
    "list_audit_choices",
    "list_audit_entries",
    "verify_audit",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleEntry:
    """An entry as one person may see it; if ``withheld``, old, new and why were removed."""

    entry: AuditEntry
    withheld: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCheck:
    """The result of verification: ``fault`` as a sentence, None if the trail is intact.

    ``entries`` and ``judgements`` were counted. ``number`` is that of the first faulty entry, None if there
    is none or the fault is elsewhere. ``head`` is the hash of the newest entry: noted elsewhere, it shows
    later whether entries were removed from the end.
    """

    entries: int
    judgements: int
    head: str
    number: int | None = None
    fault: str | None = None


def list_audit_entries(
    db: Session, *, by: Person, entry_filter: AuditFilter, below: int | None = None, limit: int = 50
) -> tuple[VisibleEntry, ...]:
    """The newest entries, at most ``limit``, with numbers less than ``below``; newest first.

    A person who also judges does not see the content of other people's entries about their own batches.
    """
    require(by, Action.SEE_AUDIT)
    entries = audit_reading.list_newest_entries(db, criteria=entry_filter, before_number=below, limit=limit)
    return tuple(_redact_entries(entries, by, _list_blinded_prefixes(db, by)))


def list_audit_choices(db: Session, *, by: Person) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The values to filter by: sign-in names and actions that occur in the trail."""
    require(by, Action.SEE_AUDIT)
    return audit_reading.list_values(db, column="person_name"), audit_reading.list_values(db, column="what")


def export_audit(db: Session, *, by: Person, entry_filter: AuditFilter) -> tuple[str, Iterator[VisibleEntry]]:
    """The head of the whole trail, and the entries in order, withheld as in :func:`list_audit_entries`."""
    require(by, Action.SEE_AUDIT)
    entries = audit_reading.iterate_entries(db, criteria=entry_filter)
    return load_last_number_and_hash(db)[1], _redact_entries(entries, by, _list_blinded_prefixes(db, by))


def verify_audit(
    db: Session,
    *,
    by: Person,
    head: str | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> AuditCheck:
    """Verify the chain from the first entry to the last, and compare every saved judgement with its entry.

    Args:
        db: a session that reads.
        by: who asks.
        head: a head that was noted earlier, which must still be in the chain; None for no such check.
        progress: called with the number of entries done and of all entries.

    Returns:
        The first fault found; verification stops there.
    """
    require(by, Action.SEE_AUDIT)
    total = audit_reading.count_entries(db)
    expected, previous, head_found, trail_began_at = 1, NO_ENTRY, head in (None, NO_ENTRY), None
    recorded_judgements: dict[int, int] = {}
    for entry in audit_reading.iterate_entries(db):
        fault = _find_fault(entry, expected=expected, previous=previous)
        if fault:
            return AuditCheck(entries=total, judgements=0, head=previous, number=entry.number, fault=fault)
        if entry.what == BEGIN_TRAIL:
            trail_began_at = entry.at
        if entry.what in judgements.JUDGEMENT_ACTIONS:
            recorded_judgements[_digest(entry.what, entry.person_id, entry.subject, entry.new)] = entry.number
        head_found = head_found or entry.hash == head
        expected, previous = expected + 1, entry.hash
        if expected % 1000 == 0:
            progress(expected, total)
    result = AuditCheck(entries=total, judgements=0, head=previous)
    if not head_found:
        return replace(
            result,
            fault="No entry has the head that was noted. Entries were taken away at the end, or the whole "
            "trail was written anew.",
        )
    return _compare_judgements(db, result, recorded_judgements, trail_began_at)


def _find_fault(entry: AuditEntry, *, expected: int, previous: str) -> str | None:
    if entry.number != expected:
        missing = (
            f"entry {expected} is" if entry.number == expected + 1 else f"entries from {expected} on are"
        )
        return f"{missing} missing before it"
    if entry.previous_hash != previous:
        return "it does not follow the entry before: that one was altered or replaced"
    if entry.hash != entry.compute_hash():
        return "its content is not what was written: it was altered"
    return None


def _compare_judgements(
    db: Session, result: AuditCheck, recorded_judgements: dict[int, int], trail_began_at: datetime | None
) -> AuditCheck:
    """Check that every judgement equals its audit entry, and that every recorded judgement still exists."""
    count, mismatch = 0, None
    with closing(judgements.iterate_saved_judgements(db)) as saved_rows:
        for judgement in saved_rows:
            count += 1
            digest = _digest(judgement.what, judgement.person_id, judgement.subject, canonical(judgement.new))
            if recorded_judgements.pop(digest, None) is None and (
                trail_began_at is None or judgement.at > trail_began_at
            ):
                mismatch = judgement
                break
    if mismatch is not None:
        return replace(
            result,
            judgements=count,
            fault=f"A saved judgement is not as the trail has it: {mismatch.what}, {mismatch.subject}, by "
            f"person number {mismatch.person_id}. Its row was altered, or added without an entry.",
        )
    if recorded_judgements:
        number = min(recorded_judgements.values())
        return replace(
            result,
            judgements=count,
            number=number,
            fault="the judgement that it records is not saved any more, or says something else",
        )
    return replace(result, judgements=count)


def _without_nulls(new: str | None) -> str | None:
    """The recorded values without empty fields, because some fields may be newer than the entry."""
    if new is None or ":null" not in new:
        return new
    return canonical({name: value for name, value in json.loads(new).items() if value is not None})


def _digest(what: str, person_id: int | None, subject: str, new: str | None) -> int:
    text = "\x00".join((what, str(person_id), subject, _without_nulls(new) or ""))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _list_blinded_prefixes(db: Session, by: Person) -> tuple[str, ...]:
    """Prefixes of the subjects whose details are withheld: questions that this person judges."""
    if not by.id or not by.may(Action.JUDGE):
        return ()
    batch_ids = {*list_batches_of_person(db, person_id=by.id), *list_pools_of_person(db, person_id=by.id)}
    return audit_reading.question_subject_prefixes(sorted(batch_ids))


def _redact_entries(
    entries: Iterator[AuditEntry] | tuple[AuditEntry, ...], by: Person, blinded_prefixes: tuple[str, ...]
) -> Iterator[VisibleEntry]:
    for entry in entries:
        withheld = (
            entry.person_id != by.id and entry.subject.startswith(blinded_prefixes)
            if blinded_prefixes
            else False
        )
        visible = replace(entry, old=None, new=None, why="") if withheld else entry
        yield VisibleEntry(entry=visible, withheld=withheld)
