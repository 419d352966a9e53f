"""Service for writing the folder of a release."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlmodel import Session

from domain.errors import InvalidValue, Refused
from domain.file_errors import naming
from domain.gold import GoldItem
from domain.people import Action, Person, require
from imaging.guarded import GuardedReader
from intake.collector import collector_paused
from release.folder import MANIFEST, HashedFile, file_hash, put_in_place, written_aside
from release.forms.croissant import croissant_text
from release.forms.datacard import datacard_text
from release.forms.form import FormName
from release.manifest import DrawnBatch, Entry, manifest_text
from release.private import keys_folder
from release.release_files import Contents, ReleaseFiles, iso
from release.service.choosing import (
    Names,
    check_something,
    drawn_batches,
    reviewer_names,
    settled_questions,
    tally_of,
)
from release.service.patients import check_looks, images_of
from release.service.pictures import copied_images, originals, pictures
from release.service.sides import sides_of
from release.splits import Side, SplitPlan
from release.tally import Counting, Tally, latest
from release.verify import verify_release
from review.service import check_key_errors, statement
from storage.release import gold, releases
from storage.workspace import Workspace

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A release that was written to its folder; ``again``: the same release was there already.

    ``released`` are the ids of its questions on each side. ``keys`` is the folder with the keys of the
    private questions, if there are any. ``met`` is a sentence with the figures by which the condition on key
    errors was met; it is not in the manifest, because later imports change it and a release made again must
    be the same.
    """

    dataset_id: int
    dataset: str
    name: str
    folder: Path
    manifest_sha256: str
    tally: Tally
    again: bool
    released: Mapping[Side, Sequence[str]]
    keys: Path | None = None
    met: str | None = None


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
    with_sr: bool = False,
    split: SplitPlan | None = None,
    key_errors_under: float | None = None,
    forms: Collection[FormName] = tuple(FormName),
    workspace: Workspace,
    progress: Callable[[int], None] = lambda _: None,
) -> Written:
    """Write the folder of a release; the database is only read.

    The same verdicts and settings give the same bytes on every machine. The folder is moved into place
    atomically. Call :func:`release.service.recording.record_release` afterwards.

    Args:
        db: a session that reads.
        by: who makes it.
        dataset: its name.
        name: of the release, 1 to 64 letters, digits and ``._-``.
        out: the folder to create. It must not exist, or be empty, or contain this same release.
        batches: names of the batches whose verdicts count; None for all of the dataset.
        names: how reviewers are named.
        with_images: whether to include the image files, and pictures in the Parquet file.
        with_reports: whether to include the exams' reports.
        with_sr: whether to write boxes as DICOM structured reports too.
        split: the private part; None for none. The keys of the private questions are written to a separate
            folder next to ``out`` (:func:`release.private.keys_folder`).
        key_errors_under: the share (0 to 1) below which the upper limit of the rate of key errors in the
            whole dataset must be, in the worst case; None for no such condition.
        forms: the export formats in addition to the native one.
        workspace: where the images are.
        progress: called with the number of judged questions processed.

    Raises:
        InvalidValue: the name is not allowed.
        NotFound: there is no such dataset or batch, or an image is missing.
        Refused: there is nothing to release, or nothing on one side of the split; the condition on key errors
            is not met; an image was not checked for patient data; another release has the name; something
            else is at ``out`` or at the folder of the keys.
        OSError: a file can't be written.
    """
    require(by, Action.MAKE_RELEASE)
    name = checked_name(name)
    dataset_id, drawn = drawn_batches(db, dataset, batches)
    of_batches = [each.batch for each in drawn]
    met = None
    if key_errors_under is not None:
        met = check_key_errors(db, by=by, dataset=dataset, batches=batches, under=key_errors_under)
    last_verdict = gold.last_verdict_at(db, batches=of_batches)
    with ExitStack() as stack:
        stack.enter_context(collector_paused())
        folder = stack.enter_context(written_aside(out))
        keys = stack.enter_context(written_aside(keys_folder(out))) if split else None
        reader = stack.enter_context(GuardedReader())
        contents = Contents(
            names=reviewer_names(db, of_batches, names),
            with_images=with_images,
            with_report=with_reports,
            picture=pictures(workspace, reader) if with_images else None,
            original=originals(workspace) if with_sr else None,
            when=last_verdict,
            side_of=sides_of(db, of_batches, split, workspace=workspace, reader=reader) if split else None,
            keys=keys,
            forms=frozenset(forms),
        )
        with ReleaseFiles(folder, contents) as files:
            counting, last, images, exam = Counting(), None, set[str](), ""
            for count, settled in enumerate(
                settled_questions(db, of_batches, with_report=with_reports), start=1
            ):
                counting.add(settled)
                files.add(settled)
                if isinstance(settled, GoldItem) and settled.judged.exam.id != exam:
                    exam = settled.judged.exam.id  # questions of an exam are mostly consecutive
                    images |= images_of(settled)
                given = latest(settled.judged)
                last = given if last is None or given > last else last
                progress(count)
        tally = tally_of(db, counting, drawn)
        check_something(dataset, tally, files.splits, split)
        check_looks(db, images=images, dataset=dataset)
        entries = files.entries()
        if with_images:
            entries += copied_images(workspace, files.gold.images, folder)
        last_at = iso(last) if last else None
        entries += _described(
            folder,
            files,
            drawn,
            tally,
            name=name,
            dataset=dataset,
            last=last_at,
            statement=statement(db, dataset=dataset, batches=batches),
            key_errors_under=key_errors_under,
            so_far=entries,
        )
        text = manifest_text(
            name=name,
            dataset=dataset,
            batches=drawn,
            tally=tally,
            last_verdict_at=last_at,
            settings={
                "names": names.value,
                "with_images": with_images,
                "with_reports": with_reports,
                "with_sr": with_sr,
                **({} if len(set(forms)) == len(FormName) else {"forms": sorted(set(forms))}),
                **({} if key_errors_under is None else {"key_errors_under": key_errors_under}),
            },
            splits=_splits(split, files),
            lacks=files.lacks,
            files=entries,
        )
        _write(folder / MANIFEST, text)
        sha256, _ = file_hash(folder / MANIFEST)
        check_name_is_free(db, dataset_id=dataset_id, name=name, manifest_sha256=sha256)
        if keys is not None:
            _put_keys(keys, keys_folder(out), sha256=sha256)
        again = not put_in_place(folder, out) and _is_the_same(out, manifest_sha256=sha256)
    return Written(
        dataset_id=dataset_id,
        dataset=dataset,
        name=name,
        folder=out.resolve(),
        manifest_sha256=sha256,
        tally=tally,
        again=again,
        released=files.released,
        keys=keys_folder(out).resolve() if split else None,
        met=met,
    )


# ----------------------------------------------------------------------------------------- helper functions
def _described(
    folder: Path,
    files: ReleaseFiles,
    drawn: list[DrawnBatch],
    tally: Tally,
    *,
    name: str,
    dataset: str,
    last: str | None,
    statement: Sequence[str],
    key_errors_under: float | None,
    so_far: list[Entry],
) -> list[Entry]:
    """Write the data card and the Croissant description."""
    card = datacard_text(
        name=name,
        dataset=dataset,
        batches=drawn,
        tally=tally,
        content=files.content,
        lacks=files.lacks,
        splits=files.splits,
        statement=statement,
        last_verdict_at=last,
        key_errors_under=key_errors_under,
        with_parquet=any(form.name == FormName.PARQUET for form in files.forms),
    )
    entries = [_write(folder / "datacard.md", card)]
    described = croissant_text(
        name=name,
        dataset=dataset,
        last_verdict_at=last,
        questions=tally.released,
        files=sorted([*so_far, *entries], key=lambda each: each.path),
    )
    return [*entries, _write(folder / "croissant.json", described)]


def _write(path: Path, content: bytes) -> Entry:
    with naming(path), HashedFile(path) as file:
        file.write(content)
    return Entry(path=path.name, bytes=file.bytes, sha256=file.sha256)


def _splits(split: SplitPlan | None, files: ReleaseFiles) -> dict[str, Any] | None:
    if split is None or files.private is None or files.splits is None:
        return None
    sides: dict[str, dict[str, Any]] = {side: {**counts} for side, counts in files.splits.items()}
    sides["private"] = {
        **sides["private"],
        "corrections": files.private.corrections,
        "keys_sha256": files.private.keys_sha256,
    }
    return {"private_share": split.private_share, "seed": split.seed, **sides}


def _put_keys(keys: Path, target: Path, *, sha256: str) -> None:
    """Move the keys to their folder, with the SHA-256 of the manifest that they belong to."""
    _write(keys / "release.txt", f"{sha256}\n".encode())
    if put_in_place(keys, target):
        return
    there = target / "release.txt"
    if not there.is_file() or there.read_text(encoding="utf-8").strip() != sha256:
        raise Refused(f"{target} is there already and has other keys. Choose another folder for the release.")


def checked_name(name: str) -> str:
    """Check the name of a release.

    Returns:
        Without spaces around it.

    Raises:
        InvalidValue: not 1 to 64 letters, digits and . _ -, beginning with a letter or digit.
    """
    if not _NAME.fullmatch(name.strip()):
        raise InvalidValue(
            "name", f"{name!r} must be 1 to 64 letters, digits and . _ -, first a letter or digit"
        )
    return name.strip()


def check_name_is_free(db: Session, *, dataset_id: int, name: str, manifest_sha256: str) -> None:
    """Check that no other release of the dataset has the name.

    Raises:
        Refused: one with another manifest has it.
    """
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
