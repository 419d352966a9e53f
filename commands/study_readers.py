"""``cli.py study assign, remove, readers, exclude``: manage readers, their profiles, and exclusions."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.studies import Reader, ReaderLevel, ReaderProfile
from reader_study import service as studies
from storage.unit_of_work import read_only_session, unit_of_work


def add_subcommands(subcommands: Subparsers) -> None:
    """Add the subcommands and their arguments."""
    assign = subcommands.add_parser("assign", help="add readers and create an order of cases for each")
    assign.add_argument("study", metavar="NAME")
    assign.add_argument(
        "--to", nargs="+", required=True, metavar="READER", help="sign-in names of the readers"
    )
    assign.set_defaults(run=run_assign)
    remove = subcommands.add_parser("remove", help="remove a reader before the first answer")
    remove.add_argument("study", metavar="NAME")
    remove.add_argument("reader", metavar="READER")
    remove.set_defaults(run=run_remove)
    readers = subcommands.add_parser("readers", help="show the readers, or set one reader's profile")
    readers.add_argument("study", metavar="NAME")
    readers.add_argument("--reader", metavar="READER", help="the reader whose profile is set")
    readers.add_argument("--level", choices=[level.value for level in ReaderLevel])
    readers.add_argument("--years", type=float, help="years of experience in reading radiographs")
    readers.add_argument("--subspecialty", default=None)
    readers.add_argument(
        "--of-reference", action="store_true", help="mark the reader as a contributor to the answer key"
    )
    readers.set_defaults(run=run_readers)
    exclude = subcommands.add_parser("exclude", help="exclude a case or a reader from the analysis")
    exclude.add_argument("study", metavar="NAME")
    exclude.add_argument("--case", type=int, metavar="NUMBER", help="number of the case within the study")
    exclude.add_argument("--reader", metavar="READER")
    # --why is the previous name of the option
    exclude.add_argument("--reason", "--why", required=True)
    exclude.set_defaults(run=run_exclude)


def run_assign(args: argparse.Namespace) -> int:
    """Add readers."""
    with unit_of_work() as db:
        readers = studies.assign_readers(
            db, by=command_line_person(), study=args.study, to=args.to, now=datetime.now(UTC)
        )
    _print_readers(readers)
    return 0


def run_remove(args: argparse.Namespace) -> int:
    """Remove a reader."""
    with unit_of_work() as db:
        readers = studies.remove_reader(
            db, by=command_line_person(), study=args.study, reader=args.reader, now=datetime.now(UTC)
        )
    _print_readers(readers)
    return 0


def run_readers(args: argparse.Namespace) -> int:
    """Set the profile of the named reader, if any, then print all readers."""
    by = command_line_person()
    if args.reader:
        with unit_of_work() as db:
            current_reader = next(
                (
                    reader
                    for reader in studies.list_readers(db, by=by, study=args.study)
                    if reader.name == args.reader
                ),
                None,
            )
            current_profile = current_reader.profile if current_reader else ReaderProfile()
            profile = ReaderProfile(
                level=ReaderLevel(args.level) if args.level else current_profile.level,
                years=current_profile.years if args.years is None else args.years,
                subspecialty=current_profile.subspecialty if args.subspecialty is None else args.subspecialty,
            )
            studies.set_profile(
                db,
                by=by,
                study=args.study,
                reader=args.reader,
                profile=profile,
                of_reference=args.of_reference or bool(current_reader and current_reader.of_reference),
                now=datetime.now(UTC),
            )
    with read_only_session() as db:
        _print_readers(studies.list_readers(db, by=by, study=args.study))
    return 0


def run_exclude(args: argparse.Namespace) -> int:
    """Exclude a case or a reader from the analysis, and record the reason."""
    with unit_of_work() as db:
        studies.exclude_readings(
            db,
            by=command_line_person(),
            study=args.study,
            case=args.case,
            reader=args.reader,
            reason=args.reason,
            now=datetime.now(UTC),
        )
    print(f"Excluded from the analysis of {args.study}; the reason is recorded.")
    return 0


def _print_readers(readers: tuple[Reader, ...]) -> None:
    if not readers:
        print("No readers yet. To add readers, see: cli.py study assign --help", file=sys.stderr)
    for reader in readers:
        details = [
            reader.profile.level.value if reader.profile.level else "level not stated",
            f"{reader.profile.years:g} years" if reader.profile.years is not None else None,
            reader.profile.subspecialty or None,
            "contributed to the answer key" if reader.of_reference else None,
            "external" if reader.is_external else None,
            "simulated" if reader.simulated else None,
        ]
        print(f"{reader.name}: {', '.join(detail for detail in details if detail)}")
