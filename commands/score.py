"""``cli.py score``: score a file of predictions against the answer key of a release."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from pathlib import Path

from commands.arguments import Subparsers
from domain.errors import Refused
from domain.table_cells import harmless
from measures.results import to_records
from reader_study.predictions_file import prediction_lines
from reader_study.release_keys import load_keys
from reader_study.scoring import Score, score

_SHOWN = 50  # refusals shown in the terminal


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "score",
        description="Reads overread.prediction/1 and the key of a release, and prints the accuracy with its "
        "Wilson interval and n, by side, task, answer format and category, and the mean overlap of predicted "
        "boxes with the key's. Missing and failed predictions count as wrong and are told apart. A side of "
        "the release on which there is no prediction is left out. Needs no workspace.",
    )
    parser.add_argument("predictions", type=Path, metavar="PREDICTIONS")
    parser.add_argument("--release", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--keys", type=Path, metavar="DIR", help="the private side's keys (default: DIR-keys beside DIR)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures as .csv or .json")
    parser.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:
    """Score the predictions. Returns 0 if done, 1 if refused, with line and field."""
    if not args.predictions.is_file():
        raise Refused(
            f"{args.predictions}: "
            + ("is a folder or a pipe; name a file" if args.predictions.exists() else "no such file")
        )
    if args.out and args.out.suffix not in (".csv", ".json"):
        raise Refused(f"--out {args.out}: name a file that ends in .csv or .json")
    keys = load_keys(args.release, keys=args.keys)
    lines = (found for found, _ in prediction_lines(args.predictions, model=None))
    scored = score(lines, keys=keys, file=args.predictions.name)
    if scored.refusals:
        for each in scored.refusals[:_SHOWN]:
            place = ": ".join(part for part in (each.file, f"line {each.record}", each.field) if part)
            print(f"{place}: {each.reason}", file=sys.stderr)
        print(f"Nothing was scored: {len(scored.refusals):,} refused.", file=sys.stderr)
        return 1
    print(_table(scored))
    rules = ", ".join(f"{rule} {count:,}" for rule, count in (scored.rules or {}).items())
    print(f"Answers read by rule: {rules or 'none'}")
    if args.out:
        args.out.write_text(_csv(scored) if args.out.suffix == ".csv" else _json(scored), encoding="utf-8")
    return 0


def _table(scored: Score) -> str:
    lines = []
    for each in scored.results:
        estimate = "not defined" if each.estimate is None else f"{each.estimate:7.2%}"
        interval = f"[{each.low:.2%}, {each.high:.2%}]" if each.low is not None else ""
        apart = "".join(
            f"  {getattr(each, name):,} {name}"
            for name in ("failed", "missing")
            if getattr(each, name) and each.by != "task"
        )
        named = each.by if each.name == "all" else f"{each.by} {each.name}"
        counted = f"n {each.n:,}" if each.correct is None else f"{each.correct:,}/{each.n:,}"
        shown = f"{counted}{apart}"
        lines.append(f"{each.side:<8} {named:<44} {estimate} {interval:<18} {shown}")
    return "\n".join(lines)


def _csv(scored: Score) -> str:
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    records = to_records(scored.results)
    rows.writerow(list(records[0]) if records else [])
    for each in records:
        rows.writerow(
            [
                "" if value is None else harmless(value) if isinstance(value, str) else value
                for value in each.values()
            ]
        )
    return written.getvalue()


def _json(scored: Score) -> str:
    plain = {"rules": scored.rules, "scores": to_records(scored.results)}
    return json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
