"""``cli.py statistics``: a dataset in numbers, as CSV and JSON files."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from accounts.service import command_line_person
from browsing.service import DatasetStatistics, dataset_statistics
from domain.file_errors import naming
from domain.table_cells import harmless
from storage.unit_of_work import reading

_COLUMNS = ("table", "name", "value", "questions", "percent")


def add_to(subparsers: argparse._SubParsersAction) -> None:
    """The command and what it takes."""
    parser = subparsers.add_parser(
        "statistics",
        help="count a dataset: tasks, categories, formats and boxes, lengths, words",
        description="Counts by task, category, format and more, boxes, lengths and word frequencies; with "
        "--out as statistics.csv and statistics.json.",
    )
    parser.add_argument("dataset", metavar="DATASET")
    parser.add_argument("--out", type=Path, metavar="DIR", help="the folder for the files")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Count, print the tables, write the files."""
    with reading() as db:
        found = dataset_statistics(db, by=command_line_person(), dataset=args.dataset, progress=_progress)
    if args.out is not None:
        with naming(args.out):
            args.out.mkdir(parents=True, exist_ok=True)
            with (args.out / "statistics.csv").open("w", encoding="utf-8", newline="") as file:
                out = csv.writer(file)
                out.writerow(_COLUMNS)
                out.writerows(rows(found))
            (args.out / "statistics.json").write_text(json_text(found), encoding="utf-8")
    print(f"{found.dataset}: {found.questions:,} questions of {found.exams:,} exams")
    for line in found.formats:
        each = "" if line.boxes_a_question is None else f", {line.boxes_a_question:.2f} a question"
        print(
            f"  {line.name:<10} {line.questions:>10,}  with boxes {line.with_boxes:,}, boxes "
            f"{line.boxes:,}{each}"
        )
    for value, count in found.counts["task"]:
        print(f"  {value or 'no task':<28} {count:>10,}  {count / found.questions:.1%}")
    return 0


def rows(found: DatasetStatistics) -> Iterator[tuple[object, ...]]:
    """Every count as (table, name, value, questions, percent of the table)."""
    for column, counts in found.counts.items():
        for value, count in counts:
            yield column, harmless(value or "not stated"), "", count, _percent(count, found.questions)
    for line in found.formats:
        yield "boxes", line.name, line.boxes, line.questions, _percent(line.with_boxes, line.questions)
    sides = {side for side, _ in found.splits}
    for side in sorted(sides):
        whole = sum(n for (other, _), n in found.splits.items() if other == side)
        for (other, task), count in sorted(found.splits.items()):
            if other == side:
                yield f"split {side}", harmless(task or "not stated"), "", count, _percent(count, whole)
    for name, lengths in (("question", found.stems), ("explanation", found.explanations)):
        for unit, bins in (("characters", lengths.characters), ("words", lengths.in_words)):
            for low, high, count in bins:
                yield f"{name} length in {unit}", f"{low} to {high}", low, count, _percent(count, lengths.n)
        for word, count in lengths.words:
            yield f"{name} words", harmless(word), "", count, _percent(count, lengths.n)


def json_text(found: DatasetStatistics) -> str:
    """All of it as JSON."""
    plain = asdict(found)
    plain["splits"] = [
        {"side": side, "task": task, "questions": n} for (side, task), n in found.splits.items()
    ]
    return json.dumps(plain, ensure_ascii=False, indent=2) + "\n"


def _percent(count: int, whole: int) -> str:
    return f"{100 * count / whole:.1f}" if whole else ""


def _progress(count: int) -> None:
    if count % 200_000 == 0:
        print(f"{count:,} questions read", file=sys.stderr, flush=True)
