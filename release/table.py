"""``gold.csv``: the released questions as a table for spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from operator import attrgetter

import msgspec

from domain.exams import Exam
from domain.gold import GoldItem
from domain.questions import Answer, letter
from domain.table_cells import harmless
from records.questions import QUESTION_FIELDS, QuestionRecord
from release.folder import HashedFile

#: The columns of the question itself; boxes are last, because they are the widest.
_OF_QUESTION = (*(name for name in QUESTION_FIELDS if name != "boxes"), "boxes")
COLUMNS = (
    "question_id", "decision", "corrected", *_OF_QUESTION, "exam_id", "patient", "indication", "age", "sex",
    "radiographs", "batches", "reviewers", "stratum", "inclusion_probability",
)  # fmt: skip

_LETTERS = "".join(map(letter, range(26)))
#: The first characters of cells that a spreadsheet may run as a formula, and the apostrophe.
_DOUBTFUL = frozenset("=+-@\t\r'")


class GoldTable:
    """Writes rows to a file, which the caller closes. ``names`` are the reviewers' names, by person id."""

    def __init__(self, file: HashedFile, *, names: Mapping[int, str]) -> None:
        """Write the header."""
        self._names = names
        self._write_row = csv.writer(_Encoded(file)).writerow
        self._write_row(COLUMNS)
        self._of_exam: tuple[Exam, list[str | None]] | None = None

    def add(self, gold: GoldItem, record: QuestionRecord, files: Mapping[str, str]) -> None:
        """Write the row of one released question.

        Args:
            gold: the question.
            record: its record.
            files: paths of copied image files by SHA-256; others keep the path of the question file.
        """
        judged = gold.judged
        exam = judged.exam
        if self._of_exam is None or self._of_exam[0] is not exam:  # the questions of an exam are consecutive
            self._of_exam = (exam, _exam_cells(exam, files))
        cells = [
            *_question_cells(gold, record),
            *self._of_exam[1],
            "; ".join(sorted({each.batch for each in judged.judgements})),
            "; ".join([self._names[each.person_id] for each in judged.judgements]),
            judged.stratum,
        ]
        # Calling `harmless` for every cell would take as long as writing the row.
        row = [harmless(cell) if cell and cell[0] in _DOUBTFUL else cell for cell in cells]
        self._write_row([*row, judged.inclusion_probability])


class _Encoded:
    """A text interface to a binary file."""

    def __init__(self, file: HashedFile) -> None:
        self._write = file.write

    def write(self, text: str) -> None:
        self._write(text.encode())


def _question_cells(gold: GoldItem, record: QuestionRecord) -> list[str | None]:
    """The cells of ``question_id`` to ``boxes``."""
    cells = [*_values(gold.question)]
    for place, write in _WRITERS:
        cells[place] = write(cells[place])
    cells[-1] = msgspec.json.encode(record.boxes).decode() if record.boxes else None
    corrected = "; ".join([each.field for each in gold.changes])
    return [gold.question.id, gold.decision.value, corrected, *cells]


def _options(options: tuple[str, ...]) -> str:
    return "\n".join([f"{sign}. {text}" for sign, text in zip(_LETTERS, options, strict=False)])


def _also_right(answers: tuple[Answer, ...]) -> str:
    return " or ".join(map(_answer, answers))


def _exam_cells(exam: Exam, files: Mapping[str, str]) -> list[str | None]:
    """The cells of ``exam_id`` to ``radiographs``."""
    radiographs = [f"{each.view}: {files.get(each.sha256 or '', each.file)}" for each in exam.radiographs]
    return [exam.id, exam.patient, exam.indication, exam.age, exam.sex, "\n".join(radiographs)]


def _answer(answer: Answer) -> str:
    """Letters for options (A, C), text for closed and open questions."""
    return answer if isinstance(answer, str) else ", ".join([letter(index) for index in answer])


_values = attrgetter(*_OF_QUESTION)
#: The indices of the fields that are not text, with the functions that write them; boxes are from the record.
_WRITERS = tuple(
    (_OF_QUESTION.index(name), write)
    for name, write in (("options", _options), ("answer", _answer), ("also_right", _also_right))
)
