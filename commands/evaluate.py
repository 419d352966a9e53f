"""``cli.py evaluate``: evaluations of models on a release, with control conditions."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person
from commands import evaluate_judge, evaluate_scores
from commands.arguments import Subparsers
from commands.model_calls import add_budget, make_worker_name, read_budget, stopping_on_signals
from commands.output import ProgressPrinter, print_refusals
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.evaluations import AnsweredBy, Condition, ImageSize
from domain.language_models import format_cost
from evaluation import service as evaluations
from evaluation.exports import ExportFormat, export_answers
from evaluation.results_text import format_results
from release.splits import Split
from storage.unit_of_work import read_only_session, unit_of_work

_MAX_SHOWN = 50  # refusals shown in the terminal
#: Conditions by the name in arguments.
_CONDITIONS = {condition.value.replace(" ", "-"): condition for condition in Condition}
#: Conditions that need no other model.
_DEFAULT_CONDITIONS = [
    name for name, condition in _CONDITIONS.items() if condition is not Condition.PARAPHRASED
]


def add_to(subparsers: Subparsers) -> None:
    """Add the command and its arguments."""
    parser = subparsers.add_parser("evaluate")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    _add_plan(verbs)
    verbs.add_parser("list", help="list evaluations, newest first").set_defaults(run=run_list)
    run = verbs.add_parser(
        "run",
        help="ask the questions, or continue",
        description="Asks until all conditions are complete, a run is paused or a budget is reached. The "
        "same command continues after a stop or a kill. With --command, PROGRAM is called as `PROGRAM "
        "--input_json_file FILE --save_json_file FILE --img_root_dir FOLDER` (ReXrank's contract) for each "
        "part of the questions.",
    )
    run.add_argument("name", metavar="EVALUATION")
    run.add_argument("--retry-failed", action="store_true", help="also call failed requests again")
    run.add_argument("--command", metavar="PROGRAM", help="the program with its own arguments, quoted")
    run.add_argument(
        "--part", type=int, default=500, metavar="N", help="questions for each call of PROGRAM (default 500)"
    )
    run.set_defaults(run=run_run)
    pause = verbs.add_parser("pause", help="pause in all processes; calls under way are stored")
    pause.add_argument("name", metavar="EVALUATION")
    pause.set_defaults(run=run_pause)
    answers = verbs.add_parser(
        "import",
        help="import the answers of one condition from a file",
        description="FILE is overread.prediction/1, ReXrank's output, lmms-eval samples, a table of "
        "VLMEvalKit or an inspect_ai log. Letters refer to the options in the order shown. An import is "
        "complete or has no effect.",
    )
    answers.add_argument("name", metavar="EVALUATION")
    answers.add_argument("file", type=Path, metavar="FILE")
    answers.add_argument("--condition", choices=list(_CONDITIONS), default="as-given")
    answers.set_defaults(run=run_import)
    export = verbs.add_parser(
        "export",
        help="write the answers of one condition to a file",
        description="overread: answers in the options of the release. rexrank (JSON) and vlmevalkit (TSV): "
        "questions and replies as the model saw them. Answers to a private split are not exported.",
    )
    export.add_argument("name", metavar="EVALUATION")
    export.add_argument("file", type=Path, metavar="FILE")
    export.add_argument("--condition", choices=list(_CONDITIONS), default="as-given")
    export.add_argument("--format", choices=list(ExportFormat), type=ExportFormat, required=True)
    export.set_defaults(run=run_export)
    show = verbs.add_parser("show", help="show progress, costs and excluded questions")
    show.add_argument("name", metavar="EVALUATION")
    show.set_defaults(run=run_show)
    report = verbs.add_parser(
        "report",
        help="print accuracy with its floors, image reliance, consistency and position bias",
        description="Intervals are clustered by patient. A question without an answer counts as wrong. A "
        "look at the results of a private split is recorded in the audit trail.",
    )
    report.add_argument("name", metavar="EVALUATION")
    report.add_argument(
        "--release", metavar="RELEASE", help="use the keys of this release, such as a corrected one"
    )
    report.add_argument("--json", action="store_true", help="print all numbers as JSON")
    report.set_defaults(run=run_report)
    evaluate_scores.add_to(verbs)
    evaluate_judge.add_to(verbs)


def _add_plan(verbs: Subparsers) -> None:
    plan = verbs.add_parser(
        "plan",
        help="plan an evaluation; nothing is sent yet",
        description="Chooses the questions of each condition, the other patients and the orders of options, "
        "and stores them.",
    )
    plan.add_argument("name", metavar="EVALUATION")
    plan.add_argument("dataset", metavar="DATASET")
    plan.add_argument("release", metavar="RELEASE")
    plan.add_argument("--split", choices=list(Split), type=Split, default=Split.PUBLIC)
    plan.add_argument(
        "--condition",
        choices=list(_CONDITIONS),
        action="append",
        help="repeatable (default: all that are possible)",
    )
    answers_from = plan.add_mutually_exclusive_group(required=True)
    answers_from.add_argument("--endpoint", metavar="NAME", help="an endpoint of a language model")
    answers_from.add_argument(
        "--command", metavar="MODEL", help="a program; MODEL is the name of its model in tables"
    )
    answers_from.add_argument("--files", metavar="MODEL", help="files of answers of the model with that name")
    plan.add_argument(
        "--paraphrases-by",
        metavar="NAME",
        help="the endpoint that writes the stems of the condition paraphrased; those that change the "
        "meaning are excluded and counted",
    )
    plan.add_argument("--prompt", metavar="NAME@VERSION", help="default: the prompt of the software")
    plan.add_argument(
        "--images", choices=list(ImageSize), type=ImageSize, default=ImageSize.QUARTER,
        help="PNG with all pixels, or a quarter of each side (default)",
    )  # fmt: skip
    plan.add_argument(
        "--seed", type=int, default=1, help="for other patients and orders of options (default 1)"
    )
    add_budget(plan)
    plan.set_defaults(run=run_plan)


def run_plan(args: argparse.Namespace) -> int:
    """Plan the evaluation."""
    by = command_line_person()
    settings = evaluations.PlanSettings(
        name=args.name,
        dataset=args.dataset,
        release=args.release,
        split=args.split,
        conditions=_choose_conditions(args),
        image_size=args.images,
        seed=args.seed,
    )
    if not args.endpoint and (args.prompt or args.paraphrases_by or read_budget(args)):
        raise InvalidValue("--prompt, --paraphrases-by and limits", "are for evaluations with --endpoint")
    with unit_of_work() as db:
        now = datetime.now(UTC)
        if args.endpoint:
            evaluations.plan_with_endpoint(
                db, by=by, settings=settings, endpoint=args.endpoint, prompt=args.prompt,
                paraphrases_by=args.paraphrases_by,
                budget=read_budget(args), now=now,
            )  # fmt: skip
        else:
            evaluations.plan_without_endpoint(
                db, by=by, settings=settings,
                answered_by=AnsweredBy.COMMAND if args.command else AnsweredBy.FILE,
                model=args.command or args.files, now=now,
            )  # fmt: skip
    run_show(args)
    verb = "import" if args.files else "run"
    print(f"Continue with `cli.py evaluate {verb} {shlex.quote(args.name)} …`.")
    return 0


def _choose_conditions(args: argparse.Namespace) -> tuple[Condition, ...]:
    default_names = list(_CONDITIONS) if args.paraphrases_by else _DEFAULT_CONDITIONS
    return tuple(_CONDITIONS[name] for name in args.condition or default_names)


def run_list(_: argparse.Namespace) -> int:
    """Print one line per evaluation."""
    by = command_line_person()
    with read_only_session() as db:
        progresses = [
            evaluations.load_progress(db, by=by, name=evaluation.name, now=datetime.now(UTC))
            for evaluation in evaluations.list_evaluations(db, by=by)
        ]
    for progress in progresses:
        evaluation = progress.evaluation
        print(
            f"{evaluation.name}\t{evaluation.dataset} {evaluation.release}, {evaluation.split}\t"
            f"{evaluation.model}\t{progress.answers:,} of {count_text(progress.cases, 'answer')}\t"
            f"{format_cost(progress.cost_nanos)}"
        )
    if not progresses:
        print("No evaluations. Plan one with `cli.py evaluate plan`.")
    return 0


def run_run(args: argparse.Namespace) -> int:
    """Work on the evaluation in this process; the exit code is 1 if something is left."""
    by, printer = command_line_person(), ProgressPrinter()
    with read_only_session() as db:
        total = evaluations.load_progress(db, by=by, name=args.name, now=datetime.now(UTC)).requests
    if not args.command:
        with unit_of_work() as db:
            evaluations.open_evaluation(
                db, by=by, name=args.name, retry_failed=args.retry_failed, now=datetime.now(UTC)
            )
    with stopping_on_signals() as should_stop:
        if args.command:
            progress = evaluations.run_command_evaluation(
                by=by,
                name=args.name,
                program=shlex.split(args.command),
                part=args.part,
                clock=lambda: datetime.now(UTC),
                report=lambda answers: printer("answers", answers, total),
                should_stop=should_stop,
            )
        else:
            progress = evaluations.work_on_evaluation(
                by=by,
                name=args.name,
                worker=make_worker_name(),
                clock=lambda: datetime.now(UTC),
                report=lambda ended: printer("requests", ended, total),
                should_stop=should_stop,
            )
    print(evaluations.describe_progress(progress))
    return 0 if progress.is_finished else 1


def run_pause(args: argparse.Namespace) -> int:
    """Pause the evaluation."""
    with unit_of_work() as db:
        evaluations.pause_evaluation(db, by=command_line_person(), name=args.name, now=datetime.now(UTC))
    print(f"Paused {args.name}. Continue with `cli.py evaluate run {shlex.quote(args.name)}`.")
    return 0


def run_import(args: argparse.Namespace) -> int:
    """Import the answers. Returns 0, or 1 after printing the invalid records."""
    if not args.file.is_file():
        raise InvalidValue(str(args.file), "is not a file")
    with unit_of_work() as db:
        outcome = evaluations.import_answers(
            db, by=command_line_person(), name=args.name, condition=_CONDITIONS[args.condition],
            path=args.file, now=datetime.now(UTC),
        )  # fmt: skip
    if outcome.refused:
        print_refusals(outcome.refusals, count=outcome.refused, limit=_MAX_SHOWN, record_label="record ")
        print(f"Nothing was imported: {count_text(outcome.refused, 'invalid record')}.", file=sys.stderr)
        return 1
    print(
        f"Imported {count_text(outcome.added, 'answer')}, {outcome.failed:,} without a recognised answer; "
        "these count as wrong."
    )
    return 0


def run_export(args: argparse.Namespace) -> int:
    """Write the answers of a condition."""
    condition = _CONDITIONS[args.condition]
    with read_only_session() as db:
        evaluation, answers = evaluations.load_exported_answers(
            db, by=command_line_person(), name=args.name, condition=condition
        )
    partial = args.file.with_name(f".{args.file.name}.partial")
    with partial.open("w", encoding="utf-8", newline="") as file:
        for text in export_answers(
            answers,
            export_format=args.format,
            model=evaluation.model,
            image_size=evaluation.image_size,
        ):
            file.write(text)
    partial.replace(args.file)
    print(f"Wrote {count_text(len(answers), 'answer')} to {args.file}.")
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print the plan and its progress."""
    with read_only_session() as db:
        progress = evaluations.load_progress(
            db, by=command_line_person(), name=args.name, now=datetime.now(UTC)
        )
    evaluation = progress.evaluation
    for label, value in {
        "evaluation": evaluation.name,
        "release": f"{evaluation.dataset} {evaluation.release}, {evaluation.split} split",
        "model": evaluations.describe_model(evaluation),
        "prompt": evaluation.prompt or "none",
        "radiographs": f"PNG, {evaluation.image_size.value} size",
        "seed": str(evaluation.seed),
        "progress": evaluations.describe_progress(progress),
    }.items():
        print(f"{label}: {value}")
    if progress.paraphrases:
        done_text = f"{progress.paraphrases.ended:,} of {progress.paraphrases.run.requests:,}"
        print(f"paraphrases: {done_text} requests, {progress.paraphrases.state}")
    for condition_progress in progress.conditions:
        run = condition_progress.run
        excluded = "".join(f"; {count:,} excluded: {reason}" for reason, count in run.excluded.items())
        state = f", {condition_progress.requests.state}" if condition_progress.requests else ""
        print(
            f"{run.condition.value}: {run.predictions:,} of "
            f"{count_text(run.cases, 'answer')}{state}{excluded}"
        )
    return 0


def run_report(args: argparse.Namespace) -> int:
    """Print the results."""
    with unit_of_work() as db:
        evaluation, results = evaluations.open_results(
            db, by=command_line_person(), name=args.name, release=args.release, now=datetime.now(UTC)
        )
    release = args.release or evaluation.release
    if args.json:
        plain = {
            "evaluation": evaluation.name,
            "keys": release,
            "model": evaluations.describe_model(evaluation),
            **asdict(results),
        }
        print(json.dumps(plain, ensure_ascii=False, indent=2))
    else:
        keys_text = "" if release == evaluation.release else f", keys of {release}"
        print(
            f"{evaluations.describe_model(evaluation)} on {evaluation.dataset} {evaluation.release}, "
            f"{evaluation.split} split{keys_text}"
        )
        print("\n".join(format_results(results)))
    return 0
