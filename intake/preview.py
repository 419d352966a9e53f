"""The preview of a question file before import: its format, first questions, refusals, missing images."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from domain.errors import InvalidValue
from domain.exams import Exam, Radiograph
from domain.people import Action, Person, require
from domain.problems import Refusal
from domain.questions import Question
from domain.vocabulary import Sex, View
from intake.containers import QuestionFile, format_record_name
from intake.image_folder import ImageFolder
from intake.mapping.declaration import Mapping
from intake.parsed_batch import COLUMNS, KEY, ParsedBatch
from intake.parsing import BATCH_SIZE
from intake.parsing_process import parse_batches_in_process
from intake.recognition import RecognisedFile, recognise_file
from intake.reports import MAX_SHOWN_REFUSALS
from intake.zipped_images import ZippedImages
from records.questions import QUESTION_COLUMNS, question_from_columns

_PREVIEW_COUNT = 3
_DRY_RUN_COUNT = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePreview:
    """The preview of a question file, from its first records.

    ``records`` is the number of records in the file; unless ``is_exact``, it is estimated from the size of
    the first records. The other fields are about the first ``records_read`` records: ``first_questions`` are
    the first questions with their exams, ``refusals`` the refused records, ``filtered`` the number of records
    that a mapping's filter skips, ``images`` the number of image files that they name, and ``missing`` the
    image files that are not in the folder.
    """

    file_format: str
    records: int
    is_exact: bool
    records_read: int
    first_questions: tuple[tuple[Question, Exam], ...]
    refusals: tuple[Refusal, ...]
    filtered: int
    images: int
    missing: tuple[str, ...]


def preview_file(
    *,
    by: Person,
    path: Path,
    file_format: str = "auto",
    mapping: Mapping | None = None,
    images: Path | ZippedImages | None,
    file_name: str | None = None,
) -> FilePreview:
    """Read the first records of a question file and look for their images.

    Args:
        by: the person who asks.
        path: the question file.
        file_format: "auto" or one of ``intake.service.FORMATS``.
        mapping: a mapping that declares another format.
        images: the folder of images, or a zip in memory; None if there are none.
        file_name: the user's name of the file; None if it is the name in ``path``.

    Raises:
        InvalidValue: the file can't be read, its format is not recognised, or the folder of images does not
            exist.
    """
    require(by, Action.IMPORT_QUESTIONS)
    name = file_name or path.name
    try:
        file = recognise_file(path, file_format, mapping)
        batches = parse_batches_in_process(
            file, file_stem=Path(name).stem, minimum_explanation=0, with_images=False
        )
        with closing(batches):  # ends the parsing process, because the first records are enough
            batch = next(batches, ParsedBatch())
    except OSError as error:
        raise InvalidValue("file", f"cannot be read: {error.strerror}") from error
    folder = open_image_source(images, path)
    image_names = sorted({image for exam in batch.exams for _, image, _ in exam[6]})
    is_exact = batch.records < BATCH_SIZE
    return FilePreview(
        file_format=file.format_name,
        records=batch.records if is_exact else _estimate_records(file, batch),
        is_exact=is_exact,
        records_read=batch.records,
        first_questions=tuple(list_questions(batch, _PREVIEW_COUNT)),
        refusals=tuple(
            Refusal(file=name, record=record, field=field, reason=reason)
            for record, field, reason in batch.refusals
        ),
        filtered=batch.filtered,
        images=len(image_names),
        missing=tuple(image for image in image_names if folder is not None and not _has_file(folder, image)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """The result that an import of a file would have; nothing is written.

    ``formats`` and ``tasks`` count questions by answer format and task, ``refused_fields`` counts refusals by
    field. ``refusals`` and ``examples`` contain only the first refusals and questions. ``images`` is the
    number of image files that the questions name; ``missing`` are those that are not in the folder (None
    without a folder). Conflicts with questions in the database are not checked.
    """

    file_format: str
    records: int
    questions: int
    filtered: int
    refused: int
    formats: dict[str, int]
    tasks: dict[str, int]
    refused_fields: dict[str, int]
    refusals: tuple[Refusal, ...]
    examples: tuple[tuple[Question, Exam], ...]
    images: int
    missing: tuple[str, ...] | None


def dry_run(
    *,
    by: Person,
    path: Path,
    file_format: str = "auto",
    mapping: Mapping | None = None,
    images: Path | ZippedImages | None,
    file_name: str | None = None,
) -> DryRun:
    """Read all records of a question file as an import would, without writing anything.

    Args:
        by: the person who asks.
        path: the question file.
        file_format: "auto" or one of ``intake.service.FORMATS``.
        mapping: a mapping that declares another format.
        images: the folder of images, or a zip in memory; None if there are none.
        file_name: the user's name of the file; None if it is the name in ``path``.

    Raises:
        InvalidValue: the file can't be read, its format is not recognised, or the folder of images does not
            exist.
    """
    require(by, Action.IMPORT_QUESTIONS)
    name = file_name or path.name
    formats, tasks, refused_fields = Counter[str](), Counter[str](), Counter[str]()
    examples: list[tuple[Question, Exam]] = []
    refusals: list[Refusal] = []
    seen_keys, image_names = set[str](), set[str]()
    records = filtered = 0
    try:
        file = recognise_file(path, file_format, mapping)
        batches = parse_batches_in_process(
            file, file_stem=Path(name).stem, minimum_explanation=0, with_images=False
        )
        for batch in batches:
            records += batch.records
            filtered += batch.filtered
            repeated_ids = [
                (format_record_name(file.container, record), "id", f"{key!r} occurs earlier in the file")
                for record, key in zip(batch.record_names, batch.questions[KEY], strict=True)
                if key in seen_keys or seen_keys.add(key)  # type: ignore[func-returns-value]  # add returns None
            ]
            for record, field, reason in (*batch.refusals, *repeated_ids):
                refused_fields[field] += 1
                if len(refusals) < MAX_SHOWN_REFUSALS:
                    refusals.append(Refusal(file=name, record=record, field=field, reason=reason))
            formats.update(batch.questions[COLUMNS.index("format")])
            tasks.update(task or "none" for task in batch.questions[COLUMNS.index("task")])
            image_names.update(image for exam in batch.exams for _, image, _ in exam[6])
            examples += list_questions(batch, _DRY_RUN_COUNT - len(examples))
    except OSError as error:
        raise InvalidValue("file", f"cannot be read: {error.strerror}") from error
    folder = open_image_source(images, path)
    refused = sum(refused_fields.values())
    return DryRun(
        file_format=file.format_name,
        records=records,
        questions=records - filtered - refused,
        filtered=filtered,
        refused=refused,
        formats=dict(formats.most_common()),
        tasks=dict(tasks.most_common()),
        refused_fields=dict(refused_fields.most_common()),
        refusals=tuple(refusals),
        examples=tuple(examples),
        images=len(image_names),
        missing=tuple(image for image in sorted(image_names) if not _has_file(folder, image))
        if folder
        else None,
    )


def list_questions(batch: ParsedBatch, count: int) -> list[tuple[Question, Exam]]:
    """Return the first questions of a batch with their exams. Boxes are on the grid of the file."""
    questions = []
    for index, exam_index in enumerate(batch.exam_indices[: max(0, count)]):
        key, patient, indication, age, sex, report, radiographs = batch.exams[exam_index]
        values = [column[index] for column in batch.questions[: len(QUESTION_COLUMNS)]]
        exam = Exam(
            id=key,
            patient=patient,
            indication=indication,
            age=age,
            sex=Sex(sex) if sex else None,
            report=report,
            radiographs=tuple(
                Radiograph(id=name, file=file, view=View(view)) for name, file, view in radiographs
            ),
        )
        questions.append((question_from_columns(key, values), exam))
    return questions


def _estimate_records(file: RecognisedFile, batch: ParsedBatch) -> int:
    """Estimate the number of records in a file from the size of the first records."""
    if file.mapping is not None:
        return round(batch.records * file.size / max(1, batch.bytes_read))
    raw_records = QuestionFile(file.path).read_records(file.container)
    size = sum(
        len(raw) + len(format_record_name(file.container, name)) + 4
        for name, raw in islice(raw_records, batch.records)
        if isinstance(raw, bytes)
    )
    return round(batch.records * file.size / max(1, size))


def open_image_source(images: Path | ZippedImages | None, path: Path) -> ImageFolder | ZippedImages | None:
    """Return the source of the images of the question file ``path``.

    Raises:
        InvalidValue: the folder of images does not exist.
    """
    return ImageFolder(images, file_folder=path.parent) if isinstance(images, Path) else images


def _has_file(folder: ImageFolder | ZippedImages, file: str) -> bool:
    try:
        folder.check(file)
    except InvalidValue:
        return False
    return True
