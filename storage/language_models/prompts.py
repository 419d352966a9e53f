"""Storage of prompt versions. A stored version never changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlmodel import Session

from storage.rows.language_models import ModelRunRow, PromptVersionRow

_VERSION = re.compile("[0-9]{1,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptVersion:
    """A version of a prompt. ``content`` is the file, ``runs`` the number of runs that used it."""

    id: int
    name: str
    version: int
    sha256: str
    content: str
    note: str
    added_at: datetime
    runs: int = 0

    @property
    def label(self) -> str:
        """The name and version, such as mcq@2."""
        return f"{self.name}@{self.version}"


def add_prompt(
    db: Session, *, name: str, sha256: str, content: str, note: str, person_id: int | None, now: datetime
) -> PromptVersion:
    """Store the next version of a prompt."""
    latest = db.execute(
        select(func.max(PromptVersionRow.version)).where(PromptVersionRow.name == name)
    ).scalar_one()
    row = PromptVersionRow(
        name=name,
        version=(latest or 0) + 1,
        sha256=sha256,
        content=content,
        note=note,
        person_id=person_id,
        added_at=now,
    )
    db.add(row)
    db.flush()
    return _prompt_from_row(row)


def find_prompt(db: Session, *, label: str) -> PromptVersion | None:
    """Return a version such as ``mcq@2``, or the newest one of ``mcq``."""
    name, separator, version = label.partition("@")
    statement = select(PromptVersionRow).where(PromptVersionRow.name == name)
    if separator:
        if not _VERSION.fullmatch(version):
            return None
        statement = statement.where(PromptVersionRow.version == int(version))
    row = db.execute(statement.order_by(PromptVersionRow.version.desc()).limit(1)).scalar_one_or_none()
    return _prompt_from_row(row) if row is not None else None


def list_prompts(db: Session) -> list[PromptVersion]:
    """Return all versions, by name, the newest first."""
    run_counts = (
        select(ModelRunRow.prompt_id, func.count().label("runs")).group_by(ModelRunRow.prompt_id).subquery()
    )
    rows = db.execute(
        select(PromptVersionRow, func.coalesce(run_counts.c.runs, 0))
        .outerjoin(run_counts, run_counts.c.prompt_id == PromptVersionRow.id)
        .order_by(PromptVersionRow.name, PromptVersionRow.version.desc())
    )
    return [_prompt_from_row(row, runs) for row, runs in rows]


def _prompt_from_row(row: PromptVersionRow, runs: int = 0) -> PromptVersion:
    return PromptVersion(
        id=row.id or 0,
        name=row.name,
        version=row.version,
        sha256=row.sha256,
        content=row.content,
        note=row.note,
        added_at=row.added_at,
        runs=runs,
    )
