"""Reads, exports and verifies the audit trail."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from sqlmodel import Session

from domain.audit import NO_ENTRY, AuditEntry, canonical
from domain.errors import NotNow
from domain.people import Action, Person, require
from storage.audit import entries as entry_storage
from storage.audit import judgements
from storage.audit.checkpoints import (
    AccountedChanges,
    Checkpoint,
    find_last_checkpoint,
    find_unaccounted_changes,
)
from storage.audit.contents import ADJUDICATE
from storage.audit.entries import AuditFilter
from storage.audit.table_digests import DigestFileInvalid
from storage.audit.trail import BEGIN_TRAIL, load_last_number_and_hash
from storage.review.assignments import list_batches_of_person
from storage.review.shared_queues import list_shared_queues_of_person
from storage.schema_check import find_schema_differences
from storage.workspace import Workspace, current_workspace

if TYPE_CHECKING:  # the module imports a library of ciphers, which the app's start does not need
    from storage.audit.deposits import Deposit, Deposits

__all__ = [
    "AuditCheck",
    "AuditFilter",
    "VisibleEntry",
    "describe_checkpoint",
    "describe_unanchored",
    "export_audit",
    "list_audit_choices",
    "list_audit_entries",
    "verify_audit",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class VisibleEntry:
    """An entry as one person may see it. If ``withheld`` is true, old, new and reason were removed."""

    entry: AuditEntry
    withheld: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCheck:
    """The result of verification: ``faults`` as sentences, empty if everything agrees.

    ``entries`` and ``judgements`` are their numbers. ``number`` is the number of the entry with the first
    fault, None if the fault is elsewhere. ``head`` is the hash of the last entry of the intact chain.
    ``checked_through`` is the number of the newest entry, 0 if the chain is broken. ``checkpoint_at`` is the
    time of the last checkpoint; None if there is none, so that only judgements were compared with the trail.
    ``anchored_at`` is the time of the newest entry that a deposit or a noted head confirms.
    ``unanchored_since`` is the time of the first entry after it, None if there is none; entries from then on
    may have been rewritten or removed without a trace.
    """

    entries: int
    judgements: int
    head: str
    number: int | None = None
    faults: tuple[str, ...] = ()
    checked_through: int = 0
    checkpoint_at: datetime | None = None
    anchored_at: datetime | None = None
    unanchored_since: datetime | None = None

    @property
    def fault(self) -> str | None:
        """The first fault; None if there is none."""
        return self.faults[0] if self.faults else None


def list_audit_entries(
    db: Session, *, by: Person, entry_filter: AuditFilter, below: int | None = None, limit: int = 50
) -> tuple[VisibleEntry, ...]:
    """Return at most ``limit`` entries with numbers below ``below``, the newest first.

    A person who also judges sees no content of other people's entries about the person's own batches.
    """
    require(by, Action.SEE_AUDIT)
    entries = entry_storage.list_newest_entries(db, criteria=entry_filter, before_number=below, limit=limit)
    return tuple(_redact_entries(entries, by, _list_blinded_prefixes(db, by)))


def list_audit_choices(db: Session, *, by: Person) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the values to filter by: the sign-in names and the actions that occur in the trail."""
    require(by, Action.SEE_AUDIT)
    return entry_storage.list_values(db, field="person_name"), entry_storage.list_values(db, field="action")


def export_audit(db: Session, *, by: Person, entry_filter: AuditFilter) -> tuple[str, Iterator[VisibleEntry]]:
    """Return the head of the trail and the entries in order, with the restrictions of list_audit_entries."""
    require(by, Action.SEE_AUDIT)
    entries = entry_storage.iterate_entries(db, criteria=entry_filter)
    return load_last_number_and_hash(db)[1], _redact_entries(entries, by, _list_blinded_prefixes(db, by))


def verify_audit(
    db: Session,
    *,
    by: Person,
    head: str | None = None,
    deposits: Deposits | None = None,
    workspace: Workspace | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> AuditCheck:
    """Verify the trail, and compare schema, judgements and the covered tables with it.

    The chain is followed from the first entry to the last. Every judgement must equal its entry. Every row of
    a covered table must be as in the last checkpoint, unless an entry since then accounts for the difference.

    Args:
        db: a read-only session.
        by: the person who acts.
        head: a head that was noted earlier, which must still be in the chain; None to skip this check.
        deposits: the heads that were deposited outside the workspace; all of them must be in the chain.
        workspace: the workspace with the digests of checkpoints; None for the configured workspace.
        progress: a function that is called with the numbers of verified entries and of all entries.

    Returns:
        The result. After a fault of the chain nothing else is compared, so it is the only fault.
    """
    require(by, Action.SEE_AUDIT)
    total = entry_storage.count_entries(db)
    checkpoint = find_last_checkpoint(db)
    anchors = _Anchors(head, deposits)
    expected_number, previous_hash, trail_began_at = 1, NO_ENTRY, None
    entry_numbers_by_digest: dict[int, int] = {}
    changes = AccountedChanges()
    for entry in entry_storage.iterate_entries(db):
        fault = _find_fault(entry, expected_number=expected_number, previous_hash=previous_hash)
        if fault:
            return AuditCheck(
                entries=total, judgements=0, head=previous_hash, number=entry.number, faults=(fault,)
            )
        if entry.action == BEGIN_TRAIL:
            trail_began_at = entry.at
        if entry.action in judgements.JUDGEMENT_ACTIONS:
            entry_numbers_by_digest[_entry_digest(entry)] = entry.number
        if checkpoint is not None and entry.number > checkpoint.through:
            changes.add(entry)
        anchors.add(entry)
        expected_number, previous_hash = expected_number + 1, entry.hash
        if expected_number % 1000 == 1:
            progress(expected_number - 1, total)
    result = AuditCheck(
        entries=total,
        judgements=0,
        head=previous_hash,
        faults=anchors.find_faults(),
        checked_through=expected_number - 1,
        checkpoint_at=None if checkpoint is None else checkpoint.at,
        anchored_at=anchors.anchored_at,
        unanchored_since=anchors.unanchored_since,
    )
    result = _compare_judgements(db, result, entry_numbers_by_digest, trail_began_at)
    faults = [
        *result.faults,
        *(f"In the database, {difference}." for difference in find_schema_differences(db.connection())),
    ]
    if checkpoint is not None:
        faults += _compare_tables(db, workspace or current_workspace(), checkpoint, changes)
    return replace(result, faults=tuple(faults))


def describe_checkpoint(check: AuditCheck) -> str:
    """Return a sentence about the last checkpoint."""
    if check.checkpoint_at is None:
        return (
            "There is no checkpoint yet, so only judgements were compared with the trail. Take one with "
            "`cli.py audit checkpoint`."
        )
    return (
        f"The covered tables match the checkpoint of {check.checkpoint_at:%Y-%m-%d %H:%M} UTC and the "
        "entries since then."
    )


def describe_unanchored(check: AuditCheck) -> str | None:
    """Return a sentence about entries that no head outside the workspace confirms; None if there are none."""
    if check.unanchored_since is None:
        return None
    since = f"Unanchored since {check.unanchored_since:%Y-%m-%d %H:%M:%S} UTC"
    if check.anchored_at is None:
        return (
            f"{since}, the first entry: nothing outside the workspace confirms the trail. Deposit its head "
            "(OVERREAD_AUDIT_DEPOSIT), or store it and state it next time with --head."
        )
    return f"{since}: nothing outside the workspace confirms later entries."


class _Anchors:
    """Compares entries with heads that are stored elsewhere: a noted head, and deposited ones."""

    def __init__(self, head: str | None, deposits: Deposits | None) -> None:
        self._noted_head = None if head == NO_ENTRY else head
        self._faults: list[str] = []
        self._deposits: dict[int, list[Deposit]] = {}
        self.anchored_at: datetime | None = None
        self.unanchored_since: datetime | None = None
        try:
            loaded_deposits = deposits.load_all() if deposits else ()
        except NotNow as error:
            self._faults.append(str(error))
            loaded_deposits = ()
        for deposit in loaded_deposits:
            if deposit.fault is not None:
                self._faults.append(f"The deposit {deposit.name} cannot be trusted: {deposit.fault}.")
            else:
                self._deposits.setdefault(deposit.number, []).append(deposit)

    def add(self, entry: AuditEntry) -> None:
        """Compare the next entry of the chain."""
        is_confirmed = False
        if entry.hash == self._noted_head:
            self._noted_head, is_confirmed = None, True
        for deposit in self._deposits.pop(entry.number, ()):
            if deposit.head == entry.hash:
                is_confirmed = True
            else:
                self._faults.append(
                    f"The deposit {deposit.name} of {deposit.at:%Y-%m-%d %H:%M} UTC has another hash for "
                    f"entry {entry.number}: this entry or an earlier one was rewritten."
                )
        if is_confirmed:
            self.anchored_at, self.unanchored_since = entry.at, None
        elif self.unanchored_since is None:
            self.unanchored_since = entry.at

    def find_faults(self) -> tuple[str, ...]:
        """Return what contradicts the chain; call this after its last entry."""
        faults = self._faults
        if self._noted_head is not None:
            faults.append(
                "No entry has the stated head. Entries were removed at the end, or the whole trail was "
                "rewritten."
            )
        for number, deposits in sorted(self._deposits.items()):
            faults.append(
                f"Entry {number} of the deposit {deposits[0].name} is missing: entries were removed at the "
                "end, or an older backup was restored."
            )
        return tuple(faults)


def _compare_tables(
    db: Session, workspace: Workspace, checkpoint: Checkpoint, changes: AccountedChanges
) -> list[str]:
    differences = find_unaccounted_changes(db, workspace, checkpoint=checkpoint, changes=changes)
    origin = f"Differs from the checkpoint of {checkpoint.at:%Y-%m-%d %H:%M} UTC without an entry"
    try:
        return [f"{origin}: {difference}." for difference in differences]
    except DigestFileInvalid as error:
        fault = (
            f"The tables cannot be compared with the checkpoint of {checkpoint.at:%Y-%m-%d %H:%M} UTC: "
            f"{error}. Restore that file from a backup."
        )
        return [fault]


def _find_fault(entry: AuditEntry, *, expected_number: int, previous_hash: str) -> str | None:
    if entry.number != expected_number:
        missing = (
            f"entry {expected_number} is"
            if entry.number == expected_number + 1
            else f"entries from {expected_number} on are"
        )
        return f"{missing} missing before it"
    if entry.previous_hash != previous_hash:
        return "it does not follow the previous entry, which was changed or replaced"
    if entry.hash != entry.compute_hash():
        return "its content was changed"
    return None


def _compare_judgements(
    db: Session, result: AuditCheck, entry_numbers_by_digest: dict[int, int], trail_began_at: datetime | None
) -> AuditCheck:
    """Check that every judgement equals its audit entry, and that every recorded judgement still exists."""
    count, faults = 0, list(result.faults)
    for judgement in judgements.iterate_saved_judgements(db):
        count += 1
        digest = _digest(
            judgement.action,
            judgement.person_id,
            judgement.subject,
            canonical(judgement.new),
            judgement.reason,
        )
        if entry_numbers_by_digest.pop(digest, None) is None and (
            trail_began_at is None or judgement.at > trail_began_at
        ):
            faults.append(
                f"A saved judgement differs from the trail: {judgement.action}, {judgement.subject}, by "
                f"person number {judgement.person_id}. Its row was changed, or added without an entry."
            )
    number = min(entry_numbers_by_digest.values(), default=None)
    if number is not None and not faults:
        result = replace(result, number=number)
        faults.append("the judgement that it records was deleted or changed")
    elif entry_numbers_by_digest:
        faults += [
            f"Entry {number}: the judgement that it records was deleted or changed."
            for number in sorted(entry_numbers_by_digest.values())
        ]
    return replace(result, judgements=count, faults=tuple(faults))


def _without_nulls(new: str | None) -> str | None:
    """Return the recorded values without empty fields, because some fields may be newer than the entry."""
    if new is None or ":null" not in new:
        return new
    return canonical({name: value for name, value in json.loads(new).items() if value is not None})


def _entry_digest(entry: AuditEntry) -> int:
    reason = entry.reason if entry.action == ADJUDICATE else None
    return _digest(entry.action, entry.person_id, entry.subject, entry.new, reason)


def _digest(action: str, person_id: int | None, subject: str, new: str | None, reason: str | None) -> int:
    text = "\x00".join((action, str(person_id), subject, _without_nulls(new) or "", reason or ""))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _list_blinded_prefixes(db: Session, by: Person) -> tuple[str, ...]:
    """Return prefixes of the subjects whose details are withheld: questions of the person's own batches."""
    if not by.id or not by.may(Action.JUDGE):
        return ()
    batch_ids = {
        *list_batches_of_person(db, person_id=by.id),
        *list_shared_queues_of_person(db, person_id=by.id),
    }
    return entry_storage.question_subject_prefixes(sorted(batch_ids))


def _redact_entries(
    entries: Iterator[AuditEntry] | tuple[AuditEntry, ...], by: Person, blinded_prefixes: tuple[str, ...]
) -> Iterator[VisibleEntry]:
    for entry in entries:
        withheld = (
            entry.person_id != by.id and entry.subject.startswith(blinded_prefixes)
            if blinded_prefixes
            else False
        )
        visible = replace(entry, old=None, new=None, reason="") if withheld else entry
        yield VisibleEntry(entry=visible, withheld=withheld)
