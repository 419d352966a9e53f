"""``cli.py compliance``: patient data, terms of use, keys that follow from the text, and biases."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from quality.service import DEFAULT_THRESHOLD, ComplianceReport, examine_compliance


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser(
        "compliance",
        description="Run the stages of compliance on a dataset: patient data in texts, terms of data use, "
        "keys that a classifier finds without the image, and a report on biases. Problems are stored "
        "with the dataset; questions are not changed.",
    )
    parser.add_argument("dataset", metavar="DATASET")
    parser.add_argument(
        "--threshold",
        type=float,
        default=DEFAULT_THRESHOLD,
        metavar="P",
        help="a key with at least this probability without the image is a problem "
        f"(default {DEFAULT_THRESHOLD:g})",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the stages and print the report. Returns 0."""
    report = examine_compliance(
        by=command_line_person(),
        dataset=args.dataset,
        threshold=args.threshold,
        clock=lambda: datetime.now(UTC),
    )
    _print_report(report)
    return 0


def _print_report(report: ComplianceReport) -> None:
    print(
        f"{report.dataset}: {count_text(report.questions, 'question')} of "
        f"{count_text(report.patients, 'patient')}; may be sent to: {report.data_use}"
    )
    for stage in report.stages:
        print(
            f"  {stage.check.label:<24} {stage.with_problem:>9,} with a problem  {stage.remaining:>9,} remain"
        )
    print("Key found without the image, above chance in points:")
    for line in report.text_only:
        print(
            f"  {line.task:<24} {100 * line.gain:6.1f} ({100 * line.low:.1f} to {100 * line.high:.1f})  "
            f"accuracy {line.accuracy:.1%}, chance {line.chance:.1%}, n = {line.n:,}"
        )
    if report.text_only_note:
        print(f"  not examined: {report.text_only_note}")
    print("The key is:")
    for option in report.options:
        print(
            f"  {option.option:<24} {option.share:.1%}, chance {option.chance:.1%}, difference "
            f"{100 * option.difference:.1f} ({100 * option.low:.1f} to {100 * option.high:.1f})  "
            f"n = {option.n:,}"
        )
    print("Association (Cramér's V):")
    for bias in report.bias:
        value = "not defined" if bias.estimate is None else f"{bias.estimate:.2f}"
        if bias.low is not None and bias.high is not None:
            value += f" ({bias.low:.2f} to {bias.high:.2f})"
        name = f"{bias.exam_property} and {bias.question_property}"
        print(f"  {name:<24} {value}  n = {bias.n:,} {bias.note}")
