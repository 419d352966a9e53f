"""A batch while it is filled: many ordinary records in one step, any other alone, with its reasons."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from domain.errors import InvalidValue
from domain.vocabulary import Sex, View
from intake.containers import Container, Raw, record_name
from intake.formats.native import Native
from intake.ordinary import ordinary_rows, record_hashes
from intake.parsed_batch import ExamFacts, ParsedBatch
from intake.recognition import Reader
from intake.records import BoxRecord, ExamRecord, QuestionRecord
from intake.rules import LONGEST_ID, exam_of, grid_of, question_of, surely_valid
from intake.strictness import no_key_twice
from quality.checks import check_question
from quality.quick import surely_fine

# Where one of many records is not ordinary, so many are looked at together.
_A_FEW = 20
_encoder = msgspec.json.Encoder(order="sorted")
# As a record has them when nothing needs a closer look.
_SEXES = {*(sex.value for sex in Sex), None, UNSET}
_VIEWS = {*(view.value for view in View), None, UNSET}
#: (as the record states it, report, place among the batch's, colons in its JSON)
_Exam = tuple[ExamRecord, str | None, int, int]


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


class Filling:
    """A batch, and which exams it has met already."""

    def __init__(
        self, container: Container, reader: Reader, minimum_explanation: int, with_images: bool
    ) -> None:
        self._container, self._reader = container, reader
        self._minimum, self._with_images = minimum_explanation, with_images
        self.batch = ParsedBatch()
        self._last: dict[str, _Exam] = {}
        self._places: dict[ExamFacts, int] = {}
        self._radiographs: list[set[str]] = []

    def fill(self, records: list[Raw]) -> None:
        self.batch.records += len(records)
        if self._container is Container.LINES and isinstance(self._reader, Native):
            self._fill_lines(records, self._reader)
        else:
            self._fill_each(records, repeat(None, len(records)))

    def _fill_lines(self, records: list[Raw], reader: Native) -> None:
        raws = [b"" if isinstance(raw, InvalidValue) else raw for _, raw in records]
        plain = reader.read_plain(raws)
        if plain and self._fill_together(records, raws, *plain):
            return
        if len(records) > _A_FEW:
            for start in range(0, len(records), _A_FEW):
                self._fill_lines(records[start : start + _A_FEW], reader)
        elif plain and no_key_twice(*plain):
            self._fill_each(records, plain[0])
        else:
            self._fill_each(records, reader.read_lines(raws))

    def _fill_together(
        self, records: list[Raw], raws: list[bytes], decoded: list[QuestionRecord], colons: int
    ) -> bool:
        """Whether the records were ordinary; if one of them was not, none was taken."""
        batch = self.batch
        exams: list[_Exam] = []
        try:
            for record in decoded:
                # Mostly that of the record before.
                same = exams and record.exam == exams[-1][0] and (record.report or None) == exams[-1][1]
                exams.append(exams[-1] if same else self._exam(record))
        except InvalidValue:
            return False
        places = [place for _, _, place, _ in exams]
        if not all(map(self._boxes_stand, places, [record.boxes for record in decoded])):
            return False
        colons -= sum([of_exam for *_, of_exam in exams])
        rows = ordinary_rows(decoded, raws, colons=colons, minimum_explanation=self._minimum)
        if rows is None:
            return False
        batch.names += [name for name, _ in records]
        batch.exam_of += places
        batch.questions += rows
        return True

    def _boxes_stand(self, exam: int, boxes: list[BoxRecord] | UnsetType | None) -> bool:
        """Whether the boxes are on radiographs of the exam and right way round; no where images tell more."""
        radiographs = self._radiographs[exam]
        for each in boxes or ():
            x_min, y_min, x_max, y_max = each.box
            if (
                self._with_images
                or each.radiograph not in radiographs
                or not (x_min < x_max and y_min < y_max)
            ):
                return False
        return True

    def _fill_each(self, records: list[Raw], decoded: Iterable[QuestionRecord | None]) -> None:
        """Take each record alone; it is read here where ``decoded`` has None."""
        batch, read = self.batch, self._reader.read
        for (name, raw), at_once in zip(records, decoded, strict=True):
            try:
                if isinstance(raw, InvalidValue):
                    raise raw
                record = at_once or read(name, raw)
                exam = self._exam(record)[2]
                row = self._row(record, raw, exam)
            except InvalidValue as error:
                batch.refusals.append((record_name(self._container, name), error.field, error.reason))
                # It may have put the question's boxes or problems in already.
                self._forget(len(batch.questions))
                continue
            batch.names.append(name)
            batch.exam_of.append(exam)
            batch.questions.append(row)

    def _exam(self, record: QuestionRecord) -> _Exam:
        """The record's exam and its place in the batch; records of one exam mostly say the same of it."""
        exam, report = record.exam, record.report or None
        last = self._last.get(exam.id)
        if last is not None and last[0] == exam and last[1] == report:
            return last
        facts = facts_of(exam, report)
        place = self._places.setdefault(facts, len(self.batch.exams))
        if place == len(self.batch.exams):
            self.batch.exams.append(facts)
            self._radiographs.append({radiograph[0] for radiograph in facts[6]})
        self._last[exam.id] = last = (exam, report, place, _encoder.encode(exam).count(b":"))
        return last

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
            *record_hashes([raw]),
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
