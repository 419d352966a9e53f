"""``cli.py score``: score a file of predictions against the answer key of a release."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from pathlib import Path

from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.errors import Refused
from domain.table_cells import escape_formula
from evaluation.results_text import NO_PROBABILITIES
from measures.results import to_records
from reader_study.extraction import describe_rule_counts
from reader_study.predictions_file import read_predictions
from reader_study.release_keys import load_keys
from reader_study.scores import CALIBRATION, RELIABILITY, Score, ScoreResult, score_predictions

_MAX_SHOWN = 50  # refusals shown in the terminal


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "score",
        description="Read overread.prediction/1 and the key of a release, and print the accuracy with its "
        "Wilson interval and n, by side, task, answer format and category, and the mean overlap of "
        "predicted boxes with the key's. If answers have a probability: also ECE with its interval, Brier "
        "score, accuracy by stated probability and, on yes/no questions, the AUC. Missing and failed "
        "predictions count as wrong and are listed separately. A side of the release on which there is no "
        "prediction is left out. Needs no workspace.",
    )
    parser.add_argument("predictions", type=Path, metavar="PREDICTIONS")
    parser.add_argument("--release", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--keys", type=Path, metavar="DIR", help="folder of the private keys (default: DIR-keys next to DIR)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as .csv or .json")
    parser.set_defaults(run=run, needs_workspace=False)


def run(args: argparse.Namespace) -> int:
    """Score the predictions. Returns 0, or 1 after printing the refused lines."""
    if not args.predictions.is_file():
        raise Refused(
            f"{args.predictions}: "
            + ("is not a regular file; choose a file" if args.predictions.exists() else "no such file")
        )
    if args.out and args.out.suffix not in (".csv", ".json"):
        raise Refused(f"--out {args.out}: the file name must end in .csv or .json")
    keys = load_keys(args.release, keys=args.keys)
    predictions = (prediction for prediction, _ in read_predictions(args.predictions, model=None))
    scored = score_predictions(predictions, keys=keys, file=args.predictions.name)
    if scored.refusals:
        for refusal in scored.refusals[:_MAX_SHOWN]:
            location = ": ".join(
                part for part in (refusal.file, f"line {refusal.record}", refusal.field) if part
            )
            print(f"{location}: {refusal.reason}", file=sys.stderr)
        print(f"Nothing was scored: {count_text(len(scored.refusals), 'invalid line')}.", file=sys.stderr)
        return 1
    print(_format_table(scored))
    print(f"Answers by extraction rule: {describe_rule_counts(scored.rules or {}) or 'none'}")
    if args.out:
        args.out.write_text(
            _to_csv(scored) if args.out.suffix == ".csv" else _to_json(scored), encoding="utf-8"
        )
    return 0


def _format_table(scored: Score) -> str:
    lines = [
        _format_calibration(result) if result.by == CALIBRATION else _format_share(result)
        for result in scored.results
    ]
    lines += [
        f"{result.side}, {result.name}: {result.note}"
        for result in scored.results
        if result.by == CALIBRATION and result.note
    ]
    if not any(result.by == CALIBRATION for result in scored.results):
        lines.append(NO_PROBABILITIES)
    return "\n".join(lines)


def _format_calibration(result: ScoreResult) -> str:
    estimate = "not defined" if result.estimate is None else f"{result.estimate:7.3f}"
    interval = "" if result.low is None else f"[{result.low:.3f}, {result.high:.3f}]"
    missing_text = f"  {result.missing:,} without a probability" if result.missing else ""
    return f"{result.side:<8} {result.name:<44} {estimate} {interval:<18} n {result.n:,}{missing_text}"


def _format_share(result: ScoreResult) -> str:
    estimate = "not defined" if result.estimate is None else f"{result.estimate:7.2%}"
    interval = f"[{result.low:.2%}, {result.high:.2%}]" if result.low is not None else ""
    failures = "".join(
        f"  {getattr(result, name):,} {name}"
        for name in ("failed", "missing")
        if getattr(result, name) and result.by != "task"
    )
    label = result.by if result.name == "all" else f"{result.by} {result.name}"
    counts = f"n {result.n:,}" if result.correct is None else f"{result.correct:,}/{result.n:,}"
    note = f"  {result.note}" if result.by == RELIABILITY else ""
    return f"{result.side:<8} {label:<44} {estimate} {interval:<18} {counts}{failures}{note}"


def _to_csv(scored: Score) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    records = to_records(scored.results)
    writer.writerow(list(records[0]) if records else [])
    for record in records:
        writer.writerow(
            [
                "" if value is None else escape_formula(value) if isinstance(value, str) else value
                for value in record.values()
            ]
        )
    return buffer.getvalue()


def _to_json(scored: Score) -> str:
    plain = {"rules": scored.rules, "scores": to_records(scored.results)}
    return json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
