"""``cli.py study report``: write the results of a reader study to files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from reader_study import service as studies
from storage.unit_of_work import read_only_session
from storage.workspace import current_workspace


def add_subcommands(subcommands: Subparsers) -> None:
    """Add the subcommand and its arguments."""
    report = subcommands.add_parser(
        "report",
        help="write accuracies, comparisons and agreement with intervals as HTML, CSV, JSON, SVG and PDF",
        description="Write report.html (self-contained), report.json, a CSV file per "
        "table, and an SVG and a PDF file per figure. The same answers give identical files, except PDFs.",
    )
    report.add_argument("study", metavar="NAME")
    report.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder")
    report.add_argument(
        "--model",
        metavar="NAME",
        help="the model that the others are compared with (default: the model of the protocol)",
    )
    report.add_argument(
        "--release",
        metavar="RELEASE",
        help="use the keys of this release of the dataset, such as a corrected one (default: those of the "
        "study)",
    )
    report.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the report. Returns 0; raises DomainError if refused."""
    from reader_study.report.files import write_report  # noqa: PLC0415 - imports pandas

    print("Computing accuracies, agreement and comparisons …", file=sys.stderr)
    with read_only_session() as db:
        report = studies.load_or_compute_report(
            db,
            by=command_line_person(),
            study=args.study,
            release=args.release,
            model=args.model,
            workspace=current_workspace(),
        )
    files = write_report(report, args.out)
    for sentence in report.words:
        print(sentence)
    print(f"Wrote {count_text(len(files), 'file')} to {args.out}. Open report.html first.")
    return 0
