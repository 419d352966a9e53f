"""Storage of releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import insert, select
from sqlmodel import Session

from domain.errors import NotFound
from storage.intake.datasets import load_dataset
from storage.rows.datasets import DatasetRow, QuestionRow
from storage.rows.people import PersonRow
from storage.rows.releases import ReleaseItemRow, ReleaseRow
from storage.types import AnyRow, AnySelect

_CHUNK = 500  # bound parameters in one IN (...)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRecord:
    """A release: the number of its questions (``items``), its folder and the SHA-256 of its manifest."""

    id: int
    dataset: str
    name: str
    items: int
    manifest_sha256: str
    folder: Path
    made_by: str | None
    made_at: datetime


def add_release(
    db: Session,
    *,
    dataset_id: int,
    name: str,
    rule: str,
    items: int,
    manifest_sha256: str,
    folder: Path,
    by: int | None,
    now: datetime,
) -> int:
    """Record a release and return its id."""
    row = ReleaseRow(
        dataset_id=dataset_id,
        name=name,
        rule=rule,
        items=items,
        manifest_sha256=manifest_sha256,
        folder=str(folder),
        made_by=by,
        made_at=now,
    )
    db.add(row)
    db.flush()
    return row.id or 0


def move_release(db: Session, *, release_id: int, folder: Path) -> None:
    """Record that the release was moved to another folder."""
    db.get_one(ReleaseRow, release_id).folder = str(folder)
    db.flush()


def find_release(db: Session, *, dataset_id: int, name: str) -> ReleaseRecord | None:
    """Return the dataset's release with that name; None if there is none."""
    row = db.execute(
        _select_releases().where(ReleaseRow.dataset_id == dataset_id, ReleaseRow.name == name)
    ).one_or_none()
    return None if row is None else _release_from_row(row)


def load_release_by_name(db: Session, *, dataset: str, name: str) -> ReleaseRecord:
    """Return the release of a dataset by the names of both.

    Raises:
        NotFound: there is no such dataset or release.
    """
    release = find_release(db, dataset_id=load_dataset(db, name=dataset).id, name=name)
    if release is None:
        raise NotFound(f"Dataset {dataset} has no release {name!r}. `cli.py release list` shows all.")
    return release


def load_release(db: Session, *, release_id: int) -> ReleaseRecord:
    """Return the release with that id.

    Raises:
        NotFound: no release has that id.
    """
    row = db.execute(_select_releases().where(ReleaseRow.id == release_id)).one_or_none()
    if row is None:
        raise NotFound(f"There is no release number {release_id}.")
    return _release_from_row(row)


def list_releases(db: Session) -> list[ReleaseRecord]:
    """Return all releases, the latest first."""
    return [_release_from_row(row) for row in db.execute(_select_releases().order_by(ReleaseRow.id.desc()))]


def _select_releases() -> AnySelect:
    return (
        select(
            ReleaseRow.id,
            DatasetRow.name.label("dataset"),
            ReleaseRow.name,
            ReleaseRow.items,
            ReleaseRow.manifest_sha256,
            ReleaseRow.folder,
            PersonRow.display_name,
            ReleaseRow.made_at,
        )
        .join(DatasetRow, DatasetRow.id == ReleaseRow.dataset_id)
        .outerjoin(PersonRow, PersonRow.id == ReleaseRow.made_by)
    )


def _release_from_row(row: AnyRow) -> ReleaseRecord:
    return ReleaseRecord(
        id=row.id,
        dataset=row.dataset,
        name=row.name,
        items=row.items,
        manifest_sha256=row.manifest_sha256,
        folder=Path(row.folder),
        made_by=row.display_name,
        made_at=row.made_at,
    )


def add_release_items(
    db: Session, *, release_id: int, dataset_id: int, side: str, keys: Sequence[str]
) -> None:
    """Record the questions of one split of a release.

    ``keys`` are the ids of the questions in the imported file.
    """
    for start in range(0, len(keys), _CHUNK):
        question_ids = db.execute(
            select(QuestionRow.id).where(
                QuestionRow.dataset_id == dataset_id,
                QuestionRow.key.in_(keys[start : start + _CHUNK]),
            )
        ).scalars()
        rows = [
            {"release_id": release_id, "question_id": question_id, "side": side}
            for question_id in question_ids
        ]
        db.execute(insert(ReleaseItemRow), rows)
