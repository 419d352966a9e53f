"""Figures of a workspace for monitoring: connections, sign-ins, and the time of the last backup."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, func, select
from sqlalchemy.pool import QueuePool

from storage.rows.audit import AuditRow
from storage.rows.people import SignInRow
from storage.unit_of_work import read_only_session

#: The action of a backup in the audit trail.
BACK_UP = "back up the workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceFigures:
    """The number of active sign-ins, and the time of the last backup; None if there was none."""

    sign_ins: int
    last_backup_at: datetime | None


def load_workspace_figures(engine: Engine, *, used_since: datetime) -> WorkspaceFigures:
    """Load the figures. A sign-in counts if it is not revoked and was used at or after ``used_since``.

    Raises:
        NotNow: the database cannot be read.
    """
    with read_only_session(engine) as db:
        sign_ins = db.execute(
            select(func.count()).where(SignInRow.revoked_at.is_(None), SignInRow.last_seen_at >= used_since)
        ).scalar_one()
        newest = select(AuditRow.at).where(AuditRow.what == BACK_UP).order_by(AuditRow.number.desc()).limit(1)
        last_backup_at = db.execute(newest).scalar_one_or_none()
    return WorkspaceFigures(sign_ins=sign_ins, last_backup_at=last_backup_at)


def count_connections(engine: Engine) -> tuple[int, int]:
    """Return how many connections of this process's pool are in use, and how many are open and idle."""
    pool = engine.pool
    return (pool.checkedout(), pool.checkedin()) if isinstance(pool, QueuePool) else (0, 0)
