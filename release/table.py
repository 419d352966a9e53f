"""``gold.csv``: the released questions as a table for spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from operator import attrgetter

import msgspec

from domain.exams import Exam
from domain.gold import GoldItem
from domain.questions import Answer, option_letter
from domain.table_cells import escape_formula
from records.questions import QUESTION_FIELDS, QuestionRecord
from release.folder import HashedFile

#: The columns of the question's own fields. Boxes are last, because they are the widest.
_QUESTION_COLUMNS = (*(name for name in QUESTION_FIELDS if name != "boxes"), "boxes")
COLUMNS = (
    "question_id",
    "decision",
    "corrected",
    *_QUESTION_COLUMNS,
    "exam_id",
    "patient",
    "indication",
    "age",
    "sex",
    "radiographs",
    "batches",
    "reviewers",
    "stratum",
    "inclusion_probability",
)

_LETTERS = "".join(map(option_letter, range(26)))
#: The apostrophe, and the first characters of cells that a spreadsheet may evaluate as a formula.
_FORMULA_CHARACTERS = frozenset("=+-@\t\r'")


class GoldTable:
    """Writes the table to a file, which the caller closes. ``reviewer_names`` has the names by person id."""

    def __init__(self, file: HashedFile, *, reviewer_names: Mapping[int, str]) -> None:
        """Write the header."""
        self._reviewer_names = reviewer_names
        self._write_row = csv.writer(_TextWriter(file)).writerow
        self._write_row(COLUMNS)
        self._cached_exam_cells: tuple[Exam, list[str | None]] | None = None

    def add(self, gold: GoldItem, record: QuestionRecord, files: Mapping[str, str]) -> None:
        """Write the row of one released question.

        Args:
            gold: the released question.
            record: the question's record in ``gold.jsonl``.
            files: the paths of copied images by SHA-256; other images keep the path of the question file.
        """
        judged = gold.judged
        exam = judged.exam
        # The cells are cached, because the questions of an exam are consecutive.
        if self._cached_exam_cells is None or self._cached_exam_cells[0] is not exam:
            self._cached_exam_cells = (exam, _build_exam_cells(exam, files))
        cells = [
            *_build_question_cells(gold, record),
            *self._cached_exam_cells[1],
            "; ".join(sorted({judgement.batch for judgement in judged.judgements})),
            "; ".join([self._reviewer_names[judgement.person_id] for judgement in judged.judgements]),
            judged.stratum,
        ]
        # Only cells with these first characters are escaped: a call per cell would double the time per row.
        row = [escape_formula(cell) if cell and cell[0] in _FORMULA_CHARACTERS else cell for cell in cells]
        self._write_row([*row, judged.inclusion_probability])


class _TextWriter:
    """A text interface to a binary file."""

    def __init__(self, file: HashedFile) -> None:
        self._write = file.write

    def write(self, text: str) -> None:
        self._write(text.encode())


def _build_question_cells(gold: GoldItem, record: QuestionRecord) -> list[str | None]:
    """Return the cells from ``question_id`` to ``boxes``."""
    cells = [*_question_values(gold.question)]
    for index, format_value in _FORMATTERS:
        cells[index] = format_value(cells[index])
    cells[-1] = msgspec.json.encode(record.boxes).decode() if record.boxes else None
    corrected = "; ".join([change.field for change in gold.changes])
    return [gold.question.id, gold.decision.value, corrected, *cells]


def _format_options(options: tuple[str, ...]) -> str:
    return "\n".join([f"{letter}. {text}" for letter, text in zip(_LETTERS, options, strict=False)])


def _format_also_right(answers: tuple[Answer, ...]) -> str:
    return " or ".join(map(_format_answer, answers))


def _build_exam_cells(exam: Exam, files: Mapping[str, str]) -> list[str | None]:
    """Return the cells from ``exam_id`` to ``radiographs``."""
    radiographs = [
        f"{radiograph.view}: {files.get(radiograph.sha256 or '', radiograph.file)}"
        for radiograph in exam.radiographs
    ]
    return [exam.id, exam.patient, exam.indication, exam.age, exam.sex, "\n".join(radiographs)]


def _format_answer(answer: Answer) -> str:
    """Return an answer as letters of options (A, C), or as text for closed and open questions."""
    return answer if isinstance(answer, str) else ", ".join([option_letter(index) for index in answer])


_question_values = attrgetter(*_QUESTION_COLUMNS)
#: The column index and the formatting function of each field that is not text. Boxes come from the record.
_FORMATTERS = tuple(
    (_QUESTION_COLUMNS.index(name), format_value)
    for name, format_value in (
        ("options", _format_options),
        ("answer", _format_answer),
        ("also_right", _format_also_right),
    )
)
