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

from accounts.service.audit import record
from domain.errors import InvalidValue
from domain.people import Action, Person, require
from domain.problems import Check
from imaging.guarded import GuardedReader
from intake.archives import unpack
from intake.containers import QuestionFile
from intake.parsed_batch import ParsedBatch
from intake.parsing_process import LARGE, batches_of
from intake.preview import Look, image_source, look_at
from intake.recognition import FileFormat, recognised
from intake.refusals import RefusalList, refusal_list
from intake.reports import ImportRefused, ImportReport, Progress
from intake.service.batch_writer import BatchWriter
from intake.service.door import Door, check_door, door_of, kept_of_a_header
from intake.service.pictures import Pictures
from intake.zipped import ZippedImages
from privacy.service import search_with_headers
from storage.intake import datasets
from storage.intake.bulk import indexes_afterwards, lock_for_import
from storage.workspace import Workspace

#: The names of the formats; "gemex" covers both of its variants.
FORMATS = tuple(each.value for each in FileFormat)

__all__ = [
    "FORMATS",
    "Door",
    "ImportRefused",
    "ImportReport",
    "Look",
    "Progress",
    "ZippedImages",
    "door_of",
    "import_questions",
    "kept_of_a_header",
    "look_at",
    "unpack_images",
]


def import_questions(
    db: Session,
    *,
    by: Person,
    path: Path,
    file_format: str = "auto",
    dataset: str,
    images: Path | ZippedImages | None,
    workspace: Workspace,
    door: Door | None = None,
    skip_known: bool = False,
    skip_bad: bool = False,
    minimum_explanation: int | None = None,
    file_name: str | None = None,
    now: datetime,
    progress: Callable[[Progress], None] = lambda _: None,
) -> ImportReport:
    """Import a question file: read it, check each record, and write questions, exams and images.

    Images are read first; the database is locked for writing only after that.

    Args:
        db: a session that writes; the caller rolls back after an error.
        by: who imports.
        path: the question file.
        file_format: "auto" or one of ``FORMATS``.
        dataset: the name of a new dataset, or of an existing one to add questions to.
        images: the folder of images, or a zip in memory; None to import questions only.
        workspace: where image files and the list of refusals are stored.
        door: of :func:`door_of`, called in an earlier transaction. With None it is read here, and on SQLite
            all other writers then wait while the images are read.
        skip_known: leave out records that are in the dataset already with identical bytes.
        skip_bad: leave out invalid records instead of refusing the file.
        minimum_explanation: the dataset's setting for the format check, in characters; None for no change.
        file_name: the user's name of the file, if ``path`` has another.
        now: the time.
        progress: called after each batch of records.

    Returns:
        The counts, and the records left out.

    Raises:
        ImportRefused: the file or the folder of images can't be read, a record is invalid (without
            ``skip_bad``), or there is no record; has the report. The caller must roll back.
        InvalidValue: the name of the dataset is not allowed.
        Refused: the workspace's rule on image files was changed since ``door`` was read.
        OSError: an image could not be written, e.g. because the disk is full. The caller must roll back.
    """
    require(by, Action.IMPORT_QUESTIONS)
    name = file_name or path.name
    dataset = check_dataset_name(dataset)
    listed_at = workspace.refusals / f"{now:%Y%m%dT%H%M%S%f}-{_plain(dataset)}.csv"
    with ExitStack() as stack:
        refusals = stack.enter_context(refusal_list(listed_at, name))
        try:
            file = QuestionFile(path)
            container, known_format = recognised(file, file_format)
            folder = image_source(images, path)
        except InvalidValue as error:
            refusals.add("", error.field, error.reason)
            raise ImportRefused(_report(dataset, name, file_format, refusals, listed_at)) from error
        except OSError as error:
            refusals.add("", "file", f"can't be read: {error.strerror}")
            raise ImportRefused(_report(dataset, name, file_format, refusals, listed_at)) from error
        parse = partial(
            batches_of,
            path,
            container=container,
            file_format=known_format,
            file_stem=Path(name).stem,
            with_images=folder is not None,
        )
        told = partial(_told, progress, path.stat().st_size)
        pictures = None
        if folder is not None:
            door = door or door_of(db, by=by)
            pictures = Pictures(workspace, folder, stack.enter_context(GuardedReader()), door=door)
            _fetch(pictures, parse(minimum_explanation=0), told)
        # Locked as late as possible: on SQLite, all other writers wait from here to the end.
        lock_for_import(db)
        check_door(db, door=door)
        dataset_id, there = _dataset(db, name=dataset, minimum_explanation=minimum_explanation, now=now)
        import_id = datasets.add_import(
            db,
            dataset_id=dataset_id,
            file_name=name,
            file_format=known_format.value,
            by=by.id or None,
            now=now,
        )
        large = path.stat().st_size >= LARGE
        with indexes_afterwards(db, wanted=large):
            writer = BatchWriter(
                db,
                dataset_id=dataset_id,
                import_id=import_id,
                container=container,
                pictures=pictures,
                refusals=refusals,
                skip_known=skip_known,
                there=there,
            )
            records = 0
            minimum = datasets.minimum_explanation_of(db, dataset_id=dataset_id)
            for batch in parse(minimum_explanation=minimum):
                writer.write(batch)
                records += batch.records
                told(batch, records, questions=writer.questions, refused=refusals.count, pictures=pictures)
            # Runs while the indexes are created; before that, the parsing process uses the second processor.
            digest = stack.enter_context(ThreadPoolExecutor(1)).submit(_sha256, path)
        if records == 0:
            refusals.add("", "file", "holds no records")
        report = _report(
            dataset, name, known_format.value, refusals, listed_at, writer=writer, pictures=pictures
        )
        if refusals.count and (not skip_bad or records == 0):
            raise ImportRefused(report)
        search_with_headers(db, dataset_id=dataset_id, by_exam=writer.identity)
        counts = {"questions": writer.questions, "known": writer.known, "refused": refusals.count}
        file_sha256 = digest.result()
        datasets.finish_import(db, import_id=import_id, file_sha256=file_sha256, **counts)
        new = {
            "dataset": dataset,
            "file": name,
            "format": known_format.value,
            "sha256": file_sha256,
            **counts,
        }
        record(db, by=by, what="import questions", subject=f"import {import_id}", new=new, now=now)
    return report


def _fetch(pictures: Pictures, batches: Iterator[ParsedBatch], told: Callable[..., None]) -> None:
    """Read all images that the records name, before the database is locked."""
    records = 0
    for batch in batches:
        pictures.fetch(file for exam in batch.exams for _, file, _ in exam[6])
        records += batch.records
        told(batch, records, questions=0, refused=len(batch.refusals), pictures=pictures, fetching=True)


def _told(
    progress: Callable[[Progress], None],
    size: int,
    batch: ParsedBatch,
    records: int,
    *,
    questions: int,
    refused: int,
    pictures: Pictures | None,
    fetching: bool = False,
) -> None:
    """Report the progress; with images, reading them counts as nine tenths of the work."""
    part = min(1.0, batch.bytes_read / max(1, size))
    if pictures:
        part = part * 0.9 if fetching else 0.9 + part * 0.1
    images = pictures.fetched if pictures else 0
    progress(Progress(records=records, questions=questions, refused=refused, images=images, part=part))


def unpack_images(*, by: Person, archive: Path, folder: Path) -> int:
    """Unpack a zip of images.

    Args:
        by: who acts.
        archive: the zip file.
        folder: to create; it must not exist.

    Returns:
        The number of files.

    Raises:
        InvalidValue: the zip file can't be used; files unpacked so far stay.
    """
    require(by, Action.IMPORT_QUESTIONS)
    return unpack(archive, folder)


def check_dataset_name(name: str) -> str:
    """Check the name of a dataset.

    Returns:
        Without spaces around it.

    Raises:
        InvalidValue: empty, over 100 characters, or with control characters or slashes.
    """
    stripped = name.strip()
    if not 0 < len(stripped) <= 100 or not stripped.isprintable() or "/" in stripped or "\\" in stripped:
        raise InvalidValue("dataset", "needs a name of 1 to 100 characters, without slashes")
    return stripped


def _dataset(db: Session, *, name: str, minimum_explanation: int | None, now: datetime) -> tuple[int, int]:
    """Number of a dataset, which is created if necessary, and of its questions."""
    found = datasets.dataset_id_of(db, name=name)
    if found is None:
        return datasets.add_dataset(db, name=name, minimum_explanation=minimum_explanation, now=now), 0
    if minimum_explanation is not None:
        datasets.set_minimum_explanation(db, dataset_id=found, characters=minimum_explanation)
    return found, datasets.questions_of(db, dataset_id=found)


def _report(
    dataset: str,
    file_name: str,
    file_format: str,
    refusals: RefusalList,
    listed_at: Path,
    *,
    writer: BatchWriter | None = None,
    pictures: Pictures | None = None,
) -> ImportReport:
    return ImportReport(
        dataset=dataset,
        file_name=file_name,
        file_format=file_format,
        questions=writer.questions if writer else 0,
        known=writer.known if writer else 0,
        refused=refusals.count,
        exams=writer.exams if writer else 0,
        images=pictures.new if pictures else 0,
        refusals=tuple(refusals.shown),
        refusals_file=listed_at if refusals.count else None,
        problems={check: writer.problems.get(check, 0) for check in Check} if writer else {},
    )


def _plain(name: str) -> str:
    return "".join(character if character.isascii() and character.isalnum() else "-" for character in name)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
