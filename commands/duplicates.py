"""``cli.py duplicates``: find and mark near-duplicate questions and contradicting keys."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from accounts.service import command_line_person
from commands.arguments import Subparsers
from domain.count_texts import count_text
from domain.questions import format_answer
from quality.duplicates.calibration import PAIRS_PER_BIN, explain_missing_rate
from quality.duplicates.marking import DEFAULT_LIMIT, KeepRule
from quality.duplicates.meaning import Outcome
from quality.duplicates.search import SearchSettings, Wording
from quality.duplicates.vectors import Embedder
from quality.service import (
    ComparedPair,
    DuplicateReport,
    draw_calibration,
    find_duplicates,
    find_repeated_wordings,
    judge_pair,
    load_calibration,
    load_embedder,
    load_pairs,
    mark_duplicates,
    store_calibration,
)
from storage.unit_of_work import read_only_session, unit_of_work

_DEFAULTS = SearchSettings()
_JUDGEMENTS = {"same": True, "different": False, "undo": None}


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
        description="Find near-duplicates and contradicting keys, store them as problems of two checks, "
        "and switch the checks on. The questions are not changed. Marking is refused if more than a share "
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
        _add_endpoint(verb)
    draw = verbs.add_parser(
        "draw",
        help="draw pairs for the calibration of the threshold",
        description="Draw pairs of wordings over the range of similarity, to be judged on the page "
        "Near-duplicates or with `judge`.",
    )
    draw.add_argument("dataset", metavar="DATASET")
    draw.add_argument("--seed", type=int, required=True, help="the same seed draws the same pairs")
    draw.add_argument(
        "--per-bin", type=int, default=PAIRS_PER_BIN, metavar="N", help="pairs from each range of similarity"
    )
    _add_endpoint(draw)
    draw.set_defaults(run=run_draw)
    judge = verbs.add_parser("judge", help="judge whether the two questions of a pair are the same")
    judge.add_argument("dataset", metavar="DATASET")
    judge.add_argument("pair", type=int, metavar="PAIR", help="the number that `calibration` shows")
    judge.add_argument("judgement", choices=list(_JUDGEMENTS))
    judge.set_defaults(run=run_judge)
    calibration = verbs.add_parser(
        "calibration", help="list the drawn pairs, and the estimated wrong merges by threshold"
    )
    calibration.add_argument("dataset", metavar="DATASET")
    _add_endpoint(calibration)
    calibration.set_defaults(run=run_calibration)
    find.set_defaults(run=run_find, is_marking=False)
    mark.set_defaults(run=run_find, is_marking=True)
    wordings.set_defaults(run=run_wordings)


def run_find(args: argparse.Namespace) -> int:
    """Find duplicates, print them and mark them if requested. Returns 0; raises DomainError if refused."""
    by = command_line_person()
    report = find_duplicates(
        by=by,
        dataset=args.dataset,
        settings=_read_settings(args, [args.dataset]),
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
        by=command_line_person(), names=args.datasets, settings=_read_settings(args, args.datasets)
    )
    print(f"{count_text(count, 'wording')}, {count_text(len(pairs), 'pair')} of near-duplicates.")
    for first, second, similarity in pairs[: args.examples]:
        counts_text = ", ".join(
            f"{dataset} {number:,}" for dataset, number in sorted(_count_questions(first, second).items())
        )
        print(f"{similarity:.2f}  {first.question.stem}")
        if second is not first:
            print(f"      {second.question.stem}")
        print(f"      questions: {counts_text}")
    return 0


def run_draw(args: argparse.Namespace) -> int:
    """Draw pairs and store them. Returns 0."""
    by = command_line_person()
    settings = replace(_DEFAULTS, embedder=_read_embedder(args, [args.dataset]))
    pairs = draw_calibration(
        by=by, dataset=args.dataset, settings=settings, seed=args.seed, per_bin=args.per_bin
    )
    with unit_of_work() as db:
        store_calibration(
            db,
            by=by,
            dataset=args.dataset,
            embedding=settings.embedder.name,
            pairs=pairs,
            now=datetime.now(UTC),
        )
    print(f"{count_text(len(pairs), 'pair')} drawn.")
    return 0


def run_judge(args: argparse.Namespace) -> int:
    """Store a judgement. Returns 0."""
    with unit_of_work() as db:
        judge_pair(
            db,
            by=command_line_person(),
            dataset=args.dataset,
            pair_id=args.pair,
            is_same=_JUDGEMENTS[args.judgement],
            now=datetime.now(UTC),
        )
    print("Saved.")
    return 0


def run_calibration(args: argparse.Namespace) -> int:
    """Print the pairs and the estimates. Returns 0."""
    by = command_line_person()
    with read_only_session() as db:
        settings = replace(_DEFAULTS, embedder=_read_embedder(args, [args.dataset]))
        calibration = load_calibration(db, by=by, dataset=args.dataset, settings=settings)
        pairs = [(pair.first, pair.second, pair.similarity) for pair in calibration.pairs]
        compared_pairs = load_pairs(db, by=by, pairs=pairs)
    judgement_names = {is_same: name for name, is_same in _JUDGEMENTS.items()}
    for pair, compared_pair in zip(calibration.pairs, compared_pairs, strict=True):
        state = "open" if pair.is_same is None else judgement_names[pair.is_same]
        print(f"{pair.id:>6}  {pair.similarity:.2f}  {state:<9}  {compared_pair.first.stem}")
        print(f"{'':<25}  {compared_pair.second.stem}")
    print(f"{calibration.judged:,} of {count_text(len(pairs), 'pair')} judged.")
    for estimate in calibration.estimates if calibration.judged else ():
        rate = explain_missing_rate(estimate)
        if estimate.rate is not None:
            rate = f"{estimate.rate:.1%} wrong ({estimate.low:.1%} to {estimate.high:.1%})"
        print(f"from {estimate.threshold:.2f}: {estimate.pairs:,} pairs, {estimate.judged:,} judged, {rate}")
    return 0


def _count_questions(first: Wording, second: Wording) -> Counter[str]:
    """Count the questions of a pair of wordings by dataset; of one wording if both are the same."""
    return Counter(first.counts) + (Counter() if second is first else Counter(second.counts))


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


def _add_endpoint(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--endpoint",
        metavar="NAME",
        help="take the similarity from the embeddings of a model at this endpoint (`model list`); by default "
        "it is lexical",
    )


def _read_embedder(args: argparse.Namespace, datasets: Sequence[str]) -> Embedder:
    if args.endpoint is None:
        return _DEFAULTS.embedder
    with read_only_session() as db:
        return load_embedder(db, by=command_line_person(), endpoint=args.endpoint, names=datasets)


def _read_settings(args: argparse.Namespace, datasets: Sequence[str]) -> SearchSettings:
    return SearchSettings(
        embedder=_read_embedder(args, datasets),
        threshold=args.threshold,
        text_weight=args.text_weight,
        structure_weight=args.structure_weight,
    )


def _print_report(
    report: DuplicateReport, *, duplicates: list[ComparedPair], contradictions: list[ComparedPair]
) -> None:
    print(f"{report.dataset}: {count_text(report.questions, 'question')} compared within their exams.")
    print(f"{'':<40} {'questions':>10} {'duplicates':>11} {'share':>7}")
    for group in report.shares:
        name = "all" if group.kind == "all" else f"{group.kind}: {group.name or '-'}"
        print(f"{name[:40]:<40} {group.questions:>10,} {group.marked:>11,} {group.share:>7.1%}")
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
    wrong_count = report.paper_pairs.total() - report.paper_pairs[Outcome.DUPLICATE]
    if report.paper_pairs:
        print(
            "A cosine above .9 alone would merge "
            f"{count_text(report.paper_pairs.total(), 'pair')}, {wrong_count:,} of which are not duplicates."
        )


def _format_outcomes(counts: Counter[Outcome]) -> str:
    return ", ".join(f"{outcome.value} {count:,}" for outcome, count in counts.most_common())


def _print_progress(done: int, total: int) -> None:
    if total >= 50_000:
        print(f"\r{done:,} of {total:,}", end="\n" if done == total else "", file=sys.stderr, flush=True)
