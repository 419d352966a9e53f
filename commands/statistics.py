"""``cli.py statistics``: a dataset in numbers, as CSV and JSON files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from accounts.service import command_line_person
from browsing.figures import figures_of
from browsing.service import dataset_statistics
from browsing.statistics_text import csv_text, json_text
from domain.file_errors import naming
from storage.unit_of_work import reading


def add_to(subparsers: argparse._SubParsersAction) -> None:
    """The command and what it takes."""
    parser = subparsers.add_parser(
        "statistics",
        help="count a dataset: tasks, categories, formats and boxes, lengths, words",
        description="Counts by task, category, format and more, boxes, lengths and word frequencies; with "
        "--out as statistics.csv and statistics.json, with the figures as SVG.",
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
            (args.out / "statistics.csv").write_bytes(csv_text(found).encode())
            (args.out / "statistics.json").write_text(json_text(found), encoding="utf-8")
            for name, svg in figures_of(found).items():
                (args.out / f"{name}.svg").write_text(svg, encoding="utf-8")
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


def _progress(count: int) -> None:
    if count % 200_000 == 0:
        print(f"{count:,} questions read", file=sys.stderr, flush=True)
