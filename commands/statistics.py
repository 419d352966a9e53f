"""``cli.py statistics``: statistics of a dataset, as CSV and JSON files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from accounts.service import command_line_person
from browsing.figures import figures_of
from browsing.service import DatasetStatistics, dataset_statistics
from browsing.side_by_side import boxes_of, columns_of, lines_of, side_by_side_csv
from browsing.statistics_text import csv_text, json_text
from commands.arguments import Subparsers
from domain.file_errors import naming
from storage.unit_of_work import reading


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "statistics",
        description="Counts by task, category, format and more, boxes, lengths and word frequencies; with "
        "--out as statistics.csv and statistics.json, with the figures as SVG. Of several datasets (the "
        "splits of a benchmark, say) the counts stand side by side, in side-by-side.csv.",
    )
    parser.add_argument("datasets", nargs="+", metavar="DATASET")
    parser.add_argument("--out", type=Path, metavar="DIR", help="the folder for the files")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compute the statistics, print the tables, write the files."""
    by = command_line_person()
    with reading() as db:
        every = [
            dataset_statistics(db, by=by, dataset=name, progress=_progress)
            for name in dict.fromkeys(args.datasets)
        ]
    if len(every) > 1:
        return _side_by_side(every, args.out)
    [found] = every
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


def _side_by_side(found: list[DatasetStatistics], out: Path | None) -> int:
    if out is not None:
        with naming(out):
            out.mkdir(parents=True, exist_ok=True)
            (out / "side-by-side.csv").write_text(side_by_side_csv(found), encoding="utf-8")
    print(f"{'':<36}" + "".join(f"{each.dataset:>24}" for each in found))
    stated = [column for column in ("task", "format") if column in columns_of(found)]
    for line in (*(line for column in stated for line in lines_of(found, column)), *boxes_of(found)):
        cells = (f"{count:,} ({line.percent(at)})" for at, count in enumerate(line.counts))
        shown = cells if line.wholes else (f"{count:,}" for count in line.counts)
        print(f"{line.column:<8}{line.value:<28}" + "".join(f"{cell:>24}" for cell in shown))
    return 0


def _progress(count: int) -> None:
    if count % 200_000 == 0:
        print(f"{count:,} questions read", file=sys.stderr, flush=True)
