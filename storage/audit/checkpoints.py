"""Checkpoints of the audit trail: entries with digests of the covered tables, and the changes after them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlmodel import Session

from domain.audit import AuditEntry
from storage.audit.contents import TAKE_CHECKPOINT
from storage.audit.coverage import ANY, COVERED
from storage.audit.table_digests import RowDifference, find_row_differences
from storage.rows.audit import AuditRow
from storage.workspace import Workspace

_SUBJECT_PART = re.compile(r"[a-z]+ \S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The last checkpoint of a trail.

    ``through`` is the number of the last entry before the digests were computed; only later entries account
    for changes. ``digests`` is the SHA-256 of its file of digests.
    """

    number: int
    at: datetime
    through: int
    digests: str


def find_last_checkpoint(db: Session) -> Checkpoint | None:
    """Return the newest checkpoint; None if none was taken."""
    row = db.execute(
        select(AuditRow.number, AuditRow.at, AuditRow.new)
        .where(AuditRow.what == TAKE_CHECKPOINT)
        .order_by(AuditRow.number.desc())
        .limit(1)
    ).first()
    if row is None:
        return None
    new = json.loads(row.new)
    return Checkpoint(number=row.number, at=row.at, through=new["through"], digests=new["digests"])


class AccountedChanges:
    """The entries since a checkpoint, as actions with the parts of their subjects."""

    def __init__(self) -> None:
        self._entries: set[tuple[str, str]] = set()
        self._roles: dict[str, frozenset[str]] = {}  # the last recorded roles by subject, such as "person 7"

    def add(self, entry: AuditEntry) -> None:
        """Add an entry. An entry about "batch 3 question 17" is also about "batch 3" and "question 17"."""
        parts = _SUBJECT_PART.findall(entry.subject)
        if entry.action == "queue by rule" and entry.new is not None:
            parts.append(f"batch {json.loads(entry.new).get('batch')}")
        if entry.action in ("add person", "change roles") and entry.new is not None and parts:
            new = json.loads(entry.new)
            self._roles[parts[0]] = frozenset(new["roles"] if isinstance(new, dict) else new)
        self._entries.update((entry.action, subject) for subject in (ANY, entry.subject, *parts))

    def account_for(self, difference: RowDifference) -> bool:
        """Return whether an entry accounts for the difference."""
        table = COVERED.get(difference.table)
        if table is None:
            return False
        subject_templates = table.accounted_by
        if table.changeable and not (difference.added or difference.deleted):
            if not set(difference.columns) <= table.changeable:
                return False
            subject_templates = table.changed_by
        elif not (difference.added or (table.may_vanish if difference.deleted else table.may_change)):
            return False
        if difference.table == "person_role":  # the entry contains the roles, which can be compared
            roles = self._roles.get(f"person {difference.values['person_id']}")
            return roles is not None and (difference.values["role"] in roles) is difference.added
        for action, template in subject_templates.items():
            try:
                subject = template.format_map(difference.values)
            except KeyError:  # only the primary key of a deleted row is known
                subject = ANY
            if (action, subject) in self._entries:
                return True
        return False


def find_unaccounted_changes(
    db: Session, workspace: Workspace, *, checkpoint: Checkpoint, changes: AccountedChanges
) -> Iterator[RowDifference]:
    """Yield the rows that differ from the checkpoint without an entry since then that accounts for it.

    Raises:
        DigestFileInvalid: the file of digests does not exist, or is not the one that the checkpoint recorded.
    """
    differences: Iterable[RowDifference] = find_row_differences(
        db.connection(), workspace, sha256=checkpoint.digests
    )
    return (difference for difference in differences if not changes.account_for(difference))
