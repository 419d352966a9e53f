"""Looking at the audit trail, and proving that nobody has changed it."""

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
    """An entry as one person may see it; where ``withheld``, old, new and why were taken out."""

    entry: AuditEntry
    withheld: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCheck:
    """What verifying found: ``fault`` in words, None where all is as it was written.

    ``number`` is the first broken entry's, None without one or where the fault is in no entry. ``head`` is
    the hash of the newest entry: who keeps it elsewhere can tell later that none was taken away at the end.
    """

    entries: int
    judgements: int
    head: str
    number: int | None = None
    fault: str | None = None


def audit_entries(
    db: Session, *, by: Person, wanted: AuditFilter, below: int | None = None, limit: int = 50
) -> tuple[ShownEntry, ...]:
    """At most ``limit`` entries with numbers under ``below``, the newest first.

    Who judges too does not see what others said of questions of their own batches.
    """
    require(by, Action.SEE_AUDIT)
    found = audit_reading.newest_entries(db, wanted=wanted, below=below, limit=limit)
    return tuple(_shown(found, by, _blinded(db, by)))


def audit_choices(db: Session, *, by: Person) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Who occurs in the trail (sign-in names), and which actions."""
    require(by, Action.SEE_AUDIT)
    return audit_reading.values_of(db, column="person_name"), audit_reading.values_of(db, column="what")


def export_audit(db: Session, *, by: Person, wanted: AuditFilter) -> tuple[str, Iterator[ShownEntry]]:
    """(the head of the whole trail, the entries in order); withheld as :func:`audit_entries` does."""
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
    """Follow the chain from the first entry to the last, and hold every saved judgement against its entry.

    Args:
        db: a session that reads.
        by: who asks.
        head: a head that was noted earlier; it must still be in the chain.
        progress: is told how many entries of how many are done.
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
    """Every judgement has its entry and says the same, and no entry has lost its judgement."""
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
    """What was recorded without the fields that had no value: an entry is older than some of the fields."""
    if new is None or ":null" not in new:
        return new
    return canonical({name: value for name, value in json.loads(new).items() if value is not None})


def _digest(what: str, person_id: int | None, subject: str, new: str | None) -> int:
    text = "\x00".join((what, str(person_id), subject, _without_nulls(new) or ""))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _blinded(db: Session, by: Person) -> tuple[str, ...]:
    """How the subjects begin whose details are not for this person: questions that are theirs to judge."""
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
