"""Services for recording a release in the database after it was written."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from domain.people import Action, Person, require
from release.rule import RULE
from release.service.making import Written, check_name_is_free
from storage.release import releases


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseSummary:
    """A release that is written and recorded; ``id`` is its number."""

    id: int
    written: Written


def record_release(db: Session, *, by: Person, written: Written, now: datetime) -> ReleaseSummary:
    """Record a release. If the same release is recorded already, only its folder is updated.

    Raises:
        Refused: another release of the dataset has the name.
    """
    require(by, Action.MAKE_RELEASE)
    check_name_is_free(
        db, dataset_id=written.dataset_id, name=written.name, manifest_sha256=written.manifest_sha256
    )
    known = releases.find_release(db, dataset_id=written.dataset_id, name=written.name)
    if known is not None:
        if known.folder != written.folder:
            releases.move_release(db, release_id=known.id, folder=written.folder)
            record(
                db, by=by, what="move release", subject=f"release {known.id}", old=str(known.folder),
                new=str(written.folder), now=now,
            )  # fmt: skip
        return ReleaseSummary(id=known.id, written=written)
    release_id = releases.add_release(
        db,
        dataset_id=written.dataset_id,
        name=written.name,
        rule=RULE,
        items=written.tally.released,
        manifest_sha256=written.manifest_sha256,
        folder=written.folder,
        by=by.id or None,
        now=now,
    )
    for side, keys in written.released.items():
        releases.add_items(
            db, release_id=release_id, dataset_id=written.dataset_id, side=side.value, keys=keys
        )
    made = {
        "dataset": written.dataset,
        "name": written.name,
        "questions": written.tally.released,
        "manifest_sha256": written.manifest_sha256,
        **({} if written.met is None else {"condition": written.met}),
    }
    record(db, by=by, what="make release", subject=f"release {release_id}", new=made, now=now)
    return ReleaseSummary(id=release_id, written=written)
