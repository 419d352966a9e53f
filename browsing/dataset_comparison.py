"""Compares several datasets in one table, as ReXVQA (Table 1) and GEMeX (Table 3) compare splits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from browsing.dataset_statistics import DatasetStatistics
from browsing.service.statistics import COUNTED_COLUMNS
from domain.table_cells import escape_formula
from domain.vocabulary import AnswerFormat, Task

ALL, BOXES, NOT_STATED = "all", "boxes", "not stated"
_VALUE_ORDER = {
    "task": [task.value for task in Task],
    "format": [answer_format.value for answer_format in AnswerFormat],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonLine:
    """The number of questions of each dataset that have a value in a column, or the number of boxes.

    ``totals`` contains the denominators of percentages; it is None for boxes.
    """

    column: str
    value: str
    counts: tuple[int, ...]
    totals: tuple[int, ...] | None

    def format_percent(self, dataset_index: int) -> str:
        """Format the percentage of a dataset's questions with one decimal; empty without questions."""
        if self.totals is None or not self.totals[dataset_index]:
            return ""
        return f"{100 * self.counts[dataset_index] / self.totals[dataset_index]:.1f}"


def list_columns(statistics: Sequence[DatasetStatistics]) -> list[str]:
    """List the columns in which at least one question has a value."""
    return [
        name
        for name in COUNTED_COLUMNS
        if any(value for dataset in statistics for value, _ in dataset.counts[name])
    ]


def compare_column(statistics: Sequence[DatasetStatistics], column: str) -> tuple[ComparisonLine, ...]:
    """Compute one line per value and a last line for all questions.

    Tasks and formats are in their own order; other values are ordered by frequency.
    """
    totals = tuple(dataset.questions for dataset in statistics)
    by_dataset = [dict(dataset.counts[column]) for dataset in statistics]
    order = {value: index for index, value in enumerate(_VALUE_ORDER.get(column, []))}
    values = sorted(
        {value for counts in by_dataset for value in counts},
        key=lambda value: (
            not value,
            order.get(value, 99),
            -sum(value_counts.get(value, 0) for value_counts in by_dataset),
            value,
        ),
    )
    return (
        *(
            ComparisonLine(
                column=column,
                value=value or NOT_STATED,
                counts=tuple(value_counts.get(value, 0) for value_counts in by_dataset),
                totals=totals,
            )
            for value in values
        ),
        ComparisonLine(column=column, value=ALL, counts=totals, totals=totals),
    )


def compare_boxes(statistics: Sequence[DatasetStatistics]) -> tuple[ComparisonLine, ...]:
    """Compute one line of box counts per answer format, and a last line for all formats."""
    boxes_by_format = [{line.name: line.boxes for line in dataset.formats} for dataset in statistics]
    names = [
        name
        for name in (*_VALUE_ORDER["format"], ALL)
        if any(name in box_counts for box_counts in boxes_by_format)
    ]
    return tuple(
        ComparisonLine(
            column=BOXES,
            value=name,
            counts=tuple(box_counts.get(name, 0) for box_counts in boxes_by_format),
            totals=None,
        )
        for name in names
    )


def format_comparison_csv(statistics: Sequence[DatasetStatistics]) -> str:
    """Format all columns and the boxes as a CSV table, with count and percentage per dataset and the sum."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    header = [
        name for dataset in statistics for name in (escape_formula(dataset.dataset), f"{dataset.dataset}, %")
    ]
    writer.writerow(["table", "value", *header, ALL])
    writer.writerows(_iter_csv_rows(statistics))
    return file.getvalue()


def _iter_csv_rows(statistics: Sequence[DatasetStatistics]) -> Iterator[list[object]]:
    lines = [line for column in list_columns(statistics) for line in compare_column(statistics, column)]
    for line in (*lines, *compare_boxes(statistics)):
        cells = [
            cell
            for dataset_index in range(len(statistics))
            for cell in (line.counts[dataset_index], line.format_percent(dataset_index))
        ]
        yield [line.column, escape_formula(line.value), *cells, sum(line.counts)]
