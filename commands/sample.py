"""``cli.py sample``: draw a batch from a dataset, or preview the draw."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers, parse_checks
from domain.batches import (
    BatchSettings,
    ExamBalance,
    FormScope,
    Mode,
    RiskDesign,
    RiskSource,
    SamplingPlan,
    Stratum,
)
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.vocabulary import Difficulty
from sampling.service import compare_strategies, draw_batch, preview_draw
from sampling.strategies import COMPARED_SIZES, ErrorAssumptions, recommend_strategy
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "sample",
        description="Draw a batch: a number of questions per 1,000, evenly over the tiers of difficulty. "
        "The same plan and seed always draw the same questions. Drawing again with the same name and "
        "plan keeps the questions already drawn and adds questions that were imported since then.",
    )
    parser.add_argument("dataset", metavar="DATASET", help="dataset to draw from")
    parser.add_argument("--batch", required=True, metavar="NAME", help="name of the new or existing batch")
    parser.add_argument(
        "--seed", required=True, type=int, help="integer that determines which questions are drawn"
    )
    amount_group = parser.add_mutually_exclusive_group()
    amount_group.add_argument(
        "--per-1000", type=int, metavar="N", help="questions per 1,000, rounded half up (default 100)"
    )
    amount_group.add_argument(
        "--n", type=int, metavar="N", help="total number of questions, divided among the tiers"
    )
    parser.add_argument(
        "--shares",
        default="",
        metavar="TIER=SHARE,...",
        help="relative shares of easy, medium, hard and none (no tier); default 1 each",
    )
    parser.add_argument(
        "--strata", default="", metavar="FIELDS", help="additional strata, such as task,category"
    )
    parser.add_argument(
        "--not-drawn",
        action="store_true",
        help="leave out the questions that are in another batch of the dataset",
    )
    parser.add_argument(
        "--without-problems",
        default="",
        metavar="CHECKS",
        help="leave out questions with a problem of these checks, such as format,completeness",
    )
    parser.add_argument(
        "--exams",
        type=int,
        metavar="N",
        help="select N exams by the findings in their reports, evenly over the findings, and draw all their "
        "questions; with --healthy",
    )
    parser.add_argument(
        "--healthy", type=float, metavar="PERCENT", help="percent of healthy exams, such as 12.48"
    )
    parser.add_argument(
        "--by-risk",
        nargs="?",
        const="all",
        metavar="SOURCE[=WEIGHT],...",
        help="draw questions with a higher risk of an error more often; sources: "
        f"{', '.join(source.value for source in RiskSource)} (default all with weight 1)",
    )
    parser.add_argument(
        "--uniform",
        type=float,
        default=50.0,
        metavar="PERCENT",
        help="percent of questions drawn with equal chances, 5 to 100 (default 50); with --by-risk",
    )
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], default=Mode.JUDGE.value)
    parser.add_argument("--parts", choices=[scope.value for scope in FormScope], default=FormScope.ALL.value)
    parser.add_argument(
        "--show-report",
        action="store_true",
        help="reviewers may open the report after rating image alignment",
    )
    parser.add_argument(
        "--one-key-accept",
        action="store_true",
        help="accepting gives the open fields the top rating or yes; the difficulty may stay open",
    )
    parser.add_argument(
        "--compare",
        metavar="PERCENT:ODDS",
        help="draw nothing; simulate uniform draws and draws by risk, assuming that PERCENT of the questions "
        "have an error, and that the odds of an error are ODDS times as high at the highest risk as at no "
        "risk, such as 10:5; the sources of risk are those of --by-risk",
    )
    parser.add_argument("--dry-run", action="store_true", help="show the plan without drawing")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Draw or preview the batch. Returns 0; raises DomainError if refused."""
    plan = _build_plan(args)
    if args.compare is not None:
        return _show_comparison(args, plan)
    if args.dry_run:
        return _show_preview(args, plan)
    with unit_of_work() as db:
        draw = draw_batch(
            db,
            by=command_line_person(),
            dataset=args.dataset,
            plan=plan,
            batch_name=args.batch,
            settings=BatchSettings(
                mode=Mode(args.mode),
                parts=FormScope(args.parts),
                show_report=args.show_report,
                one_key_accept=args.one_key_accept,
            ),
            now=datetime.now(UTC),
        )
    _print_strata(draw.strata, draw.notes)
    print(f"Batch {draw.batch.name}: {count_text(draw.added, 'question')} added.")
    return 0


def _show_preview(args: argparse.Namespace, plan: SamplingPlan) -> int:
    with read_only_session() as db:
        draw_preview = preview_draw(
            db, by=command_line_person(), dataset=args.dataset, plan=plan, batch_name=args.batch.strip()
        )
    _print_strata(draw_preview.strata, draw_preview.notes)
    print(
        f"Would draw {draw_preview.n:,} of {draw_preview.size:,} questions ({draw_preview.already_drawn:,} "
        "already in the batch)."
    )
    return 0


def _show_comparison(args: argparse.Namespace, plan: SamplingPlan) -> int:
    assumptions = parse_assumptions(args.compare)
    with read_only_session() as db:
        points = compare_strategies(
            db,
            by=command_line_person(),
            dataset=args.dataset,
            assumptions=assumptions,
            sizes=COMPARED_SIZES,
            design=plan.risk,
        )
    print(f"{'strategy':<26}  {'n':>6}  {'errors found':>18}  {'± points':>8}  {'± with predictions':>18}")
    for point in points:
        errors = point.errors
        errors_text = f"{errors.mean:.1f} ({errors.low:.0f} to {errors.high:.0f})"
        print(
            f"{point.name:<26}  {point.n:>6,}  {errors_text:>18}  {100 * point.half_width.mean:>8.2f}  "
            f"{100 * point.prediction_powered_half_width.mean:>18.2f}"
        )
    print(recommend_strategy(points))
    return 0


def parse_assumptions(text: str) -> ErrorAssumptions:
    """Parse PERCENT:ODDS."""
    percent, _, odds = text.partition(":")
    try:
        rate, odds_ratio = float(percent) / 100, float(odds)
    except ValueError as error:
        raise InvalidValue("compare", f"{text!r} must have the form 10:5") from error
    return ErrorAssumptions(rate=rate, odds_ratio=odds_ratio)


def _build_plan(args: argparse.Namespace) -> SamplingPlan:
    if (args.exams is None) != (args.healthy is None):
        raise InvalidValue("exams", "--exams and --healthy belong together")
    default_per_1000 = 100 if args.exams is None else 1000
    return SamplingPlan(
        seed=args.seed,
        per_1000=None if args.n is not None else default_per_1000 if args.per_1000 is None else args.per_1000,
        balance=None
        if args.exams is None
        else ExamBalance(exams=args.exams, healthy_share=args.healthy / 100),
        n=args.n,
        shares=_parse_shares(args.shares),
        strata=tuple(field.strip() for field in args.strata.split(",") if field.strip()),
        exclude_drawn=args.not_drawn,
        checks=parse_checks(args.without_problems),
        risk=None if args.by_risk is None else _parse_risk(args.by_risk, args.uniform),
    )


def _parse_risk(text: str, uniform_percent: float) -> RiskDesign:
    if text == "all":
        return RiskDesign(uniform_share=uniform_percent / 100)
    weights: dict[RiskSource, float] = {}
    names = [source.value for source in RiskSource]
    for part in filter(None, (entry.strip() for entry in text.split(","))):
        name, _, weight = part.partition("=")
        if name.strip() not in names:
            raise InvalidValue("by-risk", f"{name.strip()!r} is not a source. Sources: {', '.join(names)}")
        try:
            weights[RiskSource(name.strip())] = float(weight) if weight else 1.0
        except ValueError as error:
            raise InvalidValue("by-risk", f"{part!r} must have the form checks=2") from error
    return RiskDesign(uniform_share=uniform_percent / 100, weights=weights)


def _parse_shares(text: str) -> dict[Difficulty | None, float]:
    tiers: dict[str, Difficulty | None] = {**{tier.value: tier for tier in Difficulty}, "none": None}
    shares: dict[Difficulty | None, float] = {}
    for part in filter(None, (entry.strip() for entry in text.split(","))):
        name, _, share = part.partition("=")
        if name.strip() not in tiers:
            raise InvalidValue("shares", f"{name.strip()!r} is not a tier. Tiers: {', '.join(tiers)}")
        try:
            shares[tiers[name.strip()]] = float(share)
        except ValueError as error:
            raise InvalidValue("shares", f"{part!r} must have the form hard=2") from error
    return shares


def _print_strata(strata: tuple[Stratum, ...], notes: tuple[str, ...]) -> None:
    width = max([len("stratum"), *(len(stratum.name) for stratum in strata)])
    print(f"{'stratum':<{width}}  {'N':>10}  {'n':>9}  probability")
    for stratum in strata:
        print(
            f"{stratum.name:<{width}}  {stratum.size:>10,}  {stratum.drawn:>9,} "
            f" {stratum.inclusion_probability:.4f}"
        )
    for note in notes:
        print(f"Note: {note}")
