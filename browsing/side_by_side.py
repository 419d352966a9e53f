"""Compares several datasets in one table, as ReXVQA's Table 1 and GEMeX's Table 3 do with splits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from browsing.dataset_statistics import DatasetStatistics
from browsing.service.statistics import COUNTED
from domain.table_cells import harmless
from domain.vocabulary import AnswerFormat, Task

ALL, BOXES, NOT_STATED = "all", "boxes", "not stated"
_ORDER = {
    "task": [each.value for each in Task],
    "format": [each.value for each in AnswerFormat],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The number of questions of each dataset with a value of a column; for ``boxes``, of boxes.

    ``wholes`` are the numbers that per cent refer to; None for boxes.
    """

    column: str
    value: str
    counts: tuple[int, ...]
    wholes: tuple[int, ...] | None

    def percent(self, place: int) -> str:
        """The per cent of a dataset's questions with one decimal; empty without a question."""
        if self.wholes is None or not self.wholes[place]:
            return ""
        return f"{100 * self.counts[place] / self.wholes[place]:.1f}"


def columns_of(found: Sequence[DatasetStatistics]) -> list[str]:
    """The columns in which any question of any dataset has a value."""
    return [name for name in COUNTED if any(value for each in found for value, _ in each.counts[name])]


def lines_of(found: Sequence[DatasetStatistics], column: str) -> tuple[Line, ...]:
    """One line per value, and a last line for all; tasks and formats in their order, others by frequency."""
    wholes = tuple(each.questions for each in found)
    by_dataset = [dict(each.counts[column]) for each in found]
    order = {value: place for place, value in enumerate(_ORDER.get(column, []))}
    values = sorted(
        {value for counts in by_dataset for value in counts},
        key=lambda value: (
            not value, order.get(value, 99), -sum(each.get(value, 0) for each in by_dataset), value,
        ),
    )  # fmt: skip
    return (
        *(
            Line(
                column=column,
                value=value or NOT_STATED,
                counts=tuple(each.get(value, 0) for each in by_dataset),
                wholes=wholes,
            )
            for value in values
        ),
        Line(column=column, value=ALL, counts=wholes, wholes=wholes),
    )


def boxes_of(found: Sequence[DatasetStatistics]) -> tuple[Line, ...]:
    """One line of box counts per answer format, and a last line for all."""
    boxes = [{line.name: line.boxes for line in each.formats} for each in found]
    names = [name for name in (*_ORDER["format"], ALL) if any(name in each for each in boxes)]
    return tuple(
        Line(column=BOXES, value=name, counts=tuple(each.get(name, 0) for each in boxes), wholes=None)
        for name in names
    )


def side_by_side_csv(found: Sequence[DatasetStatistics]) -> str:
    """All columns and the boxes as one CSV table, with count and per cent of each dataset and the sum."""
    file = io.StringIO()
    out = csv.writer(file, lineterminator="\n")
    heads = [name for each in found for name in (harmless(each.dataset), f"{each.dataset}, %")]
    out.writerow(["table", "value", *heads, ALL])
    out.writerows(_rows(found))
    return file.getvalue()


def _rows(found: Sequence[DatasetStatistics]) -> Iterator[list[object]]:
    lines = [line for column in columns_of(found) for line in lines_of(found, column)]
    for line in (*lines, *boxes_of(found)):
        cells = [cell for place in range(len(found)) for cell in (line.counts[place], line.percent(place))]
        yield [line.column, harmless(line.value), *cells, sum(line.counts)]
