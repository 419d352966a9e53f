"""``cli.py statistics``: statistics of a dataset, as CSV and JSON files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from accounts.service import command_line_person
from browsing.dataset_comparison import compare_boxes, compare_column, format_comparison_csv, list_columns
from browsing.figures import render_figures
from browsing.finding_counts import FindingCounts, build_finding_rows, format_findings_csv
from browsing.service import DatasetStatistics, compute_dataset_statistics, count_report_findings
from browsing.statistics_text import format_csv, format_json
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.file_errors import add_filename_to_errors
from storage.unit_of_work import read_only_session


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "statistics",
        description="Print counts by format and task, and of boxes; with --out, write all counts, lengths "
        "and word frequencies to statistics.csv and statistics.json, and charts as SVG. For several "
        "datasets, such as the splits of a benchmark, print the counts side by side; with --out, write "
        "side-by-side.csv.",
    )
    parser.add_argument("datasets", nargs="+", metavar="DATASET")
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for the files")
    parser.add_argument(
        "--findings",
        action="store_true",
        help="also count the findings that the reports state, per exam; with --out, write findings.csv",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compute the statistics, write the files, and print the tables."""
    by = command_line_person()
    with read_only_session() as db:
        all_statistics = [
            compute_dataset_statistics(db, by=by, dataset=name, report_progress=_print_progress)
            for name in dict.fromkeys(args.datasets)
        ]
        findings = {
            name: count_report_findings(db, by=by, dataset=name, report_progress=_print_progress)
            for name in (dict.fromkeys(args.datasets) if args.findings else ())
        }
    if len(all_statistics) > 1:
        _print_findings(findings, args.out)
        return _print_side_by_side(all_statistics, args.out)
    [statistics] = all_statistics
    if args.out is not None:
        with add_filename_to_errors(args.out):
            args.out.mkdir(parents=True, exist_ok=True)
            (args.out / "statistics.csv").write_bytes(format_csv(statistics).encode())
            (args.out / "statistics.json").write_text(format_json(statistics), encoding="utf-8")
            for name, svg in render_figures(statistics).items():
                (args.out / f"{name}.svg").write_text(svg, encoding="utf-8")
    print(
        f"{statistics.dataset}: {count_text(statistics.questions, 'question')} on "
        f"{count_text(statistics.exams, 'exam')}"
    )
    for line in statistics.formats:
        average = "" if line.boxes_per_question is None else f", {line.boxes_per_question:.2f} per question"
        print(
            f"  {line.name:<10} {line.questions:>10,}  with boxes {line.with_boxes:,}, boxes "
            f"{line.boxes:,}{average}"
        )
    for value, count in statistics.counts["task"]:
        print(f"  {value or 'no task':<28} {count:>10,}  {count / statistics.questions:.1%}")
    _print_findings(findings, args.out)
    return 0


def _print_findings(findings: dict[str, FindingCounts], out: Path | None) -> None:
    for dataset, counts in findings.items():
        print(f"{dataset}: reports of {counts.with_report:,} of {count_text(counts.exams, 'exam')}")
        for row in build_finding_rows(counts):
            print("  {:<36} {:>10}  {:>6} %  {:>6}".format(*row.values()))
        if out is not None:
            file = out / ("findings.csv" if len(findings) == 1 else f"findings-{dataset}.csv")
            with add_filename_to_errors(file):
                out.mkdir(parents=True, exist_ok=True)
                file.write_text(format_findings_csv(counts), encoding="utf-8")


def _print_side_by_side(all_statistics: list[DatasetStatistics], out: Path | None) -> int:
    if out is not None:
        with add_filename_to_errors(out):
            out.mkdir(parents=True, exist_ok=True)
            (out / "side-by-side.csv").write_text(format_comparison_csv(all_statistics), encoding="utf-8")
    print(f"{'':<36}" + "".join(f"{statistics.dataset:>24}" for statistics in all_statistics))
    columns = [column for column in ("task", "format") if column in list_columns(all_statistics)]
    for line in (
        *(line for column in columns for line in compare_column(all_statistics, column)),
        *compare_boxes(all_statistics),
    ):
        percentages = (f"{count:,} ({line.format_percent(index)})" for index, count in enumerate(line.counts))
        cells = percentages if line.totals else (f"{count:,}" for count in line.counts)
        print(f"{line.column:<8}{line.value:<28}" + "".join(f"{cell:>24}" for cell in cells))
    return 0


def _print_progress(count: int) -> None:
    if count % 200_000 == 0:
        print(f"{count:,} questions read", file=sys.stderr, flush=True)
