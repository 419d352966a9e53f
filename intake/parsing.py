"""A question file as batches of what can be known without the database and without the images."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from domain.draw_hash import draw_hash
from domain.errors import InvalidValue
from domain.vocabulary import Sex, View
from intake.containers import Container, QuestionFile, Raw, record_name
from intake.formats.native import Native
from intake.recognition import FileFormat, Reader, reader_for
from intake.records import ExamRecord, QuestionRecord
from intake.rules import LONGEST_ID, exam_of, grid_of, question_of, surely_valid
from quality.checks import check_question
from quality.quick import surely_fine

#: Records in a batch: the rows of one executemany. Larger ones leave the processor's cache and are slower.
BATCH = 2_000
# Records decoded at once: so few that they stay in the processor's cache until their rows are made.
_AT_ONCE = 100

#: The columns of a question that its record alone decides, in the order of ``ParsedBatch.questions``.
COLUMNS = (
    "key", "format", "stem", "options", "answer", "also_right", "explanation", "boxes", "task",
    "content_type", "category", "subcategory", "difficulty", "generator", "generator_version",
    "prompt_version", "draw_hash", "record_hash",
)  # fmt: skip
KEY, BOXES, HASH, RECORD_HASH = (COLUMNS.index(name) for name in ("key", "boxes", "draw_hash", "record_hash"))

#: (key, patient, indication, age, sex, report, ((radiograph, file, view), …))
ExamFacts = tuple[
    str, str | None, str | None, str | None, str | None, str | None, tuple[tuple[str, str, str], ...]
]
#: (grid as (width, height, fit) or None, [(radiograph, label, (x_min, y_min, x_max, y_max)), …])
Boxes = tuple[tuple[int, int, str] | None, list[tuple[str, str, tuple[float, float, float, float]]]]

_encoder = msgspec.json.Encoder(order="sorted")
# As a record has them when nothing needs a closer look.
_SEXES = {*(sex.value for sex in Sex), None, UNSET}
_VIEWS = {*(view.value for view in View), None, UNSET}


@dataclass(slots=True)
class ParsedBatch:
    """Questions in the order of the file, in plain values, so that another process can make them.

    ``names[i]``, ``exam_of[i]`` (a place in ``exams``) and ``questions[i]`` (the values of COLUMNS) belong
    together; ``boxes[i]`` is there for questions whose boxes must be held against their image. ``problems``
    are (i, check, field, reason), ``refusals`` (record, field, reason).
    """

    names: list[int | str] = field(default_factory=list)
    exams: list[ExamFacts] = field(default_factory=list)
    exam_of: list[int] = field(default_factory=list)
    questions: list[tuple[Any, ...]] = field(default_factory=list)
    boxes: dict[int, Boxes] = field(default_factory=dict)
    problems: list[tuple[int, str, str, str]] = field(default_factory=list)
    refusals: list[tuple[str, str, str]] = field(default_factory=list)
    records: int = 0
    bytes_read: int = 0

    def plain(self) -> tuple[Any, ...]:
        """The fields in their order; ``ParsedBatch(*plain)`` is the batch again."""
        return tuple(getattr(self, name) for name in ParsedBatch.__slots__)


def parsed_batches(
    path: Path,
    *,
    container: Container,
    file_format: FileFormat,
    file_stem: str,
    minimum_explanation: int,
    with_images: bool,
) -> Iterator[ParsedBatch]:
    """The file's batches; what is wrong with a record is in ``refusals`` and stops nothing.

    Args:
        path: the file.
        container: how it holds its records.
        file_format: of the records.
        file_stem: the name that the file had where it came from, without its ending.
        minimum_explanation: of the format check, in characters.
        with_images: boxes will be held against their images.
    """
    file = QuestionFile(path)
    reader = reader_for(file_format, file_stem)
    raws = file.records(container)
    filling = _Filling(container, reader, minimum_explanation, with_images)
    while records := list(islice(raws, _AT_ONCE)):
        filling.fill(records)
        if filling.batch.records >= BATCH:
            filling.batch.bytes_read = file.bytes_read
            yield filling.batch
            filling = _Filling(container, reader, minimum_explanation, with_images)
    if filling.batch.records:
        filling.batch.bytes_read = file.bytes_read
        yield filling.batch


def written(boxes: Sequence[tuple[str, str, tuple[float, ...]]]) -> str:
    """Boxes as their column has them; one spelling a value."""
    return _encoder.encode(
        [{"box": box, "label": label, "radiograph": radiograph} for radiograph, label, box in boxes]
    ).decode()


def facts_of(record: ExamRecord, report: str | None) -> ExamFacts:
    """The exam as a record states it, in plain values.

    Raises:
        InvalidValue: it cannot stand, with the field and the reason.
    """
    radiographs = record.radiographs
    plain = record.sex in _SEXES and len({each.id for each in radiographs}) == len(radiographs) > 0
    if plain and 0 < len(record.id) < LONGEST_ID and not record.id.isspace():
        for each in radiographs:
            if not each.id or not each.file or each.view not in _VIEWS:
                break
        else:
            return (
                record.id,
                record.patient or None,
                record.indication or None,
                record.age or None,
                record.sex or None,
                report,
                tuple((each.id, each.file, each.view or "UNKNOWN") for each in radiographs),
            )
    stated = exam_of(record, report)
    return (
        stated.id,
        stated.patient,
        stated.indication,
        stated.age,
        stated.sex.value if stated.sex else None,
        stated.report,
        tuple((each.id, each.file, each.view.value) for each in stated.radiographs),
    )


class _Filling:
    """One batch while it is filled: which exams it has met already."""

    def __init__(
        self, container: Container, reader: Reader, minimum_explanation: int, with_images: bool
    ) -> None:
        self._container, self._reader = container, reader
        self._minimum, self._with_images = minimum_explanation, with_images
        self.batch = ParsedBatch()
        self._last: dict[str, tuple[ExamRecord, str | None, int]] = {}
        self._places: dict[ExamFacts, int] = {}
        self._radiographs: list[set[str]] = []

    def fill(self, records: list[Raw]) -> None:
        batch, read = self.batch, self._reader.read
        batch.records += len(records)
        for (name, raw), at_once in zip(records, self._at_once(records), strict=True):
            try:
                if isinstance(raw, InvalidValue):
                    raise raw
                record = at_once or read(name, raw)
                exam = self._exam(record)
                row = self._row(record, raw, exam)
            except InvalidValue as error:
                batch.refusals.append((record_name(self._container, name), error.field, error.reason))
                # A reader may have put the question's boxes or problems in already.
                self._forget(len(batch.questions))
                continue
            batch.names.append(name)
            batch.exam_of.append(exam)
            batch.questions.append(row)

    def _at_once(self, records: list[Raw]) -> Iterable[QuestionRecord | None]:
        """What the format can read of lines together; None for each record that it has to read alone."""
        if self._container is not Container.LINES or not isinstance(self._reader, Native):
            return repeat(None, len(records))
        return self._reader.read_lines([b"" if isinstance(raw, InvalidValue) else raw for _, raw in records])

    def _exam(self, record: QuestionRecord) -> int:
        """The place of the record's exam among the batch's; records of one exam mostly say the same of it."""
        exam, report = record.exam, record.report or None
        last = self._last.get(exam.id)
        if last is not None and last[0] == exam and last[1] == report:
            return last[2]
        facts = facts_of(exam, report)
        place = self._places.setdefault(facts, len(self.batch.exams))
        if place == len(self.batch.exams):
            self.batch.exams.append(facts)
            self._radiographs.append({radiograph[0] for radiograph in facts[6]})
        self._last[exam.id] = (exam, report, place)
        return place

    def _row(self, record: QuestionRecord, raw: bytes, exam: int) -> tuple[Any, ...]:
        options = record.options or ()
        boxes = record.boxes or ()
        explanation = record.explanation or ""
        question = None if surely_valid(record) else question_of(record)
        if boxes:
            self._keep_boxes(record, self._radiographs[exam])
        has_categories = record.difficulty and record.category and record.task
        if not has_categories or not surely_fine(record.stem, options, explanation, boxes, self._minimum):
            found = check_question(question or question_of(record), minimum_explanation=self._minimum)
            place = len(self.batch.questions)
            self.batch.problems += [(place, each.check.value, each.field, each.reason) for each in found]
        source = record.source or None
        return (
            record.id,
            record.format,
            record.stem,
            _encoder.encode(options).decode() if options else "[]",
            _encoder.encode(record.answer).decode(),
            _encoder.encode(record.also_right).decode() if record.also_right else "[]",
            explanation,
            _encoder.encode(boxes).decode() if boxes else "[]",
            record.task or None,
            record.content_type or None,
            record.category or None,
            record.subcategory or None,
            record.difficulty or None,
            (source.generator or None) if source else None,
            (source.version or None) if source else None,
            (source.prompt_version or None) if source else None,
            draw_hash(record.id),
            hashlib.blake2b(raw, digest_size=16).digest(),
        )

    def _keep_boxes(self, record: QuestionRecord, radiographs: set[str]) -> None:
        grid = grid_of(record) if record.box_grid or record.box_fit else None
        kept = []
        for each in record.boxes or ():
            if each.radiograph not in radiographs:
                known = ", ".join(sorted(radiographs))
                raise InvalidValue(
                    "boxes.radiograph", f"{each.radiograph!r} is not of the exam; it has {known}"
                )
            x_min, y_min, x_max, y_max = each.box
            if not (x_min < x_max and y_min < y_max):
                raise InvalidValue("boxes", f"{list(each.box)} is empty or turned round")
            kept.append((each.radiograph, each.label, each.box))
        if grid is not None or self._with_images:
            plain_grid = (grid.width, grid.height, grid.fit.value) if grid else None
            self.batch.boxes[len(self.batch.questions)] = (plain_grid, kept)

    def _forget(self, place: int) -> None:
        self.batch.boxes.pop(place, None)
        while self.batch.problems and self.batch.problems[-1][0] == place:
            self.batch.problems.pop()
