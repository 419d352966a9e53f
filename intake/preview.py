"""The preview of a question file before import: its format, first questions, refusals, missing images."""

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
from intake.containers import QuestionFile, format_record_name
from intake.image_folder import ImageFolder
from intake.parsed_batch import ParsedBatch
from intake.parsing import BATCH_SIZE
from intake.parsing_process import parse_batches_in_process
from intake.recognition import FileFormat, create_reader, recognise_file
from intake.rules import record_to_exam, record_to_question
from intake.zipped_images import ZippedImages

_PREVIEW_COUNT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePreview:
    """The preview of a question file, from its first records.

    ``records`` is the number of records in the file, exact if ``is_exact``, otherwise estimated from their
    size. ``first_questions`` are the first questions with their exams. ``refusals`` are those of the first
    ``records_read`` records. These name ``images`` image files, of which ``missing`` are not in the folder.
    """

    file_format: FileFormat
    records: int
    is_exact: bool
    records_read: int
    first_questions: tuple[tuple[Question, Exam], ...]
    refusals: tuple[Refusal, ...]
    images: int
    missing: tuple[str, ...]


def preview_file(
    *,
    by: Person,
    path: Path,
    file_format: str = "auto",
    images: Path | ZippedImages | None,
    file_name: str | None = None,
) -> FilePreview:
    """Read the first records of a question file and look for their images.

    Args:
        by: who asks.
        path: the question file.
        file_format: "auto" or one of ``intake.service.FORMATS``.
        images: the folder of images, or a zip in memory; None for none.
        file_name: the user's name of the file, if ``path`` has another.

    Raises:
        InvalidValue: the file can't be read, its format is not known, or there is no such folder.
    """
    require(by, Action.IMPORT_QUESTIONS)
    name = file_name or path.name
    try:
        container, detected_format = recognise_file(QuestionFile(path), file_format)
        batches = parse_batches_in_process(
            path,
            container=container,
            file_format=detected_format,
            file_stem=Path(name).stem,
            minimum_explanation=0,
            with_images=False,
        )
        with closing(batches):  # ends the parsing process: the first records are enough
            batch = next(batches, ParsedBatch())
    except OSError as error:
        raise InvalidValue("file", f"cannot be read: {error.strerror}") from error
    folder = open_image_source(images, path)
    files = sorted({file for exam in batch.exams for _, file, _ in exam[6]})
    counted = batch.records < BATCH_SIZE
    size = path.stat().st_size
    return FilePreview(
        file_format=detected_format,
        records=batch.records
        if counted
        else round(batch.records * size / max(1, _count_bytes(path, batch.records))),
        is_exact=counted,
        records_read=batch.records,
        first_questions=tuple(_read_first(path, detected_format, name)),
        refusals=tuple(
            Refusal(file=name, record=record, field=field, reason=reason)
            for record, field, reason in batch.refusals
        ),
        images=len(files),
        missing=tuple(file for file in files if folder is not None and not _has_file(folder, file)),
    )


def _read_first(path: Path, file_format: FileFormat, name: str) -> list[tuple[Question, Exam]]:
    file = QuestionFile(path)
    reader = create_reader(file_format, Path(name).stem)
    questions: list[tuple[Question, Exam]] = []
    for key, raw in islice(file.read_records(file.detect_container()), 50):
        if isinstance(raw, InvalidValue) or len(questions) == _PREVIEW_COUNT:
            continue
        try:
            record = reader.read(key, raw)
            questions.append((record_to_question(record), record_to_exam(record.exam, record.report or None)))
        except DomainError:
            continue  # the record is in the list of refusals
    return questions


def _count_bytes(path: Path, records: int) -> int:
    file = QuestionFile(path)
    container = file.detect_container()
    return sum(
        len(raw) + len(format_record_name(container, name)) + 4
        for name, raw in islice(file.read_records(container), records)
        if isinstance(raw, bytes)
    )


def open_image_source(images: Path | ZippedImages | None, path: Path) -> ImageFolder | ZippedImages | None:
    """The source of the images of a question file.

    Raises:
        InvalidValue: there is no such folder.
    """
    return ImageFolder(images, file_folder=path.parent) if isinstance(images, Path) else images


def _has_file(folder: ImageFolder | ZippedImages, file: str) -> bool:
    try:
        folder.check(file)
    except InvalidValue:
        return False
    return True
