"""``cli.py leaks``: find patients, images, reports and questions that several datasets share."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.file_errors import add_filename_to_errors
from release.leak_report import build_rows, describe_content, iterate_records
from release.service import find_dataset_leaks
from storage.unit_of_work import read_only_session
from storage.workspace import current_workspace


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "leaks",
        description="Count patients, images and equal reports in more than one of the datasets, such as a "
        "training set and a test set. Exits with 1 if the datasets share a patient or an image. Equal "
        "reports may be "
        "templates.",
    )
    parser.add_argument("datasets", nargs="+", metavar="DATASET")
    parser.add_argument(
        "--pixels", action="store_true", help="compare images by their pixels; decodes all images"
    )
    parser.add_argument(
        "--questions",
        action="store_true",
        help="compare questions, too: equal and near-duplicate wordings, as `duplicates wordings` does",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the shared content as JSON Lines")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compare the datasets, print the counts, and write the file."""
    with read_only_session() as db:
        report = find_dataset_leaks(
            db,
            by=command_line_person(),
            datasets=args.datasets,
            workspace=current_workspace() if args.pixels else None,
            with_questions=args.questions,
            report_progress=_print_progress,
        )
    for row in build_rows(report):
        kind, number, *cells = row.values()
        print(
            f"{kind:<14} {number:>8}  "
            + "  ".join(
                f"{dataset.name}: {cell}" for dataset, cell in zip(report.datasets, cells, strict=True)
            )
        )
    print(*describe_content(report), sep="\n")
    if args.out is not None:
        with add_filename_to_errors(args.out), args.out.open("wb") as file:
            file.writelines(msgspec.json.encode(record) + b"\n" for record in iterate_records(report))
    if report.has_leaks:
        print("Patients or images are in more than one of the datasets.", file=sys.stderr)
    return int(report.has_leaks)


def _print_progress(count: int) -> None:
    if count % 10_000 == 0:
        print(f"{count:,} exams, images and wordings", file=sys.stderr, flush=True)
