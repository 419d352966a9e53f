"""``cli.py study power``: compute the numbers of readers and cases that a study needs."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.errors import InvalidValue, Refused
from measures.kappa_precision import cases_for_kappa, expected_kappa_limits
from measures.pilot import Pilot, describe_pilot, estimate_pilot
from measures.power import Power, PowerAssumptions, cases_for_power, power_table
from measures.power_designs import (
    MAX_CASES,
    RUNS,
    ArmAssumptions,
    ReadingDesign,
    cases_for_design,
    power_of_design,
)
from reader_study import service as studies
from storage.unit_of_work import read_only_session


def add_subcommands(subcommands: Subparsers) -> None:
    """Add the subcommand and its arguments."""
    power = subcommands.add_parser(
        "power",
        help="compute the power of a study and the precision of kappa",
        description="Accuracies, spread and margin are proportions: .02 is 2 percentage points. The power is "
        "simulated, with its standard error; the formula is shown beside it. With --second-arm-accuracy, the "
        "same readers read in two arms, and --reader-accuracy is that of the first. With a pilot, "
        "accuracies, spread and correlations that are not given are estimated from its answers.",
    )
    pilot = power.add_mutually_exclusive_group()
    pilot.add_argument("--pilot-study", metavar="NAME", help="a study of the workspace as pilot")
    pilot.add_argument(
        "--pilot", type=Path, metavar="RATINGS.csv", help="a file of ratings as pilot (see `measure`)"
    )
    power.add_argument("--pilot-model", metavar="NAME", help="the model of the pilot, if it has several")
    power.add_argument("--reader-accuracy", type=float, metavar="P", help="required without a pilot")
    compared = power.add_mutually_exclusive_group()
    compared.add_argument("--model-accuracy", type=float, metavar="P")
    compared.add_argument(
        "--second-arm-accuracy", type=float, metavar="P", help="compare two arms instead of readers and model"
    )
    power.add_argument(
        "--spread", type=float, help="standard deviation of the readers' accuracies; default 0"
    )
    power.add_argument(
        "--arm-spread",
        type=float,
        help="two arms: standard deviation of a reader's own effect in each arm; default 0",
    )
    power.add_argument(
        "--arm-correlations",
        type=float,
        nargs=3,
        metavar="R",
        help="two arms: latent correlations of one reader in both arms, of two readers in one arm, and of "
        "two readers in different arms; default .6 .5 .45",
    )
    power.add_argument(
        "--readers-per-case", type=int, metavar="N", help="split design: each case is read by N readers"
    )
    power.add_argument("--cases-per-patient", type=int, default=1, metavar="N", help="clusters of cases")
    power.add_argument(
        "--patient-correlation",
        type=float,
        default=0.5,
        metavar="R",
        help="share of the variance of difficulty that the cases of a patient have in common; default .5",
    )
    power.add_argument(
        "--reader-correlation",
        type=float,
        metavar="R",
        help="latent correlation between two readers; default .5",
    )
    power.add_argument(
        "--model-correlation",
        type=float,
        metavar="R",
        help="latent correlation between reader and model; default .35",
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
    power.add_argument("--kappa-raters", type=int, default=2, metavar="N", help="raters, with --kappa")
    power.add_argument(
        "--half-width", type=float, default=0.1, help="target half-width of the interval, with --kappa"
    )
    power.add_argument("--json", action="store_true", help="print all results as JSON")
    power.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:
    """Compute the power, and print a table or JSON."""
    design = ReadingDesign(
        readers_per_case=args.readers_per_case,
        cases_per_patient=args.cases_per_patient,
        patient_correlation=args.patient_correlation,
    )
    pilot = _load_pilot(args)
    assumptions = _choose_assumptions(args, pilot)
    if isinstance(assumptions, ArmAssumptions):
        return _run_design(args, assumptions, design, pilot)
    if design.readers_per_case is not None or design.cases_per_patient > 1:
        return _run_design(args, assumptions, design, pilot)
    designs = power_table(
        assumptions,
        readers=args.readers,
        cases=args.cases,
        seed=args.seed,
        runs=args.runs,
        progress=_print_progress,
    )
    cases_needed = {
        count: cases_for_power(assumptions, readers=count, power=args.power) for count in args.readers
    }
    kappa_limits, kappa_cases = _plan_kappa(args)
    if args.json:
        plain = {
            "pilot": None if pilot is None else asdict(pilot),
            "expected": asdict(assumptions),
            "power": [
                asdict(power) | {"shown": power.quoted_power, "shown_is": power.quoted_method}
                for power in designs
            ],
            "cases_needed": [{"readers": count, "cases": cases} for count, cases in cases_needed.items()],
            "kappa": [{"cases": n, "low": low, "high": high} for n, (low, high) in kappa_limits],
            "kappa_cases_needed": kappa_cases,
            "seed": args.seed,
        }
        print(json.dumps(plain, indent=2))
        return 0
    _print_pilot(pilot)
    print("readers  cases  power  by          formula  simulation")
    for power in designs:
        print(_format_line(power))
    for count, cases in cases_needed.items():
        text = f"about {cases:,} cases" if cases else "not attainable with any number of cases"
        print(f"{args.power:.0%} power with {count} readers: {text} (formula)")
    _print_kappa(args, kappa_limits, kappa_cases)
    return 0


def _load_pilot(args: argparse.Namespace) -> Pilot | None:
    """Estimate the assumptions from the pilot; None if no pilot was given."""
    if args.pilot_study is not None:
        from storage.schema import prepare_workspace  # noqa: PLC0415 - a plan without a study needs no database

        prepare_workspace()
        with read_only_session() as db:
            return studies.estimate_study_pilot(
                db, by=command_line_person(), study=args.pilot_study, model=args.pilot_model
            )
    if args.pilot is None:
        return None
    from measures.all_measures import encode_table  # noqa: PLC0415 - imports pandas
    from measures.ratings_file import read_ratings  # noqa: PLC0415 - the same
    from measures.records.settings import Settings  # noqa: PLC0415 - the same

    encoded = encode_table(read_ratings(args.pilot), Settings(bootstrap=0))
    return estimate_pilot(encoded.matrix, model=args.pilot_model)


def _choose_assumptions(args: argparse.Namespace, pilot: Pilot | None) -> PowerAssumptions | ArmAssumptions:
    """Return the given assumptions; those that are not given are from the pilot or are the defaults.

    Raises:
        InvalidValue: an accuracy is missing.
        Refused: the pilot compares two arms and the plan readers with a model, or vice versa.
    """
    has_arms = args.second_arm_accuracy is not None or (
        pilot is not None and isinstance(pilot.assumptions, ArmAssumptions) and args.model_accuracy is None
    )
    same_reader, same_arm, other_correlation = args.arm_correlations or (None, None, None)
    given_values: dict[str, float | None] = (
        {
            "first_accuracy": args.reader_accuracy,
            "second_accuracy": args.second_arm_accuracy,
            "arm_spread": args.arm_spread,
            "same_reader_correlation": same_reader,
            "same_arm_correlation": same_arm,
            "other_correlation": other_correlation,
        }
        if has_arms
        else {
            "reader_accuracy": args.reader_accuracy,
            "model_accuracy": args.model_accuracy,
            "reader_correlation": args.reader_correlation,
            "model_correlation": args.model_correlation,
        }
    )
    assumptions_class = ArmAssumptions if has_arms else PowerAssumptions
    if pilot is not None and not isinstance(pilot.assumptions, assumptions_class):
        raise Refused("One of pilot and plan compares readers with a model, the other two arms.")
    values: dict[str, Any] = {} if pilot is None else asdict(pilot.assumptions)
    values |= {
        name: value for name, value in (given_values | {"spread": args.spread}).items() if value is not None
    }
    if len([name for name in values if name.endswith("_accuracy")]) < 2:
        raise InvalidValue(
            "accuracy", "give --reader-accuracy and --model-accuracy or --second-arm-accuracy, or a pilot"
        )
    return assumptions_class(**values | {"margin": args.margin, "random_readers": not args.fixed_readers})


def _print_pilot(pilot: Pilot | None) -> None:
    if pilot is not None:
        print(describe_pilot(pilot))


def _run_design(
    args: argparse.Namespace,
    assumptions: PowerAssumptions | ArmAssumptions,
    design: ReadingDesign,
    pilot: Pilot | None,
) -> int:
    """Compute the power of a design by simulation, because there is no formula for it, and print it."""
    runs = RUNS if args.runs is None else args.runs
    if runs < 1:
        raise InvalidValue("runs", "must be 1 or more; this design has no formula")
    grid = [(readers, cases) for readers in args.readers for cases in args.cases]
    rows = []
    for done, (readers, cases) in enumerate(grid):
        _print_progress(done, len(grid))
        power, error = power_of_design(
            assumptions, design, readers=readers, cases=cases, seed=args.seed, runs=runs
        )
        rows.append({"readers": readers, "cases": cases, "simulated": power, "simulated_error": error})
    _print_progress(len(grid), len(grid))
    cases_needed = {
        readers: cases_for_design(
            assumptions, design, readers=readers, power=args.power, seed=args.seed, runs=min(runs, RUNS)
        )
        for readers in args.readers
    }
    kappa_limits, kappa_cases = _plan_kappa(args)
    if args.json:
        plain = {
            "pilot": None if pilot is None else asdict(pilot),
            "expected": asdict(assumptions),
            "design": asdict(design),
            "power": rows,
            "cases_needed": [{"readers": count, "cases": cases} for count, cases in cases_needed.items()],
            "kappa": [{"cases": n, "low": low, "high": high} for n, (low, high) in kappa_limits],
            "kappa_cases_needed": kappa_cases,
            "seed": args.seed,
            "runs": runs,
        }
        print(json.dumps(plain, indent=2))
        return 0
    _print_pilot(pilot)
    print("readers  cases  power (simulation)")
    for row in rows:
        print(
            f"{row['readers']:>7}  {row['cases']:>5}  {row['simulated']:.3f} ± {row['simulated_error']:.3f}"
        )
    for count, cases in cases_needed.items():
        text = f"about {cases:,} cases" if cases else f"not attainable with {MAX_CASES:,} cases"
        print(f"{args.power:.0%} power with {count} readers: {text} (simulation)")
    _print_kappa(args, kappa_limits, kappa_cases)
    return 0


def _plan_kappa(args: argparse.Namespace) -> tuple[list[tuple[int, tuple[float, float]]], int | None]:
    """Return the expected limits of kappa for each number of cases, and the number of cases needed."""
    if args.kappa is None:
        return [], None
    limits = [
        (n, expected_kappa_limits(args.kappa, args.share, cases=n, raters=args.kappa_raters))
        for n in args.cases
    ]
    return limits, cases_for_kappa(
        args.kappa, args.share, half_width=args.half_width, raters=args.kappa_raters
    )


def _print_kappa(
    args: argparse.Namespace, limits: list[tuple[int, tuple[float, float]]], cases_needed: int | None
) -> None:
    for n, (low, high) in limits:
        print(f"kappa {args.kappa:g} on {n:,} cases: {low:.3f} to {high:.3f}")
    if cases_needed is not None:
        print(f"kappa {args.kappa:g} to ± {args.half_width:g}: about {cases_needed:,} cases")


def _format_line(power: Power) -> str:
    simulated = "" if power.simulated is None else f"{power.simulated:.3f} ± {power.simulated_error:.3f}"
    return (
        f"{power.readers:>7}  {power.cases:>5}  {power.quoted_power:.3f}  {power.quoted_method:<10} "
        f" {power.formula:.3f}    {simulated}"
    )


def _print_progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total} designs", end="\n" if done == total else "", file=sys.stderr)
