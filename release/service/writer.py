"""Service for writing the folder of a release."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlmodel import Session

from domain.audit import AuditHead
from domain.errors import Refused
from domain.file_errors import add_filename_to_errors
from domain.gold import GoldItem
from domain.people import Action, Person, require
from imaging.guarded_decoder import GuardedDecoder
from intake.garbage_collector import pause_garbage_collector
from release.folder import MANIFEST, HashedFile, hash_file, move_into_place, staging_folder
from release.formats.croissant import render_croissant
from release.formats.datacard import render_datacard
from release.formats.format_writer import FormatName
from release.manifest import DrawnBatch, Entry, render_manifest
from release.names import ReviewerNaming, validate_name
from release.private import keys_folder_of
from release.release_writer import ReleaseOptions, ReleaseWriter, format_utc
from release.rule import image_hashes
from release.service.errata import load_reports_by_question_id
from release.service.exam_splits import assign_exam_splits
from release.service.images import copy_images, display_image_loader, original_loader
from release.service.inputs import (
    build_tally,
    load_drawn_batches,
    load_outcomes,
    load_reviewer_names,
)
from release.service.patient_data_checks import check_pixel_decisions
from release.splits import Split, SplitPlan
from release.tally import Tally, TallyCounter, check_not_empty, find_latest_judgement_time
from release.verify import verify_release
from review.service import check_key_errors, format_data_card_measurements, write_data_card_statement
from storage.audit.contents import ADJUDICATE, GIVE_VERDICT
from storage.audit.entries import find_last_entry
from storage.release import gold, releases
from storage.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenRelease:
    """A release that was written to its folder.

    ``already_existed`` is True if the folder already contained the same release. ``released`` has the ids of
    its questions in each split. ``keys_folder`` has the keys of the private questions, if there are any.
    ``condition_note`` is a sentence with the estimates that met the condition on key errors. It is not in the
    manifest, because later imports change these estimates, and a release that is made again must be
    identical.
    """

    dataset_id: int
    dataset: str
    name: str
    folder: Path
    manifest_sha256: str
    tally: Tally
    already_existed: bool
    released: Mapping[Split, Sequence[str]]
    keys_folder: Path | None = None
    condition_note: str | None = None


def write_release(
    db: Session,
    *,
    by: Person,
    dataset: str,
    name: str,
    out: Path,
    batches: Sequence[str] | None = None,
    reviewer_naming: ReviewerNaming = ReviewerNaming.ACCOUNT,
    with_images: bool = False,
    with_reports: bool = False,
    with_sr: bool = False,
    split: SplitPlan | None = None,
    key_errors_under: float | None = None,
    with_audit_head: bool = False,
    formats: Collection[FormatName] = tuple(FormatName),
    workspace: Workspace,
    progress: Callable[[int], None] = lambda _: None,
) -> WrittenRelease:
    """Write the folder of a release. The database is only read.

    The same verdicts and settings give the same bytes on every machine. With ``with_audit_head``, this
    applies to copies of one workspace only, because each workspace has its own audit trail. The folder is
    moved into place atomically. Call :func:`release.service.recorder.record_release` afterwards.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.
        name: the name of the release, 1 to 64 letters, digits and ``._-``.
        out: the folder of the release. It must not exist, be empty, or already contain the same release.
        batches: the names of the batches whose verdicts count; None for all batches of the dataset.
        reviewer_naming: how reviewers are named.
        with_images: whether to include the image files, and rendered images in the Parquet file.
        with_reports: whether to include the reports of the exams.
        with_sr: whether to write the boxes as DICOM structured reports, too.
        split: the shares of the splits and the seed; None for no splits. The keys of private questions are
            written to a separate folder next to ``out`` (:func:`release.private.keys_folder_of`).
        key_errors_under: the maximum (0 to 1) of the upper limit of the rate of key errors in the whole
            dataset, in the worst case; None for no such condition.
        with_audit_head: whether the manifest has the audit entry of the last judgement in the release, with
            which the holder of the manifest can prove that the trail up to it was not rewritten.
        formats: the export formats in addition to the native one.
        workspace: the workspace with the images.
        progress: a function that is called with the number of processed questions.

    Raises:
        InvalidValue: the name is not valid.
        NotFound: the dataset, a batch or an image does not exist.
        Refused: there is no question to release, or none in one of the splits; the condition on key
            errors is not met; an image has not been checked for patient data; another release has the name;
            or ``out`` or the folder of the keys has other content.
        OSError: a file cannot be written.
    """
    require(by, Action.MAKE_RELEASE)
    name = validate_name(name)
    dataset_id, release_batches = load_drawn_batches(db, dataset, batches)
    selected_batches = [drawn_batch.batch for drawn_batch in release_batches]
    condition_note = None
    if key_errors_under is not None:
        condition_note = check_key_errors(db, by=by, dataset=dataset, batches=batches, limit=key_errors_under)
    last_verdict_at = gold.find_last_verdict_time(db, batches=selected_batches)
    with ExitStack() as stack:
        stack.enter_context(pause_garbage_collector())
        folder = stack.enter_context(staging_folder(out))
        with_keys = split is not None and split.private_share > 0
        staged_keys = stack.enter_context(staging_folder(keys_folder_of(out))) if with_keys else None
        decoder = stack.enter_context(GuardedDecoder())
        options = ReleaseOptions(
            reviewer_names=load_reviewer_names(db, selected_batches, reviewer_naming),
            with_images=with_images,
            with_report=with_reports,
            load_display_image=display_image_loader(workspace, decoder) if with_images else None,
            load_original=original_loader(workspace) if with_sr else None,
            sr_date=last_verdict_at,
            plan=split,
            split_by_exam=assign_exam_splits(
                db, selected_batches, split, workspace=workspace, decoder=decoder
            )
            if split
            else {},
            keys_folder=staged_keys,
            formats=frozenset(formats),
            reports=load_reports_by_question_id(db, dataset_id),
        )
        with ReleaseWriter(folder, options) as writer:
            counter, last_judgement_at, released_images, exam_id = TallyCounter(), None, set[str](), ""
            for count, outcome in enumerate(
                load_outcomes(db, selected_batches, with_report=with_reports), start=1
            ):
                counter.add(outcome)
                writer.add(outcome)
                if isinstance(outcome, GoldItem) and outcome.judged.exam.id != exam_id:
                    exam_id = outcome.judged.exam.id  # the questions of an exam are mostly consecutive
                    released_images |= image_hashes(outcome)
                judged_at = find_latest_judgement_time(outcome.judged)
                last_judgement_at = (
                    judged_at
                    if last_judgement_at is None or judged_at > last_judgement_at
                    else last_judgement_at
                )
                progress(count)
        tally = build_tally(db, counter, release_batches)
        check_not_empty(dataset, tally, writer.splits, split)
        check_pixel_decisions(db, images=released_images, dataset=dataset)
        entries = writer.list_entries()
        if with_images:
            entries += copy_images(workspace, writer.gold.images, folder)
        last_judgement_text = format_utc(last_judgement_at) if last_judgement_at else None
        entries += _write_descriptions(
            folder,
            writer,
            release_batches,
            tally,
            name=name,
            dataset=dataset,
            last_verdict_at=last_judgement_text,
            statement=write_data_card_statement(db, dataset=dataset, batches=batches),
            checks=format_data_card_measurements(db, by=by, dataset=dataset, batches=batches),
            key_errors_under=key_errors_under,
            other_entries=entries,
        )
        manifest = render_manifest(
            name=name,
            dataset=dataset,
            batches=release_batches,
            tally=tally,
            last_verdict_at=last_judgement_text,
            settings={
                "names": reviewer_naming.value,
                "with_images": with_images,
                "with_reports": with_reports,
                "with_sr": with_sr,
                **({} if len(set(formats)) == len(FormatName) else {"forms": sorted(set(formats))}),
                **({} if key_errors_under is None else {"key_errors_under": key_errors_under}),
            },
            splits=_splits_to_json(split, writer),
            limitations=writer.limitations,
            files=entries,
            audit_head=_find_audit_head(db, release_batches) if with_audit_head else None,
        )
        _write_file(folder / MANIFEST, manifest)
        sha256, _ = hash_file(folder / MANIFEST)
        check_name_is_free(db, dataset_id=dataset_id, name=name, manifest_sha256=sha256)
        if staged_keys is not None:
            _move_keys(staged_keys, keys_folder_of(out), sha256=sha256)
        already_existed = not move_into_place(folder, out) and _check_same_release(
            out, manifest_sha256=sha256
        )
    return WrittenRelease(
        dataset_id=dataset_id,
        dataset=dataset,
        name=name,
        folder=out.resolve(),
        manifest_sha256=sha256,
        tally=tally,
        already_existed=already_existed,
        released=writer.released,
        keys_folder=keys_folder_of(out).resolve() if with_keys else None,
        condition_note=condition_note,
    )


def _find_audit_head(db: Session, release_batches: Sequence[DrawnBatch]) -> AuditHead | None:
    subjects = [f"batch {drawn_batch.batch.id}" for drawn_batch in release_batches]
    return find_last_entry(db, actions=(GIVE_VERDICT, ADJUDICATE), subjects=subjects)


def _write_descriptions(
    folder: Path,
    writer: ReleaseWriter,
    release_batches: list[DrawnBatch],
    tally: Tally,
    *,
    name: str,
    dataset: str,
    last_verdict_at: str | None,
    statement: Sequence[str],
    checks: Sequence[str],
    key_errors_under: float | None,
    other_entries: list[Entry],
) -> list[Entry]:
    """Write the data card and the Croissant description."""
    card = render_datacard(
        name=name,
        dataset=dataset,
        batches=release_batches,
        tally=tally,
        content=writer.content,
        limitations=writer.limitations,
        splits=writer.splits,
        statement=statement,
        checks=checks,
        last_verdict_at=last_verdict_at,
        key_errors_under=key_errors_under,
        with_parquet=any(format_writer.name == FormatName.PARQUET for format_writer in writer.formats),
    )
    entries = [_write_file(folder / "datacard.md", card)]
    croissant = render_croissant(
        name=name,
        dataset=dataset,
        last_verdict_at=last_verdict_at,
        questions=tally.released,
        files=sorted([*other_entries, *entries], key=lambda entry: entry.path),
    )
    return [*entries, _write_file(folder / "croissant.json", croissant)]


def _write_file(path: Path, content: bytes) -> Entry:
    with add_filename_to_errors(path), HashedFile(path) as file:
        file.write(content)
    return Entry(path=path.name, bytes=file.bytes, sha256=file.sha256)


def _splits_to_json(split: SplitPlan | None, writer: ReleaseWriter) -> dict[str, Any] | None:
    if split is None or writer.splits is None:
        return None
    counts_by_split: dict[str, dict[str, Any]] = {name: {**counts} for name, counts in writer.splits.items()}
    if writer.private is not None:
        counts_by_split["private"] |= {
            "corrections": writer.private.corrections,
            "keys_sha256": writer.private.keys_sha256,
        }
    _remaining_split, *other_splits = split.shares.items()
    shares = {f"{name}_share": share for name, share in other_splits}
    return {**shares, "seed": split.seed, **counts_by_split}


def _move_keys(staged_keys: Path, target: Path, *, sha256: str) -> None:
    """Move the keys to their folder, with a file that has the SHA-256 of the release's manifest."""
    _write_file(staged_keys / "release.txt", f"{sha256}\n".encode())
    if move_into_place(staged_keys, target):
        return
    release_marker = target / "release.txt"
    if not release_marker.is_file() or release_marker.read_text(encoding="utf-8").strip() != sha256:
        raise Refused(f"{target} already exists with other keys. Choose another folder for the release.")


def check_name_is_free(db: Session, *, dataset_id: int, name: str, manifest_sha256: str) -> None:
    """Check that no other release of the dataset has the name.

    Raises:
        Refused: a release with the same name and another manifest is recorded.
    """
    existing = releases.find_release(db, dataset_id=dataset_id, name=name)
    if existing is not None and existing.manifest_sha256 != manifest_sha256:
        raise Refused(
            f"The dataset {existing.dataset!r} already has a release {name!r} with other content, created on "
            f"{existing.made_at:%Y-%m-%d}. Releases are never changed. Choose another name."
        )


def _check_same_release(out: Path, *, manifest_sha256: str) -> bool:
    report = verify_release(out) if out.is_dir() else None
    if report is None or not report.ok or report.manifest_sha256 != manifest_sha256:
        raise Refused(f"{out} already exists and is not this release. Choose another folder.")
    return True
