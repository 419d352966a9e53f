"""``cli.py bench``: versions of a prompt on the same reports, scored by experts."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from language_models import service as models
from language_models.bench_report import format_report_csv, format_scores_csv
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("bench")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    create = verbs.add_parser(
        "create",
        help="draw reports and create one run for each version; nothing is sent yet",
        description="Start the runs with `cli.py run resume`; `bench show` lists them. All versions use the "
        "same endpoint.",
    )
    create.add_argument("bench", metavar="BENCH")
    create.add_argument("prompts", metavar="NAME@VERSION", nargs="+", help="2 to 6 versions")
    create.add_argument("--dataset", required=True)
    create.add_argument("--endpoint", required=True, metavar="NAME")
    create.add_argument("--reports", type=int, default=10, metavar="N", help="drawn at random (default 10)")
    create.add_argument(
        "--seed",
        type=int,
        required=True,
        help="determines the reports and the order in which each expert sees the outputs",
    )
    create.add_argument("--radiographs", action="store_true", help="send the radiographs, too")
    create.set_defaults(run=run_create)
    verbs.add_parser("list", help="list all benches").set_defaults(run=run_list)
    for verb, purpose, function in (
        ("show", "show the runs and experts of a bench", run_show),
        ("report", "print means, paired differences and agreement of the experts as CSV", run_report),
        ("scores", "print all scores as CSV", run_scores),
    ):
        verb_parser = verbs.add_parser(verb, help=purpose)
        verb_parser.add_argument("bench", metavar="BENCH")
        verb_parser.set_defaults(run=function)
    experts = verbs.add_parser(
        "experts", help="set who scores the outputs; they do so on the page Score model outputs"
    )
    experts.add_argument("bench", metavar="BENCH")
    experts.add_argument(
        "--to",
        nargs="+",
        required=True,
        metavar="NAME",
        help="the complete list of experts; replaces the earlier one",
    )
    experts.set_defaults(run=run_experts)


def run_create(args: argparse.Namespace) -> int:
    """Create the bench."""
    with unit_of_work() as db:
        bench = models.create_bench(
            db,
            by=command_line_person(),
            name=args.bench,
            dataset=args.dataset,
            endpoint=args.endpoint,
            prompts=args.prompts,
            reports=args.reports,
            seed=args.seed,
            with_radiographs=args.radiographs,
            now=datetime.now(UTC),
        )
    print(f"Created {bench.name} with {count_text(bench.reports, 'report')}. Start its runs:")
    for version in bench.versions:
        print(f"  python cli.py run resume '{version.run}'")
    return 0


def run_list(_: argparse.Namespace) -> int:
    """Print one line per bench."""
    with read_only_session() as db:
        benches = models.list_benches(db, by=command_line_person())
    for bench in benches:
        labels = ", ".join(version.label for version in bench.versions)
        print(f"{bench.name}\t{bench.dataset}\t{count_text(bench.reports, 'report')}\t{labels}")
    if not benches:
        print("No prompt benches. Create one with `cli.py bench create`.")
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print the runs and the experts."""
    with read_only_session() as db:
        overview = models.load_bench(db, by=command_line_person(), name=args.bench, now=datetime.now(UTC))
    bench = overview.bench
    print(f"{bench.name}: {count_text(bench.reports, 'report')} of {bench.dataset}, seed {bench.seed}")
    for version, progress in zip(bench.versions, overview.runs, strict=True):
        print(f"{version.label}\t{version.run}\t{progress.state}\t{models.describe_progress(progress)}")
    for expert in overview.experts:
        done_count = overview.done.get(expert.person_id, 0)
        print(f"{expert.name}\t{done_count:,} of {count_text(overview.total, 'score')}")
    return 0


def run_experts(args: argparse.Namespace) -> int:
    """Set the experts."""
    with unit_of_work() as db:
        experts = models.assign_experts(
            db, by=command_line_person(), bench=args.bench, to=args.to, now=datetime.now(UTC)
        )
    print(f"{args.bench} is scored by {', '.join(expert.name for expert in experts)}.")
    return 0


def run_report(args: argparse.Namespace) -> int:
    """Print the report."""
    with read_only_session() as db:
        report = models.load_bench_report(db, by=command_line_person(), name=args.bench)
    sys.stdout.write(format_report_csv(report))
    return 0


def run_scores(args: argparse.Namespace) -> int:
    """Print the scores."""
    with read_only_session() as db:
        rows = models.list_bench_scores(db, by=command_line_person(), name=args.bench)
    sys.stdout.write(format_scores_csv(rows))
    return 0
