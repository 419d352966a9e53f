"""Writes and reads the CSV file in which an expert marks open answers outside the app."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from domain.errors import InvalidValue
from domain.marks import AnswerMark
from domain.table_cells import escape_formula, unescape_formula
from reader_study.marking_sheet import MarkedAnswer

_COLUMNS = ("question_id", "answer", "mark")


def render_marks(answers: Iterable[MarkedAnswer]) -> str:
    """Return the answers with both marks as CSV. The file does not state who answered."""
    rows = [
        [answer.case, answer.question_id, answer.stem, answer.key, answer.answer, answer.first, answer.second]
        for answer in answers
    ]
    return _render(["case", "question_id", "question", "key", "answer", "first", "second"], rows)


def render_blank_marks(answers: Iterable[MarkedAnswer]) -> str:
    """Return the answers as CSV with an empty column ``mark``, to be filled in by an expert."""
    rows = [
        [answer.case, answer.question_id, answer.stem, answer.key, answer.answer, ""] for answer in answers
    ]
    return _render(["case", "question_id", "question", "key", "answer", "mark"], rows)


def parse_marks(text: str, *, file: str) -> dict[tuple[str, str], AnswerMark]:
    """Read a file of marks. Lines with an empty mark and additional columns are ignored.

    Args:
        text: the content of the CSV file.
        file: the name of the file, for messages.

    Returns:
        The marks by question id and text of the answer.

    Raises:
        InvalidValue: a column is missing, or a line has an unknown mark. Names file, line and field.
    """
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise InvalidValue(
            "columns",
            f"{file} has no column {', '.join(missing)}. Needed: {', '.join(_COLUMNS)}; `study marks "
            "--blank` writes such a file",
        )
    marks: dict[tuple[str, str], AnswerMark] = {}
    for row in reader:
        value = (row["mark"] or "").strip().lower()
        if not value:
            continue
        if value not in list(AnswerMark):
            raise InvalidValue(
                "mark", f"{file}, line {reader.line_num}: {value!r} must be one of {', '.join(AnswerMark)}"
            )
        key = unescape_formula(row["question_id"] or ""), unescape_formula(row["answer"] or "")
        marks[key] = AnswerMark(value)
    return marks


def _render(head: list[str], rows: Iterable[Sequence[object]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(head)
    for row in rows:
        writer.writerow([escape_formula(value) if isinstance(value, str) else value for value in row])
    return buffer.getvalue()
