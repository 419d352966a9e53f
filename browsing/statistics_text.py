"""Formats a dataset's statistics as CSV (one table of all counts) and JSON (all statistics)."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict

from browsing.dataset_statistics import DatasetStatistics
from domain.table_cells import escape_formula

COLUMNS = ("table", "name", "value", "questions", "percent")


def format_csv(statistics: DatasetStatistics) -> str:
    """Format all counts as one CSV table."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    writer.writerows(iter_rows(statistics))
    return file.getvalue()


def iter_rows(statistics: DatasetStatistics) -> Iterator[tuple[object, ...]]:
    """Yield all counts as (table, name, value, questions, percentage within the table)."""
    for column, counts in statistics.counts.items():
        for value, count in counts:
            yield (
                column,
                escape_formula(value or "not stated"),
                "",
                count,
                _format_percent(count, statistics.questions),
            )
    for line in statistics.formats:
        yield "boxes", line.name, line.boxes, line.questions, _format_percent(line.with_boxes, line.questions)
    for boxes, count in statistics.boxes:
        yield "boxes a question", str(boxes), boxes, count, _format_percent(count, statistics.questions)
    for label, count, boxes in statistics.observations:
        yield (
            "observations",
            escape_formula(label or "not stated"),
            boxes,
            count,
            _format_percent(count, statistics.questions),
        )
    for name, count, boxes in statistics.regions:
        yield (
            "regions",
            escape_formula(name or "not stated"),
            boxes,
            count,
            _format_percent(count, statistics.questions),
        )
    yield from _iter_split_rows(statistics)
    for text_kind, lengths in (("question", statistics.stems), ("explanation", statistics.explanations)):
        for unit, bins in (("characters", lengths.characters), ("words", lengths.in_words)):
            for low, high, count in bins:
                yield (
                    f"{text_kind} length in {unit}",
                    f"{low} to {high}",
                    low,
                    count,
                    _format_percent(count, lengths.n),
                )
        for word, count in lengths.words:
            yield f"{text_kind} words", escape_formula(word), "", count, _format_percent(count, lengths.n)


def _iter_split_rows(statistics: DatasetStatistics) -> Iterator[tuple[object, ...]]:
    totals = Counter[str]()
    for (split, _), count in statistics.splits["task"].items():
        totals[split] += count
    for column, counts in statistics.splits.items():
        for (split, value), count in sorted(counts.items()):
            yield (
                f"split {split}" if column == "task" else f"split {split}, {column.replace('_', ' ')}",
                escape_formula(value or "not stated"),
                "",
                count,
                _format_percent(count, totals[split]),
            )


def format_json(statistics: DatasetStatistics) -> str:
    """Format all statistics as JSON."""
    values = asdict(statistics)
    values["splits"] = [
        {"side": split, column: value, "questions": n}
        for column, counts in statistics.splits.items()
        for (split, value), n in counts.items()
    ]
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"


def _format_percent(count: int, total: int) -> str:
    return f"{100 * count / total:.1f}" if total else ""
