"""``cli.py evaluate judge`` and ``extract``: the AR-score by a judge model, and answers that it extracts."""

from __future__ import annotations

import argparse
import csv
import math
from datetime import UTC, datetime
from pathlib import Path

from accounts.service import command_line_person
from commands.arguments import Subparsers
from commands.model_calls import add_budget, make_worker_name, read_budget, stopping_on_signals
from commands.output import ProgressPrinter
from domain.count_texts import count_text
from domain.errors import InvalidValue
from domain.language_models import ModelRun
from evaluation import service as evaluations
from language_models.service import describe_progress, load_progress, resume_run, work_on_run
from storage.unit_of_work import read_only_session, unit_of_work


def add_to(verbs: Subparsers) -> None:
    """Add the commands and their arguments."""
    judge = verbs.add_parser(
        "judge",
        help="let a model judge the answers as given (AR-score), or continue",
        description="The judge sees question, report, key and answer in both orders and gives each text 1 to "
        "10; the AR-score is answer / key x 100. Prints the mean, the order bias and what was left out. With "
        "--experts, a CSV file with the columns question_id and score (AR-scores by experts), it prints how "
        "the judge agrees with them.",
    )
    judge.add_argument("name", metavar="EVALUATION")
    judge.add_argument("--endpoint", metavar="NAME", help="the judge; not needed to continue")
    judge.add_argument("--experts", type=Path, metavar="FILE")
    judge.add_argument("--retry-failed", action="store_true", help="also call failed requests again")
    add_budget(judge)
    judge.set_defaults(run=run_judge)
    extract = verbs.add_parser(
        "extract",
        help="let a model extract answers that no rule could, or continue",
        description="The judge sees question, options and reply, not the key, and writes the answer that the "
        "reply gives, or none. Once it has read all, its answers are part of scores and results, where they "
        "have a count of their own. The replies stay as they are.",
    )
    extract.add_argument("name", metavar="EVALUATION")
    extract.add_argument("--endpoint", metavar="NAME", help="the judge; not needed to continue")
    extract.add_argument("--retry-failed", action="store_true", help="also call failed requests again")
    add_budget(extract)
    extract.set_defaults(run=run_extract)


def run_extract(args: argparse.Namespace) -> int:
    """Extract what is left and print the counts by condition. The exit code is 1 if something is left."""
    by = command_line_person()
    with unit_of_work() as db:
        run = evaluations.find_extraction_run(db, by=by, name=args.name)
        if args.endpoint or run is None:
            run = evaluations.create_extraction_run(
                db,
                by=by,
                name=args.name,
                endpoint=_require_endpoint(args),
                budget=read_budget(args),
                now=datetime.now(UTC),
            )
    is_finished = _work_on(run, args)
    with read_only_session() as db:
        counts = evaluations.count_extractions(db, by=by, name=args.name)
    for line in counts:
        print(
            f"{line.condition.value}: no rule extracted {count_text(line.failed, 'answer')}, the judge "
            f"{line.extracted:,} of them"
        )
    return 0 if is_finished else 1


def run_judge(args: argparse.Namespace) -> int:
    """Judge what is left and print the result. The exit code is 1 if something is left."""
    by = command_line_person()
    expert_scores = _read_expert_scores(args.experts) if args.experts else None
    with unit_of_work() as db:
        if expert_scores is not None:
            evaluations.check_experts(db, by=by, name=args.name, question_ids=expert_scores)
        run = evaluations.find_judge_run(db, by=by, name=args.name)
        if args.endpoint or run is None:
            run = evaluations.create_judge_run(
                db,
                by=by,
                name=args.name,
                endpoint=_require_endpoint(args),
                budget=read_budget(args),
                now=datetime.now(UTC),
            )
    is_finished = _work_on(run, args)
    _print_scores(args.name, expert_scores)
    return 0 if is_finished else 1


def _require_endpoint(args: argparse.Namespace) -> str:
    if not args.endpoint:
        raise InvalidValue("--endpoint", "is needed to start the judge")
    return str(args.endpoint)


def _work_on(run: ModelRun, args: argparse.Namespace) -> bool:
    """Send the remaining requests of a run, print its progress, and return whether it is finished."""
    by = command_line_person()
    now = datetime.now(UTC)
    with unit_of_work() as db:
        progress = load_progress(db, by=by, name=run.name, now=now)
        if args.retry_failed or not progress.is_finished:
            resume_run(db, by=by, name=run.name, retry_failed=args.retry_failed, now=now)
    printer = ProgressPrinter()
    with stopping_on_signals() as should_stop:
        progress = work_on_run(
            by=by,
            name=run.name,
            worker=make_worker_name(),
            clock=lambda: datetime.now(UTC),
            report=lambda calls: printer("requests", calls, run.requests),
            should_stop=should_stop,
        )
    print(describe_progress(progress))
    return progress.is_finished


def _print_scores(name: str, expert_scores: dict[str, float] | None) -> None:
    from evaluation.results import number_clusters  # noqa: PLC0415 - imports scipy, which takes a second
    from evaluation.scores_text import list_judge_lines  # noqa: PLC0415 - as above
    from measures.means import mean_by_cluster  # noqa: PLC0415 - as above

    with unit_of_work() as db:
        judged = evaluations.load_judged(db, by=command_line_person(), name=name, now=datetime.now(UTC))
    clusters = number_clusters(judged.questions)
    values = judged.scores.values
    mean = mean_by_cluster(list(values.values()), [clusters[number] for number in values])
    calibration = None if expert_scores is None else evaluations.calibrate_on_experts(judged, expert_scores)
    print(judged.version)
    print("\n".join(list_judge_lines(judged.scores, mean, calibration)))


def _read_expert_scores(path: Path) -> dict[str, float]:
    """Return the mean AR-score of the experts by question.

    Raises:
        InvalidValue: the file, a column or a score is not valid.
    """
    if not path.is_file():
        raise InvalidValue("--experts", f"{path} is not a file")
    scores: dict[str, list[float]] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        if not {"question_id", "score"} <= set(reader.fieldnames or ()):
            raise InvalidValue("--experts", f"{path} must have the columns question_id and score")
        for line, row in enumerate(reader, start=2):
            try:
                score = float(row["score"])
            except ValueError:
                score = math.nan
            if not 0 <= score <= 1000:
                raise InvalidValue(
                    f"{path}, line {line}: score", f"{row['score']!r} is not a number from 0 to 1,000"
                )
            scores.setdefault(row["question_id"], []).append(score)
    return {question_id: sum(values) / len(values) for question_id, values in scores.items()}
