"""Writes a dataset's statistics as CSV (one table of all counts) and JSON (everything)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import asdict

from browsing.dataset_statistics import DatasetStatistics
from domain.table_cells import harmless

COLUMNS = ("table", "name", "value", "questions", "percent")


def csv_text(found: DatasetStatistics) -> str:
    """All counts as one CSV table."""
    file = io.StringIO()
    out = csv.writer(file)
    out.writerow(COLUMNS)
    out.writerows(rows(found))
    return file.getvalue()


def rows(found: DatasetStatistics) -> Iterator[tuple[object, ...]]:
    """All counts as (table, name, value, questions, per cent of the table)."""
    for column, counts in found.counts.items():
        for value, count in counts:
            yield column, harmless(value or "not stated"), "", count, _percent(count, found.questions)
    for line in found.formats:
        yield "boxes", line.name, line.boxes, line.questions, _percent(line.with_boxes, line.questions)
    for boxes, count in found.boxes:
        yield "boxes a question", str(boxes), boxes, count, _percent(count, found.questions)
    for label, count, boxes in found.observations:
        yield "observations", harmless(label or "not stated"), boxes, count, _percent(count, found.questions)
    yield from _by_split(found)
    for name, lengths in (("question", found.stems), ("explanation", found.explanations)):
        for unit, bins in (("characters", lengths.characters), ("words", lengths.in_words)):
            for low, high, count in bins:
                yield f"{name} length in {unit}", f"{low} to {high}", low, count, _percent(count, lengths.n)
        for word, count in lengths.words:
            yield f"{name} words", harmless(word), "", count, _percent(count, lengths.n)


def _by_split(found: DatasetStatistics) -> Iterator[tuple[object, ...]]:
    sides = {side for side, _ in found.splits}
    for side in sorted(sides):
        whole = sum(n for (other, _), n in found.splits.items() if other == side)
        for (other, task), count in sorted(found.splits.items()):
            if other == side:
                yield f"split {side}", harmless(task or "not stated"), "", count, _percent(count, whole)


def json_text(found: DatasetStatistics) -> str:
    """All statistics as JSON."""
    plain = asdict(found)
    plain["splits"] = [
        {"side": side, "task": task, "questions": n} for (side, task), n in found.splits.items()
    ]
    return json.dumps(plain, ensure_ascii=False, indent=2) + "\n"


def _percent(count: int, whole: int) -> str:
    return f"{100 * count / whole:.1f}" if whole else ""
