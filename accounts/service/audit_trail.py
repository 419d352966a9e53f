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
from storage.audit.trail import BEGINS, last_number_and_hash
from storage.review.assignments import batches_of
from storage.review.shared_queues import pools_of

__all__ = ["AuditCheck", "AuditFilter", "ShownEntry", "audit_choices", "audit_entries", "export_audit",
           "verify_audit"]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEntry:
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


def audit_entries(
    db: Session, *, by: Person, wanted: AuditFilter, below: int | None = None, limit: int = 50
) -> tuple[ShownEntry, ...]:
    """The newest entries, at most ``limit``, with numbers less than ``below``; newest first.

    A person who also judges does not see the content of other people's entries about their own batches.
    """
    require(by, Action.SEE_AUDIT)
    found = audit_reading.newest_entries(db, wanted=wanted, below=below, limit=limit)
    return tuple(_shown(found, by, _blinded(db, by)))


def audit_choices(db: Session, *, by: Person) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The values to filter by: sign-in names and actions that occur in the trail."""
    require(by, Action.SEE_AUDIT)
    return audit_reading.values_of(db, column="person_name"), audit_reading.values_of(db, column="what")


def export_audit(db: Session, *, by: Person, wanted: AuditFilter) -> tuple[str, Iterator[ShownEntry]]:
    """The head of the whole trail, and the entries in order, withheld as in :func:`audit_entries`."""
    require(by, Action.SEE_AUDIT)
    entries = audit_reading.entries_in_order(db, wanted=wanted)
    return last_number_and_hash(db)[1], _shown(entries, by, _blinded(db, by))


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
    expected, previous, met_head, begun = 1, NO_ENTRY, head in (None, NO_ENTRY), None
    recorded: dict[int, int] = {}
    for entry in audit_reading.entries_in_order(db):
        fault = _fault(entry, expected=expected, previous=previous)
        if fault:
            return AuditCheck(entries=total, judgements=0, head=previous, number=entry.number, fault=fault)
        if entry.what == BEGINS:
            begun = entry.at
        if entry.what in judgements.JUDGING:
            recorded[_digest(entry.what, entry.person_id, entry.subject, entry.new)] = entry.number
        met_head = met_head or entry.hash == head
        expected, previous = expected + 1, entry.hash
        if expected % 1000 == 0:
            progress(expected, total)
    checked = AuditCheck(entries=total, judgements=0, head=previous)
    if not met_head:
        return replace(
            checked,
            fault="No entry has the head that was noted. Entries were taken away at the end, or the whole "
            "trail was written anew.",
        )
    return _hold_against(db, checked, recorded, begun)


def _fault(entry: AuditEntry, *, expected: int, previous: str) -> str | None:
    if entry.number != expected:
        missing = (
            f"entry {expected} is" if entry.number == expected + 1 else f"entries from {expected} on are"
        )
        return f"{missing} missing before it"
    if entry.previous_hash != previous:
        return "it does not follow the entry before: that one was altered or replaced"
    if entry.hash != entry.right_hash():
        return "its content is not what was written: it was altered"
    return None


def _hold_against(
    db: Session, checked: AuditCheck, recorded: dict[int, int], begun: datetime | None
) -> AuditCheck:
    """Check that every judgement equals its audit entry, and that every recorded judgement still exists."""
    count, stranger = 0, None
    with closing(judgements.saved_judgements(db)) as all_saved:
        for saved in all_saved:
            count += 1
            digest = _digest(saved.what, saved.person_id, saved.subject, canonical(saved.new))
            if recorded.pop(digest, None) is None and (begun is None or saved.at > begun):
                stranger = saved
                break
    if stranger is not None:
        return replace(
            checked,
            judgements=count,
            fault=f"A saved judgement is not as the trail has it: {stranger.what}, {stranger.subject}, by "
            f"person number {stranger.person_id}. Its row was altered, or added without an entry.",
        )
    if recorded:
        number = min(recorded.values())
        return replace(
            checked,
            judgements=count,
            number=number,
            fault="the judgement that it records is not saved any more, or says something else",
        )
    return replace(checked, judgements=count)


def _without_nulls(new: str | None) -> str | None:
    """The recorded values without empty fields, because some fields may be newer than the entry."""
    if new is None or ":null" not in new:
        return new
    return canonical({name: value for name, value in json.loads(new).items() if value is not None})


def _digest(what: str, person_id: int | None, subject: str, new: str | None) -> int:
    text = "\x00".join((what, str(person_id), subject, _without_nulls(new) or ""))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _blinded(db: Session, by: Person) -> tuple[str, ...]:
    """Prefixes of the subjects whose details are withheld: questions that this person judges."""
    if not by.id or not by.may(Action.JUDGE):
        return ()
    mine = {*batches_of(db, person_id=by.id), *pools_of(db, person_id=by.id)}
    return audit_reading.batch_prefixes(sorted(mine))


def _shown(
    entries: Iterator[AuditEntry] | tuple[AuditEntry, ...], by: Person, blinded: tuple[str, ...]
) -> Iterator[ShownEntry]:
    for entry in entries:
        withheld = entry.person_id != by.id and entry.subject.startswith(blinded) if blinded else False
        bare = replace(entry, old=None, new=None, why="") if withheld else entry
        yield ShownEntry(entry=bare, withheld=withheld)
