"""``gold.csv``: the released questions as a table that a spreadsheet opens."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from domain.exams import Exam
from domain.gold import GoldItem
from domain.questions import Answer, letter
from domain.table_cells import harmless
from records.questions import QUESTION_FIELDS, QuestionRecord
from release.folder import HashedFile

#: The question's own columns; its boxes come last, since they are the widest.
_OF_QUESTION = (*(name for name in QUESTION_FIELDS if name != "boxes"), "boxes")
COLUMNS = (
    "question_id", "decision", "corrected", *_OF_QUESTION, "exam_id", "patient", "indication", "age", "sex",
    "radiographs", "batches", "reviewers", "stratum", "inclusion_probability",
)  # fmt: skip

_QUOTE, _TWO = '"', '""'
_LETTERS = "".join(map(letter, range(26)))
#: Signs that a formula, or an apostrophe before one, may begin with.
_DOUBTFUL = frozenset("=+-@\t\r'")
#: What a cell is quoted for.
_quoted_for = re.compile('[",\r\n]').search


class GoldTable:
    """Rows for a file, which is closed by whoever opened it. ``names`` are the reviewers', by number.

    Rows are those of RFC 4180, as the csv module writes them. It looks at every sign of every cell, though,
    and many cells of a row are those of its exam or of its batch: here they are made once.
    """

    def __init__(self, file: HashedFile, *, names: Mapping[int, str]) -> None:
        """Begin with the names of the columns."""
        self._file, self._names = file, names
        self._file.write(f"{','.join(COLUMNS)}\r\n".encode())
        self._of_exam: tuple[Exam, str] | None = None
        self._of_sample: dict[tuple[str, float, str, int], str] = {}

    def add(self, gold: GoldItem, record: QuestionRecord, files: Mapping[str, str]) -> None:
        """One released question with its record; ``files`` are its images' by SHA-256, else their own."""
        exam = gold.judged.exam
        if self._of_exam is None or self._of_exam[0] is not exam:  # its questions come one after the other
            self._of_exam = (exam, _exam_cells(exam, files))
        row = f"{_question_cells(gold, record)},{self._of_exam[1]},{self._sample_cells(gold)}\r\n"
        self._file.write(row.encode())

    def _sample_cells(self, gold: GoldItem) -> str:
        """The cells of ``batches`` to ``inclusion_probability``."""
        judged = gold.judged
        first = judged.judgements[0]
        if len(judged.judgements) > 1:
            return self._made_sample_cells(gold)
        # With one reviewer, as most, there are few different ones.
        key = (judged.stratum, judged.inclusion_probability, first.batch, first.person_id)
        found = self._of_sample.get(key)
        if found is None:
            found = self._of_sample[key] = self._made_sample_cells(gold)
        return found

    def _made_sample_cells(self, gold: GoldItem) -> str:
        judged = gold.judged
        batches = "; ".join(sorted({each.batch for each in judged.judgements}))
        names = "; ".join([self._names[each.person_id] for each in judged.judgements])
        return f"{_cell(batches)},{_cell(names)},{_cell(judged.stratum)},{judged.inclusion_probability!r}"


def quoted(text: str) -> str:
    """The text as one cell."""
    return f'"{text.replace(_QUOTE, _TWO)}"' if _quoted_for(text) else text


def _cell(text: str | None) -> str:
    """Text that is not of our own making as one cell, made harmless where the first sign leaves a doubt."""
    if not text:
        return ""
    return quoted(harmless(text) if text[0] in _DOUBTFUL else text)


def _question_cells(gold: GoldItem, record: QuestionRecord) -> str:
    """The cells of ``question_id`` to ``boxes``."""
    question = gold.question
    corrected = "; ".join([each.field for each in gold.changes]) if gold.changes else ""
    cells = [_cell(question.id), gold.decision.value, corrected]
    for name, write in _WRITERS:
        value = getattr(question, name)
        cells.append(_cell(value) if write is None else write(value) if value else "")
    cells[-1] = quoted(msgspec.json.encode(record.boxes).decode()) if record.boxes else ""
    return ",".join(cells)


def _options(options: tuple[str, ...]) -> str:
    return quoted("\n".join([f"{sign}. {text}" for sign, text in zip(_LETTERS, options, strict=False)]))


def _also_right(answers: tuple[Answer, ...]) -> str:
    return quoted(" or ".join(map(_answer, answers)))


def _exam_cells(exam: Exam, files: Mapping[str, str]) -> str:
    """The cells of ``exam_id`` to ``radiographs``."""
    radiographs = [f"{each.view}: {files.get(each.sha256 or '', each.file)}" for each in exam.radiographs]
    told = (exam.id, exam.patient, exam.indication, exam.age, exam.sex, "\n".join(radiographs))
    return ",".join(map(_cell, told))


def _answer(answer: Answer) -> str:
    """Letters for options (A, C), text for closed and open questions."""
    return answer if isinstance(answer, str) else ", ".join([letter(index) for index in answer])


#: How the cell of a field is written; None for a text of the file's own, which is made harmless.
_WRITERS = tuple(
    (
        name,
        {
            "options": _options,
            "answer": lambda answer: _cell(_answer(answer)),
            "also_right": _also_right,
            "boxes": lambda _: "",  # as the record has them
        }.get(name),
    )
    for name in _OF_QUESTION
)
