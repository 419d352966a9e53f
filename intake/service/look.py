"""A look at a question file before it is imported: nothing is written."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from domain.errors import DomainError, InvalidValue
from domain.exams import Exam
from domain.people import Action, Person, require
from domain.problems import Refusal
from domain.questions import Question
from intake.containers import QuestionFile, record_name
from intake.folders import ImageFolder
from intake.parsed_batch import ParsedBatch
from intake.parsing import BATCH
from intake.parsing_process import batches_of
from intake.recognition import FileFormat, reader_for, recognised
from intake.rules import exam_of, question_of
from intake.zipped import ZippedImages

_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a file would come in as, from its first records.

    ``records`` is their number in the file, counted if ``counted``, else reckoned from their size. ``first``
    are the first questions with their exams; ``refusals`` are those of the ``looked_at`` first records, and
    ``missing`` the images that those name and the folder lacks, of ``images`` that they name.
    """

    file_format: FileFormat
    records: int
    counted: bool
    looked_at: int
    first: tuple[tuple[Question, Exam], ...]
    refusals: tuple[Refusal, ...]
    images: int
    missing: tuple[str, ...]


def look_at(
    *,
    by: Person,
    path: Path,
    file_format: str = "auto",
    images: Path | ZippedImages | None,
    file_name: str | None = None,
) -> Look:
    """Read the first records and look for their images.

    Raises:
        InvalidValue: the file can't be read at all, or is of no known format, or there is no such folder.
    """
    require(by, Action.IMPORT_QUESTIONS)
    name = file_name or path.name
    try:
        container, found = recognised(QuestionFile(path), file_format)
        batches = batches_of(
            path,
            container=container,
            file_format=found,
            file_stem=Path(name).stem,
            minimum_explanation=0,
            with_images=False,
        )
        with closing(batches):  # which ends the process: the first records are enough
            batch = next(batches, ParsedBatch())
    except OSError as error:
        raise InvalidValue("file", f"can't be read: {error.strerror}") from error
    folder = image_source(images, path)
    files = sorted({file for exam in batch.exams for _, file, _ in exam[6]})
    counted = batch.records < BATCH
    size = path.stat().st_size
    return Look(
        file_format=found,
        records=batch.records
        if counted
        else round(batch.records * size / max(1, _bytes_of(path, batch.records))),
        counted=counted,
        looked_at=batch.records,
        first=tuple(_first(path, found, name)),
        refusals=tuple(
            Refusal(file=name, record=record, field=field, reason=reason)
            for record, field, reason in batch.refusals
        ),
        images=len(files),
        missing=tuple(file for file in files if folder is not None and not _there(folder, file)),
    )


def _first(path: Path, file_format: FileFormat, name: str) -> list[tuple[Question, Exam]]:
    file = QuestionFile(path)
    reader = reader_for(file_format, Path(name).stem)
    shown: list[tuple[Question, Exam]] = []
    for key, raw in islice(file.records(file.container()), 50):
        if isinstance(raw, InvalidValue) or len(shown) == _SHOWN:
            continue
        try:
            record = reader.read(key, raw)
            shown.append((question_of(record), exam_of(record.exam, record.report or None)))
        except DomainError:
            continue  # it is on the list of refusals
    return shown


def _bytes_of(path: Path, records: int) -> int:
    file = QuestionFile(path)
    container = file.container()
    return sum(
        len(raw) + len(record_name(container, name)) + 4
        for name, raw in islice(file.records(container), records)
        if isinstance(raw, bytes)
    )


def image_source(images: Path | ZippedImages | None, path: Path) -> ImageFolder | ZippedImages | None:
    """Where the images of the question file at ``path`` are read from.

    Raises:
        InvalidValue: there is no such folder.
    """
    return ImageFolder(images, file_folder=path.parent) if isinstance(images, Path) else images


def _there(folder: ImageFolder | ZippedImages, file: str) -> bool:
    try:
        folder.check(file)
    except InvalidValue:
        return False
    return True
