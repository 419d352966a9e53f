"""Takes checkpoints: digests of the covered tables as an entry of the audit trail.

The hash of the last entry (the head) can be deposited outside the workspace.

Checkpoints do not slow down the saving of verdicts: a checkpoint reads the tables in a session that blocks no
writer, and writes one entry. Checkpoints are taken by the nightly timer, a release, a new reader study, a
backup and `cli.py audit checkpoint`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
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
    "VerifiedDigests",
    "current_deposits",
    "record_checkpoint",
    "take_checkpoint",
    "verify_and_write_digests",
]

_MAX_RECORDED = 100  # the maximum number of accepted faults that are recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointResult:
    """A checkpoint: the numbers of rows and tables, the head with its entry number, the name of the deposit.

    ``deposit`` is None if the head was not deposited.
    """

    rows: int
    tables: int
    number: int
    head: str
    deposit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedDigests:
    """Digests of the tables and the verification of the same snapshot, before they are recorded."""

    check: AuditCheck
    digests: DigestFile


def verify_and_write_digests(  # allow writes-without-record: record_checkpoint records the digests
    db: Session, *, by: Person, workspace: Workspace, deposits: Deposits | None = None
) -> VerifiedDigests:
    """Verify the trail and write the digests of the tables to a file.

    Args:
        db: a read-only session; verification and digests use its snapshot.
        by: the person who acts.
        workspace: the workspace to which the file is written.
        deposits: the place outside the workspace with the deposited heads, which are compared with the trail.
    """
    require(by, Action.SEE_AUDIT)
    check = verify_audit(db, by=by, deposits=deposits, workspace=workspace)
    return VerifiedDigests(check=check, digests=write_digests(db.connection(), workspace))


def record_checkpoint(
    db: Session,
    *,
    by: Person,
    measured: VerifiedDigests,
    workspace: Workspace,
    accept_because: str = "",
    now: datetime,
) -> None:
    """Record a checkpoint. Later verifications compare the tables with it.

    Args:
        db: a session for writing.
        by: the person who takes the checkpoint.
        measured: the result of :func:`verify_and_write_digests`.
        workspace: the workspace with the digests; files of older checkpoints are deleted.
        accept_because: the reason for accepting the faults that verification found; the faults are recorded.
        now: the current time.

    Raises:
        Refused: verification found faults, and no reason to accept them was given; or the chain itself is
            broken, which cannot be accepted.
    """
    faults = measured.check.faults
    require(by, Action.MANAGE_PEOPLE if faults else Action.SEE_AUDIT)  # only admins accept faults
    # checked_through is 0 if the chain is broken, which cannot be accepted.
    can_accept = measured.check.checked_through or not measured.check.entries
    reason = accept_because.strip() if can_accept else ""
    if faults and not reason:
        raise Refused(
            f"No checkpoint was taken, because the audit trail is not intact: {faults[0].rstrip('.')}. "
            "`cli.py audit verify` lists all faults. Restore an earlier backup, or accept the changes with "
            "`cli.py audit checkpoint --accept-because REASON`."
        )
    previous = find_last_checkpoint(db)
    digests = measured.digests
    record_action(
        db,
        by=by,
        action=TAKE_CHECKPOINT,
        subject="workspace",
        old=None if not faults else {"accepted": list(faults[:_MAX_RECORDED]), "faults": len(faults)},
        new={
            "through": measured.check.checked_through,
            "digests": digests.sha256,
            "tables": {name: [table.rows, table.sha256] for name, table in digests.tables.items()},
        },
        reason=reason,
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
    """Verify the trail, take a checkpoint and deposit the head. Each step is a separate transaction.

    Args:
        by: the person who takes the checkpoint.
        workspace: the workspace to which the digests are written.
        deposits: the place outside the workspace for the head; None if it is not deposited.
        accept_because: as in :func:`record_checkpoint`.
        clock: a function that returns the current time.

    Raises:
        Refused: as in :func:`record_checkpoint`.
        NotNow: the head cannot be deposited, but the checkpoint was taken.
    """
    with read_only_session() as db:
        measured = verify_and_write_digests(db, by=by, workspace=workspace, deposits=deposits)
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
