"""Services for importing question files and unpacking images.

A function is one transaction, which the caller commits. ``by`` is the person who acts;
:class:`domain.errors.NotAllowed` is raised unless their roles allow the action. ``now`` is the time that is
stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.checks import CHECKS_ON_IMPORT
from domain.errors import InvalidValue
from domain.people import Action, Person, require
from imaging.guarded_decoder import GuardedDecoder
from intake.archives import unpack_archive
from intake.mapping.declaration import Mapping, list_builtin_mappings, load_builtin_mapping, load_mapping
from intake.parsed_batch import ParsedBatch
from intake.parsing_process import LARGE_FILE_BYTES, check_mapping_fits, parse_batches_in_process
from intake.preview import DryRun, FilePreview, dry_run, open_image_source, preview_file
from intake.recognition import FileFormat, recognise_file
from intake.refusals import RefusalList, open_refusal_list
from intake.reports import ImportProgress, ImportRefused, ImportReport
from intake.service.added_images import AddedImages
from intake.service.batch_writer import BatchWriter
from intake.service.deidentify import (
    DeidentificationSettings,
    check_deidentification,
    describe_stored_attributes,
    load_deidentification,
)
from intake.service.image_importer import ImageImporter
from intake.zipped_images import ZippedImages
from privacy.service import search_with_headers
from storage.intake import datasets
from storage.intake.bulk import defer_indexes, lock_for_import
from storage.workspace import Workspace

#: The names of the formats; "gemex" covers both of its variants.
FORMATS = tuple(file_format.value for file_format in FileFormat)

__all__ = [
    "FORMATS",
    "DeidentificationSettings",
    "DryRun",
    "FilePreview",
    "ImportProgress",
    "ImportRefused",
    "ImportReport",
    "Mapping",
    "ZippedImages",
    "describe_stored_attributes",
    "dry_run",
    "import_questions",
    "list_builtin_mappings",
    "load_builtin_mapping",
    "load_deidentification",
    "load_mapping",
    "preview_file",
    "unpack_images",
]


def import_questions(
    db: Session,
    *,
    by: Person,
    path: Path,
    file_format: str = "auto",
    mapping: Mapping | None = None,
    dataset: str,
    images: Path | ZippedImages | None,
    workspace: Workspace,
    deidentification: DeidentificationSettings | None = None,
    skip_known: bool = False,
    skip_bad: bool = False,
    minimum_explanation: int | None = None,
    file_name: str | None = None,
    now: datetime,
    progress: Callable[[ImportProgress], None] = lambda _: None,
) -> ImportReport:
    """Import a question file: read it, check each record, and write questions, exams and images.

    Images are read first; the database is locked for writing only after that.

    Args:
        db: a session for writing; the caller rolls back after an error.
        by: the person who imports.
        path: the question file.
        file_format: "auto" or one of ``FORMATS``.
        mapping: a mapping that declares another format; ``path`` may then be a folder.
        dataset: the name of a new dataset, or of an existing one to add questions to.
        images: the folder of images, or a zip in memory; None to import questions only.
        workspace: where image files and the list of refusals are stored.
        deidentification: the result of :func:`load_deidentification` in an earlier transaction. With None it
            is read here, and on SQLite all other writers then wait while the images are read.
        skip_known: whether to skip records that are already in the dataset with identical bytes. With images,
            their exams get the images that they lack.
        skip_bad: whether to skip invalid records instead of refusing the file.
        minimum_explanation: the dataset's setting for the format check, in characters; None for no change.
        file_name: the user's name of the file, if ``path`` has another.
        now: the time.
        progress: called after each image and each batch of records.

    Returns:
        The counts and the first refusals.

    Raises:
        ImportRefused: the file or the folder of images can't be read, a record is invalid (without
            ``skip_bad``), or there is no record. The error has the report. The caller must roll back.
        InvalidValue: the name of the dataset is not allowed.
        Refused: the workspace's rule on image files was changed since ``deidentification`` was read.
        OSError: an image could not be written, e.g. because the disk is full. The caller must roll back.
    """
    require(by, Action.IMPORT_QUESTIONS)
    name = file_name or path.name
    dataset = check_dataset_name(dataset)
    refusals_path = workspace.refusals / f"{now:%Y%m%dT%H%M%S%f}-{_make_slug(dataset)}.csv"
    with ExitStack() as stack:
        refusals = stack.enter_context(open_refusal_list(refusals_path, name))
        try:
            file = recognise_file(path, file_format, mapping)
            check_mapping_fits(file, Path(name).stem)
            source = open_image_source(images, path)
        except InvalidValue as error:
            refusals.add("", error.field, error.reason)
            raise ImportRefused(_build_report(dataset, name, file_format, refusals, refusals_path)) from error
        except OSError as error:
            refusals.add("", "file", f"cannot be read: {error.strerror}")
            raise ImportRefused(_build_report(dataset, name, file_format, refusals, refusals_path)) from error
        parse = partial(
            parse_batches_in_process,
            file,
            file_stem=Path(name).stem,
            with_images=source is not None,
        )
        report_progress = partial(_report_progress, progress, file.size)
        image_importer = None
        if source is not None:
            deidentification = deidentification or load_deidentification(db, by=by)
            image_importer = ImageImporter(
                workspace, source, stack.enter_context(GuardedDecoder()), deidentification=deidentification
            )
            _fetch_images(image_importer, parse(minimum_explanation=0), report_progress)
        # Locked as late as possible: on SQLite, all other writers wait from here to the end.
        lock_for_import(db)
        check_deidentification(db, deidentification=deidentification)
        dataset_id, existing_count = _find_or_create_dataset(
            db, name=dataset, minimum_explanation=minimum_explanation, now=now
        )
        import_id = datasets.add_import(
            db,
            dataset_id=dataset_id,
            file_name=name,
            file_format=file.format_name,
            expectations=file.expectations,
            by=by.id or None,
            now=now,
        )
        is_large = file.size >= LARGE_FILE_BYTES
        with defer_indexes(db, enabled=is_large):
            writer = BatchWriter(
                db,
                dataset_id=dataset_id,
                import_id=import_id,
                container=file.container,
                image_importer=image_importer,
                refusals=refusals,
                skip_known=skip_known,
                existing_count=existing_count,
                added_images=AddedImages(
                    db, dataset_id=dataset_id, by=by, import_id=import_id, file=name, now=now
                ),
            )
            records = filtered = 0
            minimum = datasets.load_minimum_explanation(db, dataset_id=dataset_id)
            for batch in parse(minimum_explanation=minimum):
                writer.write(batch)
                records += batch.records
                filtered += batch.filtered
                report_progress(
                    batch.bytes_read,
                    records,
                    questions=writer.questions,
                    refused=refusals.count,
                    image_importer=image_importer,
                )
            # Runs while the indexes are created; before that, the parsing process uses the second processor.
            digest_future = stack.enter_context(ThreadPoolExecutor(1)).submit(_hash_files, file.list_files())
        if records == filtered:
            refusals.add("", "file", _explain_no_records(records))
        report = _build_report(
            dataset,
            name,
            file.format_name,
            refusals,
            refusals_path,
            writer=writer,
            filtered=filtered,
            image_importer=image_importer,
        )
        if refusals.count and (not skip_bad or records == filtered):
            raise ImportRefused(report)
        search_with_headers(db, dataset_id=dataset_id, values_by_exam=writer.identity)
        counts = {"questions": writer.questions, "known": writer.known, "refused": refusals.count}
        file_sha256 = digest_future.result()
        datasets.finish_import(db, import_id=import_id, file_sha256=file_sha256, **counts)
        new_values = {
            "dataset": dataset,
            "file": name,
            "format": file.format_name,
            "sha256": file_sha256,
            **({"mapping": mapping.text} if mapping else {}),
            **counts,
        }
        record_action(
            db, by=by, action="import questions", subject=f"import {import_id}", new=new_values, now=now
        )
    return report


def _fetch_images(
    image_importer: ImageImporter, batches: Iterator[ParsedBatch], report_progress: Callable[..., None]
) -> None:
    """Read all images that the records name, before the database is locked."""
    records = bytes_before = 0
    for batch in batches:
        for share in image_importer.import_files(file for exam in batch.exams for _, file, _ in exam[6]):
            report_progress(
                bytes_before + share * (batch.bytes_read - bytes_before),
                records + int(share * batch.records),
                questions=0,
                refused=len(batch.refusals),
                image_importer=image_importer,
                is_fetching=True,
            )
        records, bytes_before = records + batch.records, batch.bytes_read


def _report_progress(
    progress: Callable[[ImportProgress], None],
    size: int,
    bytes_read: float,
    records: int,
    *,
    questions: int,
    refused: int,
    image_importer: ImageImporter | None,
    is_fetching: bool = False,
) -> None:
    """Report the progress; with images, reading them counts as nine tenths of the work."""
    fraction = min(1.0, bytes_read / max(1, size))
    if image_importer:
        fraction = fraction * 0.9 if is_fetching else 0.9 + fraction * 0.1
    images = image_importer.imported_count if image_importer else 0
    progress(
        ImportProgress(
            records=records, questions=questions, refused=refused, images=images, fraction=fraction
        )
    )


def unpack_images(*, by: Person, archive: Path, folder: Path) -> int:
    """Unpack a zip of images.

    Args:
        by: the acting person.
        archive: the zip file.
        folder: the folder to create; it must not exist.

    Returns:
        The number of files.

    Raises:
        InvalidValue: the zip file can't be used; files unpacked so far stay.
    """
    require(by, Action.IMPORT_QUESTIONS)
    return unpack_archive(archive, folder)


def check_dataset_name(name: str) -> str:
    """Check the name of a dataset.

    Returns:
        The name without surrounding spaces.

    Raises:
        InvalidValue: the name is empty, has over 100 characters, or has control characters or slashes.
    """
    stripped = name.strip()
    if not 0 < len(stripped) <= 100 or not stripped.isprintable() or "/" in stripped or "\\" in stripped:
        raise InvalidValue("dataset", "must have a name of 1 to 100 characters without slashes")
    return stripped


def _find_or_create_dataset(
    db: Session, *, name: str, minimum_explanation: int | None, now: datetime
) -> tuple[int, int]:
    """Return the id of a dataset, which is created if necessary, and its number of questions."""
    dataset_id = datasets.find_dataset_id(db, name=name)
    if dataset_id is None:
        return datasets.add_dataset(db, name=name, minimum_explanation=minimum_explanation, now=now), 0
    if minimum_explanation is not None:
        datasets.set_minimum_explanation(db, dataset_id=dataset_id, characters=minimum_explanation)
    return dataset_id, datasets.count_dataset_questions(db, dataset_id=dataset_id)


def _build_report(
    dataset: str,
    file_name: str,
    file_format: str,
    refusals: RefusalList,
    refusals_path: Path,
    *,
    writer: BatchWriter | None = None,
    filtered: int = 0,
    image_importer: ImageImporter | None = None,
) -> ImportReport:
    return ImportReport(
        dataset=dataset,
        file_name=file_name,
        file_format=file_format,
        questions=writer.questions if writer else 0,
        known=writer.known if writer else 0,
        refused=refusals.count,
        filtered=filtered,
        exams=writer.exams if writer else 0,
        images=image_importer.new_count if image_importer else 0,
        completed_exams=writer.added_images.exams if writer else 0,
        converted_questions=writer.added_images.questions if writer else 0,
        refusals=tuple(refusals.first_refusals),
        refusals_file=refusals_path if refusals.count else None,
        problems={check: writer.problems.get(check, 0) for check in CHECKS_ON_IMPORT} if writer else {},
    )


def _explain_no_records(records: int) -> str:
    return "the mapping's filter leaves none of the records" if records else "contains no records"


def _make_slug(name: str) -> str:
    return "".join(character if character.isascii() and character.isalnum() else "-" for character in name)


def _hash_files(paths: list[Path]) -> str:
    """Return the SHA-256 of a file; for several files, the hash of their digests in name order."""
    digests = []
    for path in paths:
        with path.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()
