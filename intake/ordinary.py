"""Ordinary records, many at once: a look that spares them the closer one.

At 1.6 million records a function call for each would show. Where each of a few dozen records is a choice
question in which nothing can be wrong, one look serves all of them: a record costs a quarter of what it costs
otherwise. Any other is left to `filling`, which takes them one by one. A test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

from msgspec import UNSET

from domain.vocabulary import AnswerFormat
from quality.quick import surely_all_fine
from records.questions import LONGEST_ID, QuestionRecord, SourceRecord, Text, question_columns, record_table

_STAYS_AWAY = ("box_grid", "box_fit", "also_right")
#: The fields that hold a text of the file's own.
_TEXTS = tuple(name for name, kind in get_type_hints(QuestionRecord).items() if kind in (str, Text))
_ANSWERS = ((0,), (1,), (2,), (3,))


def ordinary_columns(
    records: Sequence[QuestionRecord], *, colons: int | None, minimum_explanation: int
) -> dict[str, Sequence[Any]] | None:
    """The questions' columns where none of the records needs a closer look; None where one of them might.

    Exams and the boxes' corners are the caller's matter.

    Args:
        records: at least one.
        colons: in their bytes, less those of their exams, where they were decoded from plain ASCII without
            escapes. As many stand in the records unless a key was given twice. None where that is known.
        minimum_explanation: of the format check, in characters.
    """
    table = record_table(records)
    if set(table["format"]) != {AnswerFormat.SINGLE} or any(any(table[name]) for name in _STAYS_AWAY):
        return None
    if not (all(table["task"]) and all(table["difficulty"]) and all(table["category"])):
        return None
    keys, options, boxes = table["id"], table["options"], table["boxes"]
    if not (all(options) and _plain_keys(keys)) or any(map(_odd_answer, table["answer"])):
        return None
    labels = [box.label for listed in boxes if listed for box in listed]
    if not surely_all_fine(table["stem"], options, table["explanation"], labels, minimum_explanation):
        return None
    sources = [source for source in table["source"] if source]
    if len(sources) not in (0, len(records)):
        return None
    columns = question_columns(table)
    return columns if colons is None or _colons(table, columns, sources) == colons else None


def _colons(
    table: Mapping[str, Sequence[Any]], columns: Mapping[str, Sequence[Any]], sources: Sequence[SourceRecord]
) -> int:
    """The colons of the records' JSON without blanks, but for those of their exams."""
    told = [[getattr(source, name) for source in sources] for name in SourceRecord.__struct_fields__]
    texts = [*(table[name] for name in _TEXTS), *told]
    return (
        sum(len(column) - _missing(column) for column in (*table.values(), *told))
        + sum("".join(columns[name]).count(":") for name in ("options", "boxes"))
        + sum("".join(filter(None, column)).count(":") for column in texts)
    )


def _plain_keys(keys: Sequence[str]) -> bool:
    joined = "\n".join(keys)
    return (
        all(keys)
        and max(map(len, keys)) <= LONGEST_ID
        and not (joined[0].isspace() or joined[-1].isspace() or " \n" in joined or "\n " in joined)
    )


def _odd_answer(answer: tuple[int, ...] | str) -> bool:
    """Not one place among four; how many options there are is looked at elsewhere."""
    return answer not in _ANSWERS


def _missing(column: Sequence[Any]) -> int:
    """How many records lack the field."""
    return 0 if all(column) else column.count(UNSET)
