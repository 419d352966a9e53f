"""Compares several datasets in one table, as ReXVQA (Table 1) and GEMeX (Table 3) compare splits."""

from __future__ import annotations

import csv
import io
from collections import Counter
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
        """Format the percentage of a dataset's questions with one decimal; empty if it has no questions."""
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

    Tasks and formats are in the order of their declaration; other values are ordered by frequency.
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


def build_overview_rows(statistics: Sequence[DatasetStatistics]) -> list[dict[str, str]]:
    """Return one row per dataset with size, formats and lengths, as GEMeX compares datasets (Table 1)."""
    return [
        {
            "Dataset": dataset.dataset,
            "Images": f"{dataset.images:,}",
            "Questions": f"{dataset.questions:,}",
            "Answer formats": ", ".join(line.name for line in dataset.formats[:-1]),
            "With boxes": _format_share(dataset.formats[-1].with_boxes, dataset.questions),
            "With explanation": _format_share(dataset.explanations.n, dataset.questions),
            "Characters per question": _format_mean(dataset.stems.mean_characters),
            "Words per question": _format_mean(dataset.stems.mean_words),
            "Characters per explanation": _format_mean(dataset.explanations.mean_characters),
            "Words per explanation": _format_mean(dataset.explanations.mean_words),
        }
        for dataset in statistics
    ]


def build_format_rows(statistics: Sequence[DatasetStatistics]) -> list[dict[str, str]]:
    """Return questions / boxes by format: a row per dataset and, for several, a total (GEMeX, Table 3)."""
    names = [
        name
        for name in _VALUE_ORDER["format"]
        if any(line.name == name for dataset in statistics for line in dataset.formats)
    ]
    rows, totals = list[dict[str, str]](), Counter[tuple[str, str]]()
    for dataset in statistics:
        lines = {line.name: line for line in dataset.formats}
        row = {"Dataset": dataset.dataset}
        for name in (*names, ALL):
            line = lines.get(name)
            questions, boxes = (line.questions, line.boxes) if line else (0, 0)
            totals[name, "questions"] += questions
            totals[name, "boxes"] += boxes
            row[f"{name}: questions / boxes"] = f"{questions:,} / {boxes:,}"
        rows.append(row)
    if len(rows) > 1:
        cells = {
            f"{name}: questions / boxes": f"{totals[name, 'questions']:,} / {totals[name, 'boxes']:,}"
            for name in (*names, ALL)
        }
        rows.append({"Dataset": ALL, **cells})
    return rows


def compare_words(statistics: Sequence[DatasetStatistics], *, of_explanations: bool) -> list[dict[str, str]]:
    """Return one row per frequent word of any dataset: percent of the texts of each dataset with the word.

    Words are ordered by their highest percentage. The cell of a dataset in which the word is not among the
    most frequent ones is empty.
    """
    lengths = [dataset.explanations if of_explanations else dataset.stems for dataset in statistics]
    shares = [{word: count / texts.n for word, count in texts.words} for texts in lengths]
    words = {word for word_shares in shares for word in word_shares}
    ordered_words = sorted(
        words, key=lambda word: (-max(word_shares.get(word, 0.0) for word_shares in shares), word)
    )
    return [
        {
            "Word": word,
            **{
                dataset.dataset: f"{100 * word_shares[word]:.1f}" if word in word_shares else ""
                for dataset, word_shares in zip(statistics, shares, strict=True)
            },
        }
        for word in ordered_words
    ]


def _format_share(count: int, total: int) -> str:
    return f"{100 * count / total:.0f} %" if total else ""


def _format_mean(mean: float | None) -> str:
    return "" if mean is None else f"{mean:.1f}"


def format_comparison_csv(statistics: Sequence[DatasetStatistics]) -> str:
    """Format all columns and the boxes as a CSV table, with count and percentage per dataset and the sum."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    header = [
        name for dataset in statistics for name in (escape_formula(dataset.dataset), f"{dataset.dataset}, %")
    ]
    writer.writerow(["table", "value", *header, ALL])
    writer.writerows(_iter_csv_rows(statistics))
    overview = build_overview_rows(statistics)
    for label in list(overview[0])[1:] if overview else ():
        writer.writerow(["overview", label, *(cell for row in overview for cell in (row[label], "")), ""])
    for table_name, of_explanations in (("question words", False), ("explanation words", True)):
        for row in compare_words(statistics, of_explanations=of_explanations):
            percentages = [cell for dataset in statistics for cell in ("", row[dataset.dataset])]
            writer.writerow([table_name, escape_formula(row["Word"]), *percentages, ""])
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
