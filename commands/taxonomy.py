"""``cli.py taxonomy``: the raw names of a dataset, and their controlled names."""

from __future__ import annotations

import argparse
import csv
import sys
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.file_errors import add_filename_to_errors
from domain.table_cells import escape_formula
from quality.service import RawName, load_names, map_name
from storage.unit_of_work import read_only_session, unit_of_work
from terminology.taxonomy import NamedField, load_taxonomy

_COLUMNS = ("name", "questions", "controlled_name", "heading", "mapped_by")


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("taxonomy", description="Controlled names of categories and more.")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    names = verbs.add_parser(
        "names",
        help="list the names of a dataset with their controlled names",
        description="List the raw names of a dataset, the most frequent first, with their controlled names.",
    )
    names.add_argument("--unmapped", action="store_true", help="only names without a controlled name")
    names.add_argument("--csv", type=Path, metavar="FILE", help="write the list to a CSV file")
    names.set_defaults(run=run_names)
    mapping = verbs.add_parser(
        "map",
        help="give a raw name a controlled name",
        description="Give a raw name of a dataset a controlled name. Questions are not changed.",
    )
    unmap = verbs.add_parser("unmap", help="remove the dataset's own mapping of a raw name")
    for verb in (names, mapping, unmap):
        verb.add_argument("dataset", metavar="DATASET")
        verb.add_argument(
            "--field",
            type=NamedField,
            choices=list(NamedField),
            default=NamedField.CATEGORY,
            help="the field of the name (default category)",
        )
    for verb in (mapping, unmap):
        verb.add_argument("name", metavar="NAME", help="the raw name, as in the file")
        verb.set_defaults(run=run_map, controlled=None)
    mapping.add_argument("controlled", metavar="CONTROLLED", help="a name that `controlled` lists")
    controlled = verbs.add_parser("controlled", help="list the controlled names with their headings")
    controlled.set_defaults(run=run_controlled)


def run_names(args: argparse.Namespace) -> int:
    """Print the names, or write them to a file. Returns 0."""
    with read_only_session() as db:
        report = load_names(db, by=command_line_person(), dataset=args.dataset, field=args.field)
    names = report.unmapped if args.unmapped else report.names
    if args.csv is not None:
        with add_filename_to_errors(args.csv), args.csv.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(_COLUMNS)
            writer.writerows(_build_row(name) for name in names)
        print(f"{count_text(len(names), 'name')} written to {args.csv}.")
        return 0
    for name in names:
        print(f"{name.questions:>10,}  {name.name:<40}  {name.controlled or 'not mapped'}")
    print(f"{count_text(len(report.unmapped), 'name')} of {len(report.names):,} not mapped.")
    return 0


def run_map(args: argparse.Namespace) -> int:
    """Store or remove a mapping. Returns 0; raises DomainError if it is refused."""
    with unit_of_work() as db:
        map_name(
            db,
            by=command_line_person(),
            dataset=args.dataset,
            field=args.field,
            raw=args.name,
            controlled=args.controlled,
            now=datetime.now(UTC),
        )
    print("Saved.")
    return 0


def run_controlled(_args: argparse.Namespace) -> int:
    """Print the taxonomy as CSV. Returns 0."""
    writer = csv.writer(sys.stdout)
    writer.writerow(("field", "heading", "controlled_name", "other_names"))
    for field, entries in load_taxonomy().names.items():
        for entry in entries:
            writer.writerow((field.value, entry.heading, entry.name, "; ".join(entry.raw_names)))
    return 0


def _build_row(name: RawName) -> tuple[object, ...]:
    mapped_by = (name.mapped_by or "command") if name.is_own else "taxonomy" if name.controlled else ""
    return (
        escape_formula(name.name),
        name.questions,
        name.controlled or "not mapped",
        name.heading,
        escape_formula(mapped_by),
    )
