"""Making a release: looking at what it would hold, writing its folder, recording it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from sqlmodel import Session

from domain.batches import Batch
from domain.errors import InvalidValue, NotFound, Refused
from domain.file_errors import naming
from domain.gold import GoldItem, LeftOut
from domain.people import Action, Person, require
from release.folder import MANIFEST, copy_image, file_hash, put_in_place, written_aside
from release.manifest import DrawnBatch, Entry, manifest_text
from release.rule import RULE, settle
from release.tally import Counting, Tally, latest
from release.verify import verify_release
from release.writers import GoldWriters, iso
from storage import batches as batch_rows
from storage import draws, frames, gold, releases
from storage.image_files import image_path
from storage.workspace import Workspace

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Names(StrEnum):
    """How reviewers are named in a release."""

    ACCOUNT = "account"
    DISPLAY = "display"
    PSEUDONYM = "pseudonym"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A release that lies in its folder; ``again`` when the same one lay there already."""

    dataset_id: int
    dataset: str
    name: str
    folder: Path
    manifest_sha256: str
    tally: Tally
    again: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseSummary:
    """A release that is written and known; ``id`` is its number."""

    id: int
    written: Written


def releasable(db: Session, *, by: Person) -> dict[str, list[str]]:
    """The batches of each dataset that has any, the oldest first."""
    require(by, Action.MAKE_RELEASE)
    found = {
        name: [
            each.name for each in batch_rows.list_batches(db, dataset_id=frames.dataset_number(db, name=name))
        ]
        for name in frames.dataset_sizes(db)
    }
    return {name: names for name, names in found.items() if names}


def preview_release(db: Session, *, by: Person, dataset: str, batches: Sequence[str] | None = None) -> Tally:
    """What a release made now would hold, without writing it."""
    require(by, Action.MAKE_RELEASE)
    _, chosen = _chosen(db, dataset, batches)
    counting = Counting()
    for settled in _settled(db, [each.batch for each in chosen], with_report=False):
        counting.add(settled)
    return _tally(db, counting, chosen)


def create_release(
    db: Session,
    *,
    by: Person,
    dataset: str,
    name: str,
    out: Path,
    batches: Sequence[str] | None = None,
    names: Names = Names.ACCOUNT,
    with_images: bool = False,
    with_reports: bool = False,
    workspace: Workspace,
    now: datetime,
) -> ReleaseSummary:
    """Write a release and record it. For a large one call :func:`write_release` in a reading session and then
    :func:`record_release`, so that nobody who is judging waits meanwhile.
    """
    written = write_release(
        db, by=by, dataset=dataset, name=name, out=out, batches=batches, names=names, with_images=with_images,
        with_reports=with_reports, workspace=workspace,
    )  # fmt: skip
    return record_release(db, by=by, written=written, now=now)


def write_release(
    db: Session,
    *,
    by: Person,
    dataset: str,
    name: str,
    out: Path,
    batches: Sequence[str] | None = None,
    names: Names = Names.ACCOUNT,
    with_images: bool = False,
    with_reports: bool = False,
    workspace: Workspace,
    progress: Callable[[int], None] = lambda _: None,
) -> Written:
    """Write the release's folder; only reads the database. Made again of the same verdicts it is the same,
    byte for byte, on every machine.

    Args:
        db: a session, which may be a reading one.
        by: who makes it.
        dataset: its questions.
        name: of the release, 1 to 64 letters, digits and ``._-``.
        out: the folder that it becomes. It must not be there yet, or be empty, or be this same release.
        batches: the batches whose verdicts count; None is all of the dataset.
        names: how reviewers are named.
        with_images: whether the original images go with it.
        with_reports: whether the exams' reports go with it.
        workspace: where the images are.
        progress: told how many judged questions have passed.

    Raises:
        NotFound: no such dataset or batch; an image is missing.
        Refused: nothing to release; the name was given to another release; something else lies at ``out``.
    """
    require(by, Action.MAKE_RELEASE)
    name = checked_name(name)
    dataset_id, chosen = _chosen(db, dataset, batches)
    of_batches = [each.batch for each in chosen]
    counting, last = Counting(), None
    with written_aside(out) as folder:
        with GoldWriters(
            folder,
            names=_names(db, of_batches, names),
            with_images=with_images,
            with_report=with_reports,
        ) as writers:
            for count, settled in enumerate(_settled(db, of_batches, with_report=with_reports), start=1):
                counting.add(settled)
                writers.add(settled)
                last = max(last or "", latest(settled.judged))
                progress(count)
        tally = _tally(db, counting, chosen)
        if not tally.released:
            raise Refused(_why_nothing(dataset, tally))
        entries = writers.entries()
        if with_images:
            entries += _copy_images(workspace, writers.images, folder)
        text = manifest_text(
            name=name,
            dataset=dataset,
            batches=chosen,
            tally=tally,
            last_verdict_at=iso(datetime.fromisoformat(last)) if last else None,
            settings={"names": names.value, "with_images": with_images, "with_reports": with_reports},
            files=entries,
        )
        with naming(folder / MANIFEST):
            (folder / MANIFEST).write_bytes(text)
        sha256, _ = file_hash(folder / MANIFEST)
        _check_name_is_free(db, dataset_id=dataset_id, name=name, manifest_sha256=sha256)
        again = not put_in_place(folder, out) and _is_the_same(out, manifest_sha256=sha256)
    return Written(
        dataset_id=dataset_id,
        dataset=dataset,
        name=name,
        folder=out.resolve(),
        manifest_sha256=sha256,
        tally=tally,
        again=again,
    )


def record_release(db: Session, *, by: Person, written: Written, now: datetime) -> ReleaseSummary:
    """Make the release known. One that is known already, and is the same, is found in its new folder."""
    require(by, Action.MAKE_RELEASE)
    _check_name_is_free(
        db, dataset_id=written.dataset_id, name=written.name, manifest_sha256=written.manifest_sha256
    )
    known = releases.find_release(db, dataset_id=written.dataset_id, name=written.name)
    if known is not None:
        releases.move_release(db, release_id=known.id, folder=written.folder)
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
    return ReleaseSummary(id=release_id, written=written)


# ------------------------------------------------------------------------------------------------- in parts
def _chosen(db: Session, dataset: str, names: Sequence[str] | None) -> tuple[int, list[DrawnBatch]]:
    dataset_id = frames.dataset_number(db, name=dataset)
    there = batch_rows.list_batches(db, dataset_id=dataset_id)
    if not there:
        raise Refused(f"The dataset {dataset!r} has no batch yet. Draw one and have it judged.")
    missing = sorted(set(names or ()) - {each.name for each in there})
    if missing:
        raise NotFound(
            f"The dataset {dataset!r} has no batch {', '.join(missing)}. Those there are: "
            f"{', '.join(each.name for each in there)}."
        )
    return dataset_id, [
        DrawnBatch(
            batch=each,
            plan=batch_rows.plan_to_plain(each.plan),
            draws=tuple(draw.strata for draw in draws.draws_of(db, batch_id=each.id)),
        )
        for each in there
        if not names or each.name in names
    ]


def _settled(db: Session, batches: list[Batch], *, with_report: bool) -> Iterator[GoldItem | LeftOut]:
    return map(settle, gold.judged_questions(db, batches=batches, with_report=with_report))


def _tally(db: Session, counting: Counting, chosen: list[DrawnBatch]) -> Tally:
    batches = [each.batch for each in chosen]
    return counting.tally(
        unjudged=gold.count_unjudged(db, batches=batches), drawn=gold.drawn_by_stratum(db, batches=batches)
    )


def _names(db: Session, batches: list[Batch], names: Names) -> dict[int, str]:
    found = gold.reviewers(db, batches=batches)
    if names is Names.PSEUDONYM:
        return {person: f"reviewer-{place}" for place, person in enumerate(found, start=1)}
    return {person: pair[names is Names.DISPLAY] for person, pair in found.items()}


def _copy_images(workspace: Workspace, images: dict[str, str], folder: Path) -> list[Entry]:
    (folder / "images").mkdir()
    entries = []
    for sha256, path in sorted(images.items(), key=lambda item: item[1]):
        try:
            length = copy_image(image_path(workspace, sha256=sha256), folder / path, sha256=sha256)
        except (FileNotFoundError, ValueError) as error:
            raise NotFound(
                f"The workspace has the image {sha256} no more as it came in ({error}). Import it again."
            ) from error
        entries.append(Entry(path=path, bytes=length, sha256=sha256))
    return entries


def checked_name(name: str) -> str:
    """The name of a release, which is the name of its folder too."""
    if not _NAME.fullmatch(name.strip()):
        raise InvalidValue(
            "name", f"{name!r} must be 1 to 64 letters, digits and . _ -, first a letter or digit"
        )
    return name.strip()


def _check_name_is_free(db: Session, *, dataset_id: int, name: str, manifest_sha256: str) -> None:
    known = releases.find_release(db, dataset_id=dataset_id, name=name)
    if known is not None and known.manifest_sha256 != manifest_sha256:
        raise Refused(
            f"The dataset {known.dataset!r} has a release {name!r} with other content, made on "
            f"{known.made_at:%Y-%m-%d}. A release is never changed: choose another name."
        )


def _is_the_same(out: Path, *, manifest_sha256: str) -> bool:
    report = verify_release(out) if out.is_dir() else None
    if report is None or not report.ok or report.manifest_sha256 != manifest_sha256:
        raise Refused(f"{out} is there already and is not this release. Choose another folder.")
    return True


def _why_nothing(dataset: str, tally: Tally) -> str:
    if not tally.judged:
        return f"Nobody has judged a question of {dataset!r} in these batches yet."
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in tally.left_out.items())
    return f"No question of {dataset!r} can be released: {reasons}."
