"""``cli.py region-check``: experts mark sentences and regions in replies of the prompt gemex-regions."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from generation import service as generation
from generation.region_checks import format_marks_csv, format_region_report_csv
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("region-check")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    create = verbs.add_parser(
        "create",
        help="draw reports from the replies of a run of gemex-regions",
        description="Experts mark each sentence on the page Score model outputs: right, wrong region, wrong "
        "sentence or missed sentence.",
    )
    create.add_argument("check", metavar="CHECK")
    create.add_argument(
        "--run", dest="model_run", required=True, metavar="RUN", help="a run of gemex-regions"
    )
    create.add_argument("--reports", type=int, default=100, metavar="N", help="drawn at random (default 100)")
    create.add_argument("--seed", type=int, required=True, help="determines the reports and all orders")
    create.add_argument(
        "--dataset", metavar="NAME", help="the dataset with the images and boxes of the exams"
    )
    create.set_defaults(run=run_create)
    verbs.add_parser("list", help="list all region checks").set_defaults(run=run_list)
    for verb, purpose, function in (
        ("show", "show the experts of a check and their progress", run_show),
        ("report", "print shares of right sentences and the distribution of regions as CSV", run_report),
        ("marks", "print all marks as CSV", run_marks),
    ):
        verb_parser = verbs.add_parser(verb, help=purpose)
        verb_parser.add_argument("check", metavar="CHECK")
        verb_parser.set_defaults(run=function)
    experts = verbs.add_parser(
        "experts", help="set who marks the sentences; they do so on the page Score model outputs"
    )
    experts.add_argument("check", metavar="CHECK")
    experts.add_argument("--to", nargs="+", required=True, metavar="NAME", help="all experts")
    experts.set_defaults(run=run_experts)


def run_create(args: argparse.Namespace) -> int:
    """Create the check."""
    with unit_of_work() as db:
        check = generation.create_region_check(
            db,
            by=command_line_person(),
            name=args.check,
            run=args.model_run,
            reports=args.reports,
            seed=args.seed,
            dataset=args.dataset,
            now=datetime.now(UTC),
        )
    print(f"Created {check.name} with {count_text(check.reports, 'report')} of {check.prompt}.")
    return 0


def run_list(_: argparse.Namespace) -> int:
    """Print one line per check."""
    with read_only_session() as db:
        checks = generation.list_region_checks(db, by=command_line_person())
    for check in checks:
        print(f"{check.name}\t{check.run}\t{count_text(check.reports, 'report')}\t{check.prompt}")
    if not checks:
        print("No region checks. Create one with `cli.py region-check create`.")
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print the experts."""
    with read_only_session() as db:
        overview = generation.load_region_check(db, by=command_line_person(), name=args.check)
    check = overview.check
    print(
        f"{check.name}: {count_text(check.reports, 'report')} of run {check.run}, prompt {check.prompt}, "
        f"images {check.dataset or 'none'}, seed {check.seed}"
    )
    for expert in overview.experts:
        done_count = overview.done.get(expert.person_id, 0)
        print(f"{expert.name}\t{done_count:,} of {count_text(overview.total, 'sentence')}")
    return 0


def run_experts(args: argparse.Namespace) -> int:
    """Set the experts."""
    with unit_of_work() as db:
        experts = generation.assign_region_experts(
            db, by=command_line_person(), check=args.check, to=args.to, now=datetime.now(UTC)
        )
    print(f"{args.check} is marked by {', '.join(expert.name for expert in experts)}.")
    return 0


def run_report(args: argparse.Namespace) -> int:
    """Print the report."""
    with read_only_session() as db:
        report = generation.load_region_report(db, by=command_line_person(), name=args.check)
    sys.stdout.write(format_region_report_csv(report))
    return 0


def run_marks(args: argparse.Namespace) -> int:
    """Print the marks."""
    with read_only_session() as db:
        rows = generation.list_region_marks(db, by=command_line_person(), name=args.check)
    sys.stdout.write(format_marks_csv(rows))
    return 0
