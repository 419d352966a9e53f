"""``cli.py duplicates``: find and mark near-duplicate questions and contradicting keys."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.questions import format_answer
from quality.duplicates.guard import Outcome
from quality.duplicates.marking import DEFAULT_LIMIT, KeepRule
from quality.duplicates.search import SearchSettings
from quality.service import (
    ComparedPair,
    DuplicateReport,
    find_duplicates,
    find_repeated_wordings,
    load_pairs,
    mark_duplicates,
)
from storage.unit_of_work import read_only_session, unit_of_work

_DEFAULTS = SearchSettings()


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("duplicates", description="Find near-duplicate questions.")
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    find = verbs.add_parser(
        "find",
        help="compare the questions of each exam",
        description="Compare the questions of each exam and show what would be marked, by task and "
        "category. Similar questions are duplicates only if format, side, negation, region, size, finding "
        "and answer key agree. Nothing is stored.",
    )
    mark = verbs.add_parser(
        "mark",
        help="the same, and store the result",
        description="Find near-duplicates and contradicting keys, store them as problems of their checks, "
        "and switch these checks on. The questions are not changed. Marking is refused if more than a share "
        "of the dataset, of a task or of a category would be marked.",
    )
    for verb in (find, mark):
        verb.add_argument("dataset", metavar="DATASET")
        verb.add_argument(
            "--keep",
            type=KeepRule,
            choices=list(KeepRule),
            default=KeepRule.LONGEST_EXPLANATION,
            help="which of two duplicates stays (default longest-explanation)",
        )
        verb.add_argument(
            "--examples", type=int, default=3, metavar="N", help="number of examples (default 3)"
        )
    mark.add_argument(
        "--limit",
        type=float,
        default=DEFAULT_LIMIT,
        metavar="SHARE",
        help=f"largest share that may be marked, 0 to 1 (default {DEFAULT_LIMIT:g})",
    )
    wordings = verbs.add_parser(
        "wordings",
        help="compare the wordings of all exams, or of several datasets",
        description="Compare each different wording once, across exams. With several datasets, show wordings "
        "that occur in more than one of them. Equal images, patients and reports are shown by `leaks`.",
    )
    wordings.add_argument("datasets", nargs="+", metavar="DATASET")
    wordings.add_argument(
        "--examples", type=int, default=20, metavar="N", help="number of pairs to show (default 20)"
    )
    for verb in (find, mark, wordings):
        _add_similarity(verb)
    find.set_defaults(run=run_find, is_marking=False)
    mark.set_defaults(run=run_find, is_marking=True)
    wordings.set_defaults(run=run_wordings)


def run_find(args: argparse.Namespace) -> int:
    """Find duplicates, print them and mark them if requested. Returns 0; raises DomainError if refused."""
    by = command_line_person()
    report = find_duplicates(
        by=by,
        dataset=args.dataset,
        settings=_read_settings(args),
        rule=args.keep,
        progress=_print_progress,
    )
    with read_only_session() as db:
        marks = [(mark.kept, mark.question, mark.similarity) for mark in report.marks[: args.examples]]
        contradictions = [pair[:3] for pair in report.contradictions[: args.examples]]
        _print_report(
            report,
            duplicates=load_pairs(db, by=by, pairs=marks),
            contradictions=load_pairs(db, by=by, pairs=contradictions),
        )
    if args.is_marking:
        with unit_of_work() as db:
            mark_duplicates(db, by=by, report=report, limit=args.limit, now=datetime.now(UTC))
        print(
            f"{count_text(len(report.marks), 'question')} marked as near-duplicate, "
            f"{count_text(len(report.contradictions), 'pair')} as contradicting."
        )
    return 0


def run_wordings(args: argparse.Namespace) -> int:
    """Print the most similar wordings. Returns 0."""
    count, pairs = find_repeated_wordings(
        by=command_line_person(), names=args.datasets, settings=_read_settings(args)
    )
    print(f"{count_text(count, 'wording')}, {count_text(len(pairs), 'pair')} of near-duplicates.")
    for first, second, similarity in pairs[: args.examples]:
        places = ", ".join(
            f"{name} {number:,}"
            for name, number in sorted((Counter(first.counts) | Counter(second.counts)).items())
        )
        print(f"{similarity:.2f}  {first.question.stem}")
        if second is not first:
            print(f"      {second.question.stem}")
        print(f"      questions: {places}")
    return 0


def _add_similarity(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threshold",
        type=float,
        default=_DEFAULTS.threshold,
        metavar="T",
        help=f"lowest similarity of a candidate (default {_DEFAULTS.threshold:g})",
    )
    parser.add_argument(
        "--text-weight",
        type=float,
        default=_DEFAULTS.text_weight,
        metavar="W",
        help="weight of the similarity of the texts: lambda of ReXVQA's equation 3 (default 1)",
    )
    parser.add_argument(
        "--structure-weight",
        type=float,
        default=_DEFAULTS.structure_weight,
        metavar="W",
        help="weight of the share of equal word pairs (default 0)",
    )


def _read_settings(args: argparse.Namespace) -> SearchSettings:
    return SearchSettings(
        threshold=args.threshold, text_weight=args.text_weight, structure_weight=args.structure_weight
    )


def _print_report(
    report: DuplicateReport, *, duplicates: list[ComparedPair], contradictions: list[ComparedPair]
) -> None:
    print(f"{report.dataset}: {count_text(report.questions, 'question')} compared within their exams.")
    print(f"{'':<40} {'questions':>10} {'duplicates':>11} {'share':>7}")
    for share in report.shares:
        name = "all" if share.kind == "all" else f"{share.kind}: {share.name or '-'}"
        print(f"{name[:40]:<40} {share.questions:>10,} {share.marked:>11,} {share.share:>7.1%}")
    for pair in duplicates:
        print(f"    {pair.second_key} asks the same as {pair.first_key} (similarity {pair.similarity:.2f})")
        print(f"        {pair.second.stem}\n        {pair.first.stem}")
    print(f"Contradicting keys: {count_text(len(report.contradictions), 'pair')}.")
    for pair in contradictions:
        answers = [format_answer(question.answer, question.options) for question in (pair.first, pair.second)]
        print(
            f"    {pair.first_key}: {answers[0]}; {pair.second_key}: {answers[1]}\n        {pair.first.stem}"
        )
    if report.differences:
        print(f"Similar, but not the same: {_format_outcomes(report.differences)}.")
    others = report.paper_pairs.total() - report.paper_pairs[Outcome.DUPLICATE]
    if report.paper_pairs:
        print(
            "A cosine above .9 alone would merge "
            f"{count_text(report.paper_pairs.total(), 'pair')}, {others:,} of which are not duplicates."
        )


def _format_outcomes(counts: Counter[Outcome]) -> str:
    return ", ".join(f"{outcome.value} {count:,}" for outcome, count in counts.most_common())


def _print_progress(done: int, total: int) -> None:
    if total >= 50_000:
        print(f"\r{done:,} of {total:,}", end="\n" if done == total else "", file=sys.stderr, flush=True)
