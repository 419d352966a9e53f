"""Fills a batch with records: ordinary ones many at once, others one by one, with reasons for refusals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

from msgspec import UNSET, UnsetType
from xxhash import xxh3_128_digest

from domain.errors import InvalidValue
from domain.vocabulary import Sex, View
from intake.containers import Container, Raw, record_name
from intake.formats.native import Native
from intake.ordinary import ordinary_columns
from intake.parsed_batch import ExamFacts, ParsedBatch
from intake.recognition import Reader
from intake.rules import exam_of, grid_of, question_of
from quality.checks import check_question
from records.questions import LONGEST_ID, ExamRecord, QuestionRecord, question_columns, record_table
from records.values import BoxRecord

# The number of records that are checked together if a larger group has one that is not ordinary.
_A_FEW = 20
# The values that need no conversion.
_SEXES = {*(sex.value for sex in Sex), None, UNSET}
_VIEWS = {*(view.value for view in View), None, UNSET}
#: (exam as the record states it, report, index of the exam in the batch)
_Exam = tuple[ExamRecord, str | None, int]
#: (index among the records read together, name, bytes, record, index of its exam in the batch)
_Read = tuple[int, int | str, bytes, QuestionRecord, int]


def facts_of(record: ExamRecord, report: str | None) -> ExamFacts:
    """The exam as a record states it, in plain values.

    Raises:
        InvalidValue: the exam is not valid; names field and reason.
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
    """A batch that is being filled, and the exams that it contains so far."""

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
        decoded = reader.read_lines(raws)
        if decoded and self._fill_together(records, raws, decoded):
            return
        if len(records) > _A_FEW:
            for start in range(0, len(records), _A_FEW):
                self._fill_lines(records[start : start + _A_FEW], reader)
        else:
            self._fill_each(records, decoded or repeat(None, len(records)))

    def _fill_together(self, records: list[Raw], raws: list[bytes], decoded: list[QuestionRecord]) -> bool:
        """Add the records if all of them are ordinary; otherwise add none and return False."""
        batch = self.batch
        exams: list[_Exam] = []
        try:
            for record in decoded:
                # Consecutive records mostly have the same exam.
                same = exams and record.exam == exams[-1][0] and (record.report or None) == exams[-1][1]
                exams.append(exams[-1] if same else self._exam(record))
        except InvalidValue:
            return False
        places = [place for _, _, place in exams]
        if not all(map(self._boxes_stand, places, [record.boxes for record in decoded])):
            return False
        columns = ordinary_columns(decoded, minimum_explanation=self._minimum)
        if columns is None:
            return False
        batch.names += [name for name, _ in records]
        batch.exam_of += places
        batch.questions += _rows(columns, raws)
        return True

    def _boxes_stand(self, exam: int, boxes: Sequence[BoxRecord] | UnsetType | None) -> bool:
        """Whether all boxes are on radiographs of the exam and not empty or reversed.

        False with images if there is a box, because it must then be compared with its image.
        """
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
        """Add the valid records, and refuse the others; those that are None in ``decoded`` are read here."""
        read, taken = self._reader.read, list[_Read]()
        refused: list[tuple[int, int | str, InvalidValue]] = []
        for turn, ((name, raw), at_once) in enumerate(zip(records, decoded, strict=True)):
            try:
                if isinstance(raw, InvalidValue):
                    raise raw
                record = at_once or read(name, raw)
                taken.append((turn, name, raw, record, self._exam(record)[2]))
            except InvalidValue as error:
                refused.append((turn, name, error))
        for start in range(0, len(taken), _A_FEW):
            refused += self._take(taken[start : start + _A_FEW])
        for _, name, problem in sorted(refused, key=itemgetter(0)):
            self.batch.refusals.append((record_name(self._container, name), problem.field, problem.reason))

    def _take(self, some: list[_Read]) -> list[tuple[int, int | str, InvalidValue]]:
        """Add the rows of a few records; return those that are refused, with their reasons."""
        batch, refused = self.batch, []
        columns = None
        if all(self._boxes_stand(exam, record.boxes) for *_, record, exam in some):
            columns = ordinary_columns([record for *_, record, _ in some], minimum_explanation=self._minimum)
        if columns is None:
            standing = list[_Read]()
            for each in some:
                turn, name, _, record, exam = each
                place = len(batch.questions) + len(standing)
                try:
                    self._check(record, place, self._radiographs[exam])
                except InvalidValue as error:
                    refused.append((turn, name, error))
                    batch.boxes.pop(place, None)
                    continue
                standing.append(each)
            some = standing
            columns = question_columns(record_table([record for *_, record, _ in some])) if some else {}
        batch.names += [name for _, name, *_ in some]
        batch.exam_of += [exam for *_, exam in some]
        batch.questions += _rows(columns, [raw for _, _, raw, *_ in some]) if some else []
        return refused

    def _exam(self, record: QuestionRecord) -> _Exam:
        """The record's exam with its index in the batch.

        Records of one exam mostly state the same facts, so the last result for each exam is kept.
        """
        exam, report = record.exam, record.report or None
        last = self._last.get(exam.id)
        if last is not None and last[0] == exam and last[1] == report:
            return last
        facts = facts_of(exam, report)
        place = self._places.setdefault(facts, len(self.batch.exams))
        if place == len(self.batch.exams):
            self.batch.exams.append(facts)
            self._radiographs.append({radiograph[0] for radiograph in facts[6]})
        self._last[exam.id] = last = (exam, report, place)
        return last

    def _check(self, record: QuestionRecord, place: int, radiographs: set[str]) -> None:
        """Add the problems of the question at index ``place``, and its boxes if an image is needed for them.

        Raises:
            InvalidValue: the question is not valid; names field and reason.
        """
        if record.boxes:
            self._keep_boxes(record, place, radiographs)
        found = check_question(question_of(record), minimum_explanation=self._minimum)
        self.batch.problems += [(place, each.check.value, each.field, each.reason) for each in found]

    def _keep_boxes(self, record: QuestionRecord, place: int, radiographs: set[str]) -> None:
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
            self.batch.boxes[place] = (plain_grid, kept)


def record_hashes(raws: Sequence[bytes]) -> list[bytes]:
    """The 128-bit XXH3 of each record's bytes, by which an import recognises a record that exists already.

    No cryptographic hash is needed: the hash is compared only with that of the record with the same id, so a
    forged one could only cause the forger's own record to be left out. XXH3 takes a fifteenth of SHA-256's
    time.
    """
    return list(map(xxh3_128_digest, raws))


def _rows(columns: Mapping[str, Sequence[Any]], raws: Sequence[bytes]) -> list[tuple[Any, ...]]:
    """The rows of ``parsed_batch.COLUMNS``."""
    return list(zip(*columns.values(), record_hashes(raws), strict=True))
