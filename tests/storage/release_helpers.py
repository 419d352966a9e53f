"""Written and recorded releases, for tests of their use."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from sqlmodel import Session

from domain.people import Person
from release.service import ReleaseSummary, record_release, write_release
from storage.workspace import Workspace


def create_release(
    db: Session,
    *,
    by: Person,
    dataset: str,
    name: str,
    out: Path,
    workspace: Workspace,
    now: datetime,
    **choices: Any,  # the arguments of write_release
) -> ReleaseSummary:
    """Write a release and record it, in one transaction."""
    release = write_release(db, by=by, dataset=dataset, name=name, out=out, workspace=workspace, **choices)
    return record_release(db, by=by, release=release, now=now)
