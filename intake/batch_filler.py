"""Fills a chunk of an import with records: many ordinary records at once, all others one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

from msgspec import UNSET, UnsetType
from xxhash import xxh3_128_digest

from domain.errors import InvalidValue
from domain.expectations import Expectations
from domain.vocabulary import Sex, View
from intake.containers import Container, RawRecord, format_record_name
from intake.formats.native import NativeReader
from intake.ordinary_records import build_ordinary_columns
from intake.parsed_batch import ExamFacts, ParsedBatch
from intake.record_reader import RecordReader
from intake.rules import read_box_grid, record_to_exam, record_to_question
from quality.structural_checks import QUICK_OPTION_COUNT, check_question
from records.questions import (
    MAX_ID_LENGTH,
    ExamRecord,
    QuestionRecord,
    records_to_table,
    table_to_question_columns,
)
from records.values import BoxRecord, to_json

# The size of the groups into which a larger group is split if one of its records is not ordinary.
_SMALL_GROUP = 20
# Values of an exam's sex and of a view that need no conversion.
_SEXES = {*(sex.value for sex in Sex), None, UNSET}
_VIEWS = {*(view.value for view in View), None, UNSET}
#: (exam as the record states it, report, index of the exam in the batch)
_IndexedExam = tuple[ExamRecord, str | None, int]
#: (index among the records read together, name, content, record, index of the exam in the batch)
_DecodedRecord = tuple[int, int | str, bytes, QuestionRecord, int]


def extract_exam_facts(record: ExamRecord, report: str | None) -> ExamFacts:
    """Return the facts of an exam from one record, as plain values.

    Raises:
        InvalidValue: the exam is not valid.
    """
    radiographs = record.radiographs
    is_plain = (
        record.sex in _SEXES and len({radiograph.id for radiograph in radiographs}) == len(radiographs) > 0
    )
    if is_plain and 0 < len(record.id) < MAX_ID_LENGTH and not record.id.isspace():
        for radiograph in radiographs:
            if not radiograph.id or not radiograph.file or radiograph.view not in _VIEWS:
                break
        else:
            return (
                record.id,
                record.patient or None,
                record.indication or None,
                record.age or None,
                record.sex or None,
                report,
                tuple((image.id, image.file, image.view or "UNKNOWN") for image in radiographs),
            )
    exam = record_to_exam(record, report)
    return (
        exam.id,
        exam.patient,
        exam.indication,
        exam.age,
        exam.sex.value if exam.sex else None,
        exam.report,
        tuple((image.id, image.file, image.view.value) for image in exam.radiographs),
    )


class BatchFiller:
    """Fills a chunk of an import (:class:`ParsedBatch`), and keeps the exams that it contains so far."""

    def __init__(
        self,
        container: Container,
        reader: RecordReader,
        expectations: Expectations,
        minimum_explanation: int,
        with_images: bool,
    ) -> None:
        self._container, self._reader, self._expectations = container, reader, expectations
        self._can_use_fast_path = expectations.option_count in (None, QUICK_OPTION_COUNT)
        self._minimum_explanation, self._with_images = minimum_explanation, with_images
        self.batch = ParsedBatch()
        self._last_exams: dict[str, _IndexedExam] = {}
        self._exam_indices: dict[ExamFacts, int] = {}
        self._radiograph_ids: list[set[str]] = []

    def add_records(self, records: list[RawRecord]) -> None:
        self.batch.records += len(records)
        if self._container is Container.LINES and isinstance(self._reader, NativeReader):
            self._add_lines(records, self._reader)
        else:
            self._add_one_by_one(records, repeat(None, len(records)))

    def _add_lines(self, records: list[RawRecord], reader: NativeReader) -> None:
        raw_records = [b"" if isinstance(raw, InvalidValue) else raw for _, raw in records]
        decoded = reader.read_lines(raw_records)
        if decoded and self._add_fast(records, raw_records, decoded):
            return
        if len(records) > _SMALL_GROUP:
            for start in range(0, len(records), _SMALL_GROUP):
                self._add_lines(records[start : start + _SMALL_GROUP], reader)
        else:
            self._add_one_by_one(records, decoded or repeat(None, len(records)))

    def _add_fast(
        self, records: list[RawRecord], raw_records: list[bytes], decoded: list[QuestionRecord]
    ) -> bool:
        """Add the records if all of them are ordinary; otherwise add none and return False."""
        batch = self.batch
        exams: list[_IndexedExam] = []
        try:
            for record in decoded:
                # Consecutive records usually have the same exam.
                is_same_exam = (
                    exams and record.exam == exams[-1][0] and (record.report or None) == exams[-1][1]
                )
                exams.append(exams[-1] if is_same_exam else self._find_exam(record))
        except InvalidValue:
            return False
        exam_indices = [exam_index for _, _, exam_index in exams]
        if not all(map(self._can_skip_box_checks, exam_indices, [record.boxes for record in decoded])):
            return False
        columns = self._build_columns_fast(decoded)
        if columns is None:
            return False
        self._add_provenance(decoded)
        batch.record_names += [name for name, _ in records]
        batch.exam_indices += exam_indices
        self._add_columns(columns, raw_records)
        return True

    def _can_skip_box_checks(self, exam_index: int, boxes: Sequence[BoxRecord] | UnsetType | None) -> bool:
        """Return whether all boxes are on radiographs of the exam and none is empty or reversed.

        In an import with images every box is compared with its image, so the result is False if there is a
        box.
        """
        radiographs = self._radiograph_ids[exam_index]
        for box in boxes or ():
            x_min, y_min, x_max, y_max = box.box
            if (
                self._with_images
                or box.radiograph not in radiographs
                or not (x_min < x_max and y_min < y_max)
            ):
                return False
        return True

    def _add_one_by_one(self, records: list[RawRecord], decoded: Iterable[QuestionRecord | None]) -> None:
        """Add the valid records and refuse the others. None in ``decoded`` means not read yet."""
        read, accepted = self._reader.read, list[_DecodedRecord]()
        refused: list[tuple[int, int | str, InvalidValue]] = []
        for position, ((name, raw), decoded_record) in enumerate(zip(records, decoded, strict=True)):
            try:
                if isinstance(raw, InvalidValue):
                    raise raw
                record = decoded_record or read(name, raw)
                if record is None:
                    self.batch.filtered += 1
                    continue
                accepted.append((position, name, raw, record, self._find_exam(record)[2]))
            except InvalidValue as error:
                refused.append((position, name, error))
        for start in range(0, len(accepted), _SMALL_GROUP):
            refused += self._add_rows(accepted[start : start + _SMALL_GROUP])
        for _, name, problem in sorted(refused, key=itemgetter(0)):
            self.batch.refusals.append(
                (format_record_name(self._container, name), problem.field, problem.reason)
            )

    def _add_rows(self, records: list[_DecodedRecord]) -> list[tuple[int, int | str, InvalidValue]]:
        """Add the rows of a few records; return the refused records with the reasons."""
        batch, refused = self.batch, []
        columns = None
        if all(self._can_skip_box_checks(index, record.boxes) for *_, record, index in records):
            columns = self._build_columns_fast([record for *_, record, _ in records])
        if columns is None:
            valid = list[_DecodedRecord]()
            for decoded_record in records:
                position, name, _, record, exam_index = decoded_record
                question_index = len(batch.record_names) + len(valid)
                try:
                    self._check_and_add_problems(record, question_index, self._radiograph_ids[exam_index])
                except InvalidValue as error:
                    refused.append((position, name, error))
                    batch.boxes.pop(question_index, None)
                    continue
                valid.append(decoded_record)
            records = valid
            if not records:
                return refused
            columns = table_to_question_columns(records_to_table([record for *_, record, _ in records]))
        self._add_provenance([record for *_, record, _ in records])
        batch.record_names += [name for _, name, *_ in records]
        batch.exam_indices += [exam_index for *_, exam_index in records]
        self._add_columns(columns, [raw for _, _, raw, *_ in records])
        return refused

    def _build_columns_fast(self, records: Sequence[QuestionRecord]) -> dict[str, Sequence[Any]] | None:
        if not self._can_use_fast_path:
            return None
        return build_ordinary_columns(records, minimum_explanation=self._minimum_explanation)

    def _add_columns(self, columns: Mapping[str, Sequence[Any]], raw_records: Sequence[bytes]) -> None:
        values = (*columns.values(), compute_record_hashes(raw_records))
        for column, new_values in zip(self.batch.questions, values, strict=True):
            column.extend(new_values)

    def _add_provenance(self, records: Sequence[QuestionRecord]) -> None:
        """Add the origins of the questions that are about to be added."""
        first_index = len(self.batch.record_names)
        for index, record in enumerate(records, start=first_index):
            if record.provenance:
                self.batch.provenance[index] = to_json(record.provenance)

    def _find_exam(self, record: QuestionRecord) -> _IndexedExam:
        """Return the record's exam with its index in the batch.

        Records of one exam usually state the same facts, so the last result for each exam is cached.
        """
        exam, report = record.exam, record.report or None
        last_exam = self._last_exams.get(exam.id)
        if last_exam is not None and last_exam[0] == exam and last_exam[1] == report:
            return last_exam
        facts = extract_exam_facts(exam, report)
        exam_index = self._exam_indices.setdefault(facts, len(self.batch.exams))
        if exam_index == len(self.batch.exams):
            self.batch.exams.append(facts)
            self._radiograph_ids.append({radiograph[0] for radiograph in facts[6]})
        self._last_exams[exam.id] = last_exam = (exam, report, exam_index)
        return last_exam

    def _check_and_add_problems(
        self, record: QuestionRecord, question_index: int, radiographs: set[str]
    ) -> None:
        """Check a question. Add its problems, and its boxes if they must be compared with an image.

        Raises:
            InvalidValue: the question is not valid.
        """
        if record.boxes:
            self._add_boxes(record, question_index, radiographs)
        problems = check_question(
            record_to_question(record),
            expected=self._expectations,
            minimum_explanation=self._minimum_explanation,
        )
        self.batch.problems += [
            (question_index, problem.check.value, problem.field, problem.reason) for problem in problems
        ]

    def _add_boxes(self, record: QuestionRecord, question_index: int, radiographs: set[str]) -> None:
        grid = read_box_grid(record) if record.box_grid or record.box_fit else None
        listed_boxes = []
        for box in record.boxes or ():
            if box.radiograph not in radiographs:
                radiograph_ids = ", ".join(sorted(radiographs))
                raise InvalidValue(
                    "boxes.radiograph",
                    f"{box.radiograph!r} does not belong to the exam, which has {radiograph_ids}",
                )
            x_min, y_min, x_max, y_max = box.box
            if not (x_min < x_max and y_min < y_max):
                raise InvalidValue("boxes", f"{list(box.box)} has no area or reversed corners")
            listed_boxes.append((box.radiograph, box.label, box.box))
        if grid is not None or self._with_images:
            plain_grid = (grid.width, grid.height, grid.fit.value) if grid else None
            self.batch.boxes[question_index] = (plain_grid, listed_boxes)


def compute_record_hashes(raw_records: Sequence[bytes]) -> list[bytes]:
    """Return the 128-bit XXH3 hash of each record, by which an import recognises existing records.

    A cryptographic hash is not needed: hashes of records with the same id are compared, so the only effect of
    a forged hash is that the forger's own record is skipped. XXH3 is fifteen times as fast as SHA-256.
    """
    return list(map(xxh3_128_digest, raw_records))
