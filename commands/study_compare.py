"""``cli.py study compare-roc``: print the results of iMRMC and RJafroc beside ours."""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.file_errors import add_filename_to_errors
from domain.table_cells import escape_formula
from reader_study import service as studies
from storage.unit_of_work import read_only_session


def add_subcommands(subcommands: Subparsers) -> None:
    """Add the subcommand and its arguments."""
    compare = subcommands.add_parser(
        "compare-roc",
        help="print the results of iMRMC and RJafroc for an exported study beside ours",
        description="Print CSV: location, result, reader, arm, ours, theirs, difference, method. Files are "
        "AUCperReader.csv and statAnalysis.csv of iMRMC, and workbooks of RJafroc's UtilOutputReport.",
    )
    compare.add_argument("study", metavar="NAME")
    compare.add_argument("files", nargs="+", type=Path, metavar="FILE")
    compare.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print one line per number. Returns 0; raises DomainError if a file is refused."""
    from reader_study import roc_files, roc_results  # noqa: PLC0415 - imports pandas

    with read_only_session() as db:
        data = studies.load_report_data(db, by=command_line_person(), study=args.study)
    selected = roc_files.select_roc_ratings(data)
    results: list[roc_results.RocResult] = []
    for path in args.files:
        with add_filename_to_errors(path):
            content = path.read_bytes()
        results += roc_results.read_roc_results(selected, name=path.name, content=content)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["location", "result", "reader", "arm", "ours", "theirs", "difference", "method"])
    for result in results:
        writer.writerow(
            [
                escape_formula(result.location),
                result.quantity,
                escape_formula(result.reader),
                escape_formula(result.arm),
                *(
                    "" if value is None else f"{value:.6g}"
                    for value in (result.our_value, result.other_value, result.difference)
                ),
                result.method,
            ]
        )
    return 0
