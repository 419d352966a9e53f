"""Service that records a release in the database after its folder was written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.people import Action, Person, require
from release.rule import RULE
from release.service.writer import WrittenRelease, check_name_is_free
from storage.release import releases


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseSummary:
    """A release that was written and recorded; ``id`` is its database id."""

    id: int
    release: WrittenRelease


def record_release(db: Session, *, by: Person, release: WrittenRelease, now: datetime) -> ReleaseSummary:
    """Record a release. If the same release is already recorded, only its folder is updated.

    Raises:
        Refused: another release of the dataset has the same name.
    """
    require(by, Action.MAKE_RELEASE)
    check_name_is_free(
        db, dataset_id=release.dataset_id, name=release.name, manifest_sha256=release.manifest_sha256
    )
    existing = releases.find_release(db, dataset_id=release.dataset_id, name=release.name)
    if existing is not None:
        if existing.folder != release.folder:
            releases.move_release(db, release_id=existing.id, folder=release.folder)
            record_action(
                db, by=by, action="move release", subject=f"release {existing.id}", old=str(existing.folder),
                new=str(release.folder), now=now,
            )  # fmt: skip
        return ReleaseSummary(id=existing.id, release=release)
    release_id = releases.add_release(
        db,
        dataset_id=release.dataset_id,
        name=release.name,
        rule=RULE,
        items=release.tally.released,
        manifest_sha256=release.manifest_sha256,
        folder=release.folder,
        by=by.id or None,
        now=now,
    )
    for side, keys in release.released.items():
        releases.add_release_items(
            db, release_id=release_id, dataset_id=release.dataset_id, side=side.value, keys=keys
        )
    audit_values = {
        "dataset": release.dataset,
        "name": release.name,
        "questions": release.tally.released,
        "manifest_sha256": release.manifest_sha256,
        **({} if release.condition_note is None else {"condition": release.condition_note}),
    }
    record_action(
        db, by=by, action="make release", subject=f"release {release_id}", new=audit_values, now=now
    )
    return ReleaseSummary(id=release_id, release=release)
