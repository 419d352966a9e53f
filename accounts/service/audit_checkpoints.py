"""Takes checkpoints: digests of the covered tables as an entry of the audit trail, and a deposit of its head.

Saving a verdict costs nothing for it. A checkpoint reads the tables in a session that blocks no writer, and
writes one entry. The nightly timer, a release, a new reader study, a backup and `cli.py audit checkpoint`
take one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from accounts.service.audit_trail import AuditCheck, verify_audit
from domain.errors import Refused
from domain.people import Action, Person, require
from storage.audit.checkpoints import find_last_checkpoint
from storage.audit.contents import TAKE_CHECKPOINT
from storage.audit.deposits import Deposits, current_deposits
from storage.audit.table_digests import DigestFile, remove_other_digests, write_digests
from storage.audit.trail import load_last_number_and_hash
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace

__all__ = [
    "CheckpointResult",
    "MeasuredTables",
    "current_deposits",
    "measure_tables",
    "record_checkpoint",
    "take_checkpoint",
]

_MAX_RECORDED = 100  # faults


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointResult:
    """A checkpoint over ``rows`` of ``tables``; the head and its number; the name of the deposit, if any."""

    rows: int
    tables: int
    number: int
    head: str
    deposit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTables:
    """Digests of the tables with the verification of the same snapshot; not yet a checkpoint."""

    check: AuditCheck
    digests: DigestFile


def measure_tables(  # allow writes-without-record: record_checkpoint records what it measured
    db: Session, *, by: Person, workspace: Workspace, deposits: Deposits | None = None
) -> MeasuredTables:
    """Verify the trail and write the digests of the tables to a file.

    Args:
        db: a session that reads; both see its snapshot.
        by: who asks.
        workspace: where the file is written.
        deposits: heads deposited outside.
    """
    require(by, Action.SEE_AUDIT)
    check = verify_audit(db, by=by, deposits=deposits, workspace=workspace)
    return MeasuredTables(check=check, digests=write_digests(db.connection(), workspace))


def record_checkpoint(
    db: Session,
    *,
    by: Person,
    measured: MeasuredTables,
    workspace: Workspace,
    accept_because: str = "",
    now: datetime,
) -> None:
    """Record a checkpoint. Later verifications compare the tables with it.

    Args:
        db: a session that writes.
        by: who takes it.
        measured: of :func:`measure_tables`.
        workspace: where the digests are; files of older checkpoints are deleted.
        accept_because: the reason to accept the faults that verification found; they are recorded.
        now: the time.

    Raises:
        Refused: verification found faults, and no reason to accept them was given; or the chain itself is
            broken, which cannot be accepted.
    """
    faults = measured.check.faults
    require(by, Action.MANAGE_PEOPLE if faults else Action.SEE_AUDIT)  # only admins accept faults
    reason = accept_because.strip() if measured.check.checked_through or not measured.check.entries else ""
    if faults and not reason:
        raise Refused(
            f"No checkpoint was taken, because the audit trail is not intact: {faults[0].rstrip('.')}. "
            "`cli.py audit verify` lists all faults. Restore an earlier backup, or accept the changes with "
            "`cli.py audit checkpoint --accept-because REASON`."
        )
    previous = find_last_checkpoint(db)
    digests = measured.digests
    record(
        db,
        by=by,
        what=TAKE_CHECKPOINT,
        subject="workspace",
        old=None if not faults else {"accepted": list(faults[:_MAX_RECORDED]), "faults": len(faults)},
        new={
            "through": measured.check.checked_through,
            "digests": digests.sha256,
            "tables": {name: [table.rows, table.sha256] for name, table in digests.tables.items()},
        },
        why=reason,
        now=now,
    )
    remove_other_digests(workspace, keep=[digests.sha256, *([previous.digests] if previous else [])])


def take_checkpoint(
    *,
    by: Person,
    workspace: Workspace,
    deposits: Deposits | None = None,
    accept_because: str = "",
    clock: Callable[[], datetime],
) -> CheckpointResult:
    """Verify, take a checkpoint and deposit the head; each step is a transaction of its own.

    Args:
        by: who takes it.
        workspace: where the digests are written.
        deposits: where the head is deposited; None for nowhere.
        accept_because: as for :func:`record_checkpoint`.
        clock: returns the time.

    Raises:
        Refused: as for :func:`record_checkpoint`.
        NotNow: the head cannot be deposited; the checkpoint was taken.
    """
    with read_only_session() as db:
        measured = measure_tables(db, by=by, workspace=workspace, deposits=deposits)
    with unit_of_work() as db:
        record_checkpoint(
            db, by=by, measured=measured, workspace=workspace, accept_because=accept_because, now=clock()
        )
    deposit = None
    with read_only_session() as db:
        number, head = load_last_number_and_hash(db)
    if deposits is not None:
        deposit = deposits.add(number=number, head=head, now=clock())
    return CheckpointResult(
        rows=sum(table.rows for table in measured.digests.tables.values()),
        tables=len(measured.digests.tables),
        number=number,
        head=head,
        deposit=deposit,
    )
