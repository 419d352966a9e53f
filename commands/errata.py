"""``cli.py errata``: problems that people reported in released questions."""

from __future__ import annotations

import argparse
import csv
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.file_errors import add_filename_to_errors
from domain.table_cells import escape_formula
from domain.verdicts import ErrorKind
from release.service import (
    ErratumEntry,
    find_release,
    list_errata,
    open_reportable_question,
    report_problem,
)
from storage.unit_of_work import read_only_session, unit_of_work

_COLUMNS = (
    "dataset", "release", "question_id", "problem", "description", "outcome", "changed_fields", "reason",
    "reported", "decided",
)  # fmt: skip


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("errata", description="Problems reported in released questions.")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    list_parser = verbs.add_parser("list", help="list the reports with their outcomes")
    list_parser.add_argument("--csv", type=Path, metavar="FILE", help="write the list to a CSV file")
    list_parser.set_defaults(run=run_list)
    report = verbs.add_parser("report", help="report a problem in a released question")
    report.add_argument("dataset", metavar="DATASET")
    report.add_argument("release", metavar="RELEASE", help="name of the release")
    report.add_argument("question", metavar="QUESTION_ID")
    report.add_argument(
        "--kind", required=True, choices=[kind.value for kind in ErrorKind], help="the kind of problem"
    )
    report.add_argument("--text", required=True, help="description, published with a corrected release")
    report.set_defaults(run=run_report)


def run_list(args: argparse.Namespace) -> int:
    """Print the reports, or write them to a file. Returns 0."""
    with read_only_session() as db:
        entries = list_errata(db, by=command_line_person())
    if args.csv is not None:
        with add_filename_to_errors(args.csv), args.csv.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(_COLUMNS)
            writer.writerows([escape_formula(cell) for cell in _build_row(entry)] for entry in entries)
        print(f"{count_text(len(entries), 'report')} written to {args.csv}.")
        return 0
    for entry in entries:
        print("\t".join(_build_row(entry)))
    open_count = sum(entry.settled_at is None for entry in entries)
    print(f"{count_text(len(entries), 'report')}, {open_count:,} open.")
    return 0


def run_report(args: argparse.Namespace) -> int:
    """Store a report. Returns 0; raises DomainError if it is refused."""
    by = command_line_person()
    with read_only_session() as db:
        release = find_release(db, by=by, dataset=args.dataset, name=args.release)
        question = open_reportable_question(db, by=by, release_id=release.id, question_id=args.question)
    with unit_of_work() as db:
        report_problem(
            db,
            by=by,
            reported=question,
            kind=ErrorKind(args.kind),
            text=args.text,
            now=datetime.now(UTC),
        )
    print("Reported. An adjudicator of its batch decides.")
    return 0


def _build_row(entry: ErratumEntry) -> tuple[str, ...]:
    report = entry.report
    return (
        report.dataset,
        report.release,
        report.question_id,
        report.kind.value,
        report.text.replace("\n", " ").replace("\t", " "),
        entry.status.value if entry.status else "settled",
        " ".join(change.field for change in entry.changes),
        entry.reason.replace("\n", " ").replace("\t", " "),
        f"{report.reported_at:%Y-%m-%d %H:%M}",
        f"{entry.settled_at:%Y-%m-%d %H:%M}" if entry.settled_at else "",
    )
