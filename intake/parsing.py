"""A question file as batches of what can be known without the database and without the images."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from domain.draw_hash import draw_hash
from domain.errors import InvalidValue
from intake.containers import Container, QuestionFile, Raw, record_name
from intake.recognition import FileFormat, Reader, reader_for
from intake.records import ExamRecord, QuestionRecord
from intake.rules import exam_of, grid_of, question_of, surely_valid
from quality.checks import check_question
from quality.quick import surely_fine

#: Records in a batch: the rows of one executemany.
BATCH = 10_000

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


@dataclass(slots=True)
class ParsedBatch:
    """Questions in the order of the file, in plain values, so that another process can make them.

    ``names[i]``, ``exam_of[i]`` (a place in ``exams``) and ``questions[i]`` (the values of COLUMNS) belong
    together; ``boxes[i]`` is there for questions with boxes. ``problems`` are (i, check, field, reason),
    ``refusals`` (record, field, reason).
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
    path: Path, *, container: Container, file_format: FileFormat, file_stem: str, minimum_explanation: int
) -> Iterator[ParsedBatch]:
    """The file's batches; what is wrong with a record is in ``refusals`` and stops nothing.

    Args:
        path: the file.
        container: how it holds its records.
        file_format: of the records.
        file_stem: the name that the file had where it came from, without its ending.
        minimum_explanation: of the format check, in characters.
    """
    file = QuestionFile(path)
    reader = reader_for(file_format, file_stem)
    raws = file.records(container)
    while records := list(islice(raws, BATCH)):
        batch = _Filling(container, reader, minimum_explanation).filled(records)
        batch.records, batch.bytes_read = len(records), file.bytes_read
        yield batch


def written(boxes: Sequence[tuple[str, str, tuple[float, ...]]]) -> str:
    """Boxes as their column has them; one spelling a value."""
    return _encoder.encode(
        [{"box": box, "label": label, "radiograph": radiograph} for radiograph, label, box in boxes]
    ).decode()


class _Filling:
    """One batch while it is filled: which exams it has met already."""

    def __init__(self, container: Container, reader: Reader, minimum_explanation: int) -> None:
        self._container, self._reader, self._minimum = container, reader, minimum_explanation
        self._batch = ParsedBatch()
        self._last: dict[str, tuple[ExamRecord, str | None, int]] = {}
        self._places: dict[ExamFacts, int] = {}

    def filled(self, records: list[Raw]) -> ParsedBatch:
        batch, read = self._batch, self._reader.read
        for name, raw in records:
            try:
                if isinstance(raw, InvalidValue):
                    raise raw
                record = read(name, raw)
                exam = self._exam(record)
                row = self._row(record, raw, batch.exams[exam])
            except InvalidValue as error:
                batch.refusals.append((record_name(self._container, name), error.field, error.reason))
                # A reader may have put the question's boxes or problems in already.
                self._forget(len(batch.questions))
                continue
            batch.names.append(name)
            batch.exam_of.append(exam)
            batch.questions.append(row)
        return batch

    def _exam(self, record: QuestionRecord) -> int:
        """The place of the record's exam among the batch's; records of one exam mostly say the same of it."""
        exam, report = record.exam, record.report or None
        last = self._last.get(exam.id)
        if last is not None and last[0] == exam and last[1] == report:
            return last[2]
        stated = exam_of(exam, report)
        facts: ExamFacts = (
            stated.id,
            stated.patient,
            stated.indication,
            stated.age,
            stated.sex.value if stated.sex else None,
            stated.report,
            tuple((each.id, each.file, each.view.value) for each in stated.radiographs),
        )
        place = self._places.setdefault(facts, len(self._batch.exams))
        if place == len(self._batch.exams):
            self._batch.exams.append(facts)
        self._last[exam.id] = (exam, report, place)
        return place

    def _row(self, record: QuestionRecord, raw: bytes, exam: ExamFacts) -> tuple[Any, ...]:
        options = record.options or ()
        boxes = record.boxes or ()
        explanation = record.explanation or ""
        question = None if surely_valid(record) else question_of(record)
        if boxes:
            self._keep_boxes(record, exam)
        if not (
            options
            and surely_fine(
                stem=record.stem,
                options=options,
                explanation=explanation,
                boxes=boxes,
                has_categories=bool(record.difficulty and record.category and record.task),
                minimum_explanation=self._minimum,
            )
        ):
            found = check_question(question or question_of(record), minimum_explanation=self._minimum)
            place = len(self._batch.questions)
            self._batch.problems += [(place, each.check.value, each.field, each.reason) for each in found]
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

    def _keep_boxes(self, record: QuestionRecord, exam: ExamFacts) -> None:
        known = [radiograph[0] for radiograph in exam[6]]
        grid = grid_of(record)
        kept = []
        for each in record.boxes or ():
            if each.radiograph not in known:
                reason = f"{each.radiograph!r} is no radiograph of the exam; it has {', '.join(known)}"
                raise InvalidValue("boxes.radiograph", reason)
            x_min, y_min, x_max, y_max = each.box
            if not (x_min < x_max and y_min < y_max):
                raise InvalidValue("boxes", f"{list(each.box)} is empty or turned round")
            kept.append((each.radiograph, each.label, each.box))
        plain_grid = (grid.width, grid.height, grid.fit.value) if grid else None
        self._batch.boxes[len(self._batch.questions)] = (plain_grid, kept)

    def _forget(self, place: int) -> None:
        self._batch.boxes.pop(place, None)
        while self._batch.problems and self._batch.problems[-1][0] == place:
            self._batch.problems.pop()
