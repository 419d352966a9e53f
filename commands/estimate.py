"""``cli.py estimate``: dataset estimates from the reviewed sample, as text or as CSV."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.language_models import mark_test_model
from review.estimates import Estimate
from review.estimates_text import format_csv_rows
from review.progress import format_interval, format_percent
from review.service import BATCH_GROUP, GROUPS, DatasetEstimates, estimate_dataset, estimate_groups
from storage.unit_of_work import read_only_session


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "estimate",
        description="Estimate the rates of acceptance, key errors and each kind of error in the whole "
        "dataset, weighted by stratum, with 95 % intervals (Clopper and Pearson's at the effective sample "
        "size, finite population, clustered by patient).",
    )
    parser.add_argument("dataset", metavar="DATASET")
    parser.add_argument(
        "--batch",
        action="append",
        dest="batches",
        metavar="BATCH",
        help="use only this batch; can be repeated",
    )
    parser.add_argument("--by", choices=[BATCH_GROUP, *GROUPS], help="estimate by group")
    parser.add_argument(
        "--goal", type=float, default=2.0, metavar="POINTS", help="target half-width in points (default 2)"
    )
    parser.add_argument("--csv", action="store_true", help="write all estimates as CSV")
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Print the estimates. Returns 0; raises DomainError if refused."""
    if not 0 < args.goal < 50:
        args.parser.error("--goal must be above 0 and below 50 points")
    by, filters = command_line_person(), {"dataset": args.dataset, "batches": args.batches}
    with read_only_session() as db:
        result = estimate_dataset(db, by=by, target_half_width=args.goal / 100, **filters)
        groups = estimate_groups(db, by=by, group=args.by, **filters) if args.by else ()
    sections: list[tuple[str, str, Sequence[Estimate]]] = [
        ("whole", args.dataset, result.estimates.all_estimates)
    ]
    sections += [(args.by, mark_test_model(group.name), group.estimates.all_estimates) for group in groups]
    if args.csv:
        sys.stdout.writelines(format_csv_rows(sections))
        return 0
    if not result.estimates.reviewed:
        print(
            f"No verdicts yet. {result.dataset} has {count_text(result.estimates.dataset_size, 'question')}; "
            f"the sample in {', '.join(result.batches)} has not been reviewed. To assign it, see: cli.py "
            "assign --help"
        )
        return 0
    print("\n".join(_format_estimates(result)))
    for name, value, rates in sections[1:]:
        print(f"\n{name} {value}: {rates[0].rate.reviewed:,} judged of {rates[0].dataset_size:,}")
        print("\n".join(f"  {line}" for line in format_rates(rates) if line))
    return 0


def _format_estimates(result: DatasetEstimates) -> Iterator[str]:
    estimates = result.estimates
    yield (
        f"{result.dataset}: {count_text(estimates.reviewed, 'question')} judged in "
        f"{', '.join(result.batches)} represent {estimates.covered:,} of {estimates.dataset_size:,}"
    )
    yield from (f"  {line}" for line in format_rates(estimates.all_estimates) if line)
    if result.stopping is not None and result.stopping.estimate.half_width is not None:
        rate, half_width = result.stopping.estimate.rate, result.stopping.estimate.half_width
        yield (
            f"Stopping rule {'reached' if result.stopping.is_reached else 'not reached'}: key errors "
            f"{format_percent(rate.estimate)} ({format_interval(rate.low, rate.high)}, ± "
            f"{100 * half_width:.1f} points; target ± {100 * result.stopping.target_half_width:g}). The "
            "interval is valid however often it is computed."
        )
    yield from (plan.description for plan in result.plans)
    yield from result.notes


def format_rates(rates: Sequence[Estimate]) -> Iterator[str]:
    """Yield one line per rate."""
    width = max(len(estimate.name) for estimate in rates)
    for estimate in rates:
        rate = estimate.rate
        if rate.estimate is None:
            yield f"{estimate.name:<{width}}  {rate.note}"
            continue
        bounds = f"; {format_interval(*rate.bounds)} if skipped" if rate.bounds else ""
        yield (
            f"{estimate.name:<{width}}  {format_percent(rate.estimate):>7}  95 %"
            f" {format_interval(rate.low, rate.high):<11}  ({estimate.count:,} of {rate.reviewed:,}{bounds})"
            f"{_format_powered(estimate)}"
        )


def _format_powered(estimate: Estimate) -> str:
    """Return the effective sample size and, if predictions change the estimate, the new estimate."""
    if not estimate.count:
        return ""
    powered = estimate.powered
    size_text = "" if estimate.effective_size is None else f", effective n {estimate.effective_size:,.0f}"
    if powered is None or not powered.tuning or powered.effective_size is None:
        return size_text
    return (
        f"{size_text}; with predictions {format_percent(powered.estimate)}, 95 % "
        f"{format_interval(powered.low, powered.high)}, effective n {powered.effective_size:,.0f}"
    )
