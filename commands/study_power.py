"""``cli.py study power``: compute the numbers of readers and cases that a study needs."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from commands.arguments import Subparsers
from measures.kappa_precision import cases_for_kappa, kappa_half_width
from measures.power import Power, PowerAssumptions, cases_for_power, power_table


def add_subcommands(subcommands: Subparsers) -> None:
    """Add the subcommand and its arguments."""
    power = subcommands.add_parser(
        "power",
        help="compute the power of a study and the precision of kappa",
        description="Accuracies, spread and margin are proportions: .02 is 2 percentage points. Where "
        "formula and simulation differ by more than .03, the simulated power is used; it is shown with its "
        "standard error.",
    )
    power.add_argument("--reader-accuracy", type=float, required=True, metavar="P")
    power.add_argument("--model-accuracy", type=float, required=True, metavar="P")
    power.add_argument(
        "--spread", type=float, default=0.0, help="standard deviation of the readers' accuracies"
    )
    power.add_argument(
        "--reader-correlation",
        type=float,
        default=0.5,
        metavar="R",
        help="latent correlation between two readers",
    )
    power.add_argument(
        "--model-correlation",
        type=float,
        default=0.35,
        metavar="R",
        help="latent correlation between reader and model",
    )
    power.add_argument(
        "--margin", type=float, default=0.0, help="a margin above 0 tests non-inferiority of the model"
    )
    power.add_argument(
        "--fixed-readers", action="store_true", help="the result applies to these readers only"
    )
    power.add_argument("--readers", type=int, nargs="+", default=[3, 5, 7, 10], metavar="N")
    power.add_argument("--cases", type=int, nargs="+", default=[100, 200, 300, 400, 600], metavar="N")
    power.add_argument("--power", type=float, default=0.8, help="target power; default .8")
    power.add_argument("--seed", type=int, default=0, help="seed of the simulation")
    power.add_argument("--runs", type=int, help="simulated studies per design; 0: formula only")
    power.add_argument("--kappa", type=float, metavar="K", help="expected kappa; prints its precision")
    power.add_argument(
        "--share", type=float, default=0.25, help="share of the rarer of two answers, with --kappa"
    )
    power.add_argument(
        "--half-width", type=float, default=0.1, help="target half-width of the interval, with --kappa"
    )
    power.add_argument("--json", action="store_true", help="print all results as JSON")
    power.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:
    """Compute the power, and print a table or JSON."""
    expected = PowerAssumptions(
        reader_accuracy=args.reader_accuracy,
        model_accuracy=args.model_accuracy,
        spread=args.spread,
        reader_correlation=args.reader_correlation,
        model_correlation=args.model_correlation,
        margin=args.margin,
        random_readers=not args.fixed_readers,
    )
    designs = power_table(
        expected,
        readers=args.readers,
        cases=args.cases,
        seed=args.seed,
        runs=args.runs,
        progress=_print_progress,
    )
    cases_needed = {
        count: cases_for_power(expected, readers=count, power=args.power) for count in args.readers
    }
    kappa = [] if args.kappa is None else [(n, _compute_half_width(args, n)) for n in args.cases]
    kappa_cases = None
    if args.kappa is not None:
        kappa_cases = cases_for_kappa(args.kappa, (args.share, 1 - args.share), half_width=args.half_width)
    if args.json:
        plain = {
            "expected": asdict(expected),
            "power": [
                asdict(design) | {"shown": design.quoted_power, "shown_is": design.quoted_method}
                for design in designs
            ],
            "cases_needed": [{"readers": count, "cases": cases} for count, cases in cases_needed.items()],
            "kappa": [{"cases": n, "half_width": width} for n, width in kappa],
            "kappa_cases_needed": kappa_cases,
            "seed": args.seed,
        }
        print(json.dumps(plain, indent=2))
        return 0
    print("readers  cases  power  by          formula  simulation")
    for design in designs:
        print(_format_line(design))
    for count, cases in cases_needed.items():
        text = f"about {cases:,} cases" if cases else "not attainable with any number of cases"
        print(f"{args.power:.0%} power with {count} readers: {text} (formula)")
    for n, width in kappa:
        print(f"kappa {args.kappa:g} on {n:,} cases: ± {width:.3f}")
    if kappa_cases is not None:
        print(f"kappa {args.kappa:g} to ± {args.half_width:g}: about {kappa_cases:,} cases")
    return 0


def _compute_half_width(args: argparse.Namespace, cases: int) -> float:
    return kappa_half_width(args.kappa, (args.share, 1 - args.share), cases=cases)


def _format_line(power: Power) -> str:
    simulated = "" if power.simulated is None else f"{power.simulated:.3f} ± {power.simulated_error:.3f}"
    return (
        f"{power.readers:>7}  {power.cases:>5}  {power.quoted_power:.3f}  {power.quoted_method:<10} "
        f" {power.formula:.3f}    {simulated}"
    )


def _print_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total} designs", end="\n" if done == total else "", file=sys.stderr)
