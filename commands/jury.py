"""``cli.py jury``: content checks by juries of language models."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from accounts.service import command_line_person
from browsing.service import load_question_row_id
from commands.arguments import Subparsers, parse_checks
from commands.model_calls import add_budget, make_worker_name, read_budget, stopping_on_signals
from commands.output import ProgressPrinter
from domain.checks import JURY_CHECKS
from domain.count_texts import count_text
from domain.juries import Jury
from domain.language_models import TEST_MODEL_NOTE, format_cost
from domain.people import Person
from quality import service as quality
from quality.service import JuryProgress, JurySettings
from storage.unit_of_work import read_only_session, unit_of_work

_CHECKS = ",".join(check.value.replace(" ", "-") for check in JURY_CHECKS)


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("jury")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    _add_plan(verbs)
    for name, run, help_text in (
        ("run", run_run, "make the calls; continues a jury that was paused or interrupted"),
        ("pause", run_pause, "pause in all processes; calls under way are stored"),
        ("cancel", run_cancel, "cancel; this cannot be undone; votes so far are kept"),
        ("show", run_show, "print judges, progress and costs"),
    ):
        verb = verbs.add_parser(name, help=help_text)
        verb.add_argument("jury", type=int, metavar="JURY", help="id that `jury list` shows")
        verb.set_defaults(run=run)
        if name == "run":
            verb.add_argument("--retry-failed", action="store_true", help="call failed requests again")
    listing = verbs.add_parser("list", help="list juries, newest first")
    listing.add_argument("dataset", metavar="DATASET", nargs="?")
    listing.set_defaults(run=run_list)
    results = verbs.add_parser("results", help="print the answers to each criterion")
    results.add_argument("dataset", metavar="DATASET")
    results.set_defaults(run=run_results)
    votes = verbs.add_parser("votes", help="print the votes on one question with their reasons")
    votes.add_argument("dataset", metavar="DATASET")
    votes.add_argument("question", metavar="QUESTION", help="id in the file")
    votes.set_defaults(run=run_votes)


def _add_plan(verbs: Subparsers) -> None:
    plan = verbs.add_parser(
        "plan",
        help="plan a jury; nothing is sent yet",
        description="Models of two or more families answer fixed criteria on each question: yes, no or "
        "insufficient evidence, with a reason. A model never judges what a model of its family wrote, unless "
        "you give a reason. A model never judges a question twice by the same criteria.",
    )
    plan.add_argument("dataset", metavar="DATASET")
    plan.add_argument(
        "--endpoint", action="append", required=True, metavar="NAME", help="a judge; give two or more"
    )
    plan.add_argument("--checks", default=_CHECKS, metavar="CHECKS", help=f"default {_CHECKS}")
    plan.add_argument(
        "--questions", type=int, metavar="N", help="number of questions, drawn at random (default: all)"
    )
    plan.add_argument(
        "--pilot",
        dest="questions",
        action="store_const",
        const=quality.PILOT_QUESTIONS,
        help=f"{quality.PILOT_QUESTIONS} questions; their votes count, and no model judges them twice",
    )
    plan.add_argument(
        "--judged",
        action="store_true",
        help="only questions with a verdict of a reviewer, to measure the checks",
    )
    plan.add_argument(
        "--prompt",
        action="append",
        default=[],
        metavar="NAME@VERSION",
        help="criteria to use instead of those of Overread",
    )
    plan.add_argument(
        "--written-by", metavar="FAMILY", help="family that wrote the questions whose author is not stated"
    )
    plan.add_argument(
        "--own-family",
        default="",
        metavar="REASON",
        help="let models judge their own family; the reason is recorded",
    )
    add_budget(plan)
    plan.set_defaults(run=run_plan)


def run_plan(args: argparse.Namespace) -> int:
    """Plan the jury."""
    by = command_line_person()
    settings = JurySettings(
        dataset=args.dataset,
        endpoints=tuple(args.endpoint),
        checks=tuple(parse_checks(args.checks.replace("-", " "))),
        questions=args.questions,
        judged_only=args.judged,
        prompts=tuple(args.prompt),
        written_by=args.written_by,
        override_reason=args.own_family,
    )
    with unit_of_work() as db:
        jury = quality.plan_jury(db, by=by, settings=settings, budget=read_budget(args), now=_now())
    _print_jury(by, jury.id)
    print(f"Continue with `cli.py jury run {jury.id}`.")
    return 0


def run_run(args: argparse.Namespace) -> int:
    """Work on the jury in this process; the exit code is 1 if something is left."""
    by, printer = command_line_person(), ProgressPrinter()
    with unit_of_work() as db:
        opened_jury = quality.open_jury(
            db, by=by, jury_id=args.jury, retry_failed=args.retry_failed, now=_now()
        )
    with stopping_on_signals() as should_stop:
        progress = quality.work_on_jury(
            by=by,
            jury_id=args.jury,
            worker=make_worker_name(),
            clock=_now,
            report=lambda ended: printer("requests", min(ended, opened_jury.requests), opened_jury.requests),
            should_stop=should_stop,
        )
    print(quality.describe_jury_progress(progress))
    _print_results(by, progress.jury.dataset)
    return 0 if progress.is_finished else 1


def run_pause(args: argparse.Namespace) -> int:
    """Pause the jury."""
    with unit_of_work() as db:
        quality.pause_jury(db, by=command_line_person(), jury_id=args.jury, now=_now())
    print(f"Paused jury {args.jury}. Continue with `cli.py jury run {args.jury}`.")
    return 0


def run_cancel(args: argparse.Namespace) -> int:
    """Cancel the jury."""
    with unit_of_work() as db:
        quality.cancel_jury(db, by=command_line_person(), jury_id=args.jury, now=_now())
    print(f"Cancelled jury {args.jury}. Votes so far stay.")
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print the judges with their progress and costs."""
    _print_jury(command_line_person(), args.jury)
    return 0


def run_list(args: argparse.Namespace) -> int:
    """Print one line per jury."""
    by = command_line_person()
    with read_only_session() as db:
        juries = quality.list_juries(db, by=by, dataset=args.dataset)
        progresses = [quality.load_jury_progress(db, by=by, jury_id=jury.id, now=_now()) for jury in juries]
    for progress in progresses:
        jury = progress.jury
        print(
            f"{jury.id}\t{jury.dataset}\t{jury.planned_at:%Y-%m-%d %H:%M} UTC\t{_describe_families(jury)}\t"
            f"{quality.describe_jury_progress(progress)}"
        )
    if not juries:
        print("No juries. Plan one with `cli.py jury plan`.")
    return 0


def run_results(args: argparse.Namespace) -> int:
    """Print how the judges answered each criterion."""
    _print_results(command_line_person(), args.dataset)
    return 0


def run_votes(args: argparse.Namespace) -> int:
    """Print the votes on one question."""
    by = command_line_person()
    with read_only_session() as db:
        row_id = load_question_row_id(db, by=by, dataset=args.dataset, question_id=args.question)
        details = quality.load_question_votes(db, by=by, question_row_id=row_id)
    for detail in details:
        judge = detail.judge
        print(
            f"{judge.check}, {judge.family} ({judge.model}), {judge.prompt}: {detail.vote.failure}".rstrip(
                " :"
            )
        )
        if detail.vote.answers:
            reasons = detail.reasons or ("",) * len(detail.items)
            for criterion, answer, reason in zip(detail.items, detail.vote.answers, reasons, strict=True):
                print(f"    {criterion.name}: {answer}. {reason}".rstrip())
    if not details:
        print("No votes.")
    return 0


def _print_jury(by: Person, jury_id: int) -> None:
    with read_only_session() as db:
        progress = quality.load_jury_progress(db, by=by, jury_id=jury_id, now=_now())
    jury = progress.jury
    questions = count_text(jury.questions, "question")
    print(f"Jury {jury.id} of {jury.dataset}: {questions}, {_describe_families(jury)}")
    for note in jury.notes:
        print(note)
    for judge_progress in progress.judges:
        judge, requests = judge_progress.judge, judge_progress.requests
        if requests is None:
            print(f"{judge.check}\t{judge.family}\tno question to judge")
            continue
        run = requests.run
        print(
            f"{judge.check}\t{judge.family}\t{judge.model}\t{requests.ended:,} of {run.requests:,}\t"
            f"{format_cost(run.cost_nanos)}\trun {run.name}"
        )
    print(quality.describe_jury_progress(progress))
    _print_expected_cost(progress)


def _print_expected_cost(progress: JuryProgress) -> None:
    if progress.ended and not progress.is_finished:
        expected = round(progress.cost_nanos / progress.ended * progress.requests)
        print(f"Expected cost of all requests: {format_cost(expected)}.")


def _print_results(by: Person, dataset: str) -> None:
    with read_only_session() as db:
        results = quality.load_jury_results(db, by=by, dataset=dataset)
    for result in results:
        note = f" Test model: {TEST_MODEL_NOTE}." if result.is_test else ""
        print(f"{result.check}, {result.prompt}: {count_text(result.judged, 'question')}.{note}")
        for reason in result.override_reasons:
            print(f"    Models could judge their own family: {reason}")
        for line in result.counts:
            answers = ", ".join(f"{answer} {count:,}" for answer, count in line.answers.items())
            print(f"    {line.item.name}, {line.family}: {answers}")
        for (family, reason), count in result.failures.items():
            print(f"    {family}: {count:,} without a vote: {reason}")
    if not results:
        print("No votes.")


def _describe_families(jury: Jury) -> str:
    return ", ".join(dict.fromkeys(f"{judge.family} ({judge.model})" for judge in jury.judges))


def _now() -> datetime:
    return datetime.now(UTC)
