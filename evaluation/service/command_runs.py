"""Runs an evaluation with a program that follows ReXrank's contract, in parts that are stored one by one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec
from sqlalchemy import Engine

from domain.errors import InvalidValue, Refused
from domain.evaluations import AnsweredBy, Evaluation, EvaluationCase, EvaluationRun, ImageSize
from domain.people import Action, Person, require
from domain.problems import Refusal
from evaluation.cases import EvaluatedQuestion
from evaluation.rexrank import build_record, choose_exam, name_image, run_program
from evaluation.service.answers import store_records
from evaluation.service.plans import load_evaluated_questions
from evaluation.service.run_job import EvaluationProgress, load_progress
from imaging.guarded_decoder import GuardedDecoder
from reader_study.predictions_file import PredictionRecord
from reader_study.predictions_process import read_predictions_in_process
from storage.evaluation import evaluations as evaluation_storage
from storage.images.files import get_image_store
from storage.reader_study import predictions as prediction_storage
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace, current_workspace


def run_command_evaluation(
    *,
    by: Person,
    name: str,
    program: Sequence[str],
    part: int,
    clock: Callable[[], datetime],
    report: Callable[[int], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    engine: Engine | None = None,
) -> EvaluationProgress:
    """Let a program answer the unanswered questions, in parts, and return the progress.

    The answers of a part are stored when the program has ended. After a kill the same call continues with the
    parts that are not stored.

    Args:
        by: the acting person.
        name: the evaluation.
        program: the program with its own arguments.
        part: the number of questions for each call of the program, at least 1.
        clock: returns the current time.
        report: called with the number of stored answers.
        should_stop: whether to stop; the current part is then not stored.
        engine: the database; None for the one that the environment names.

    Raises:
        NotFound: there is no such evaluation.
        Refused: it is not answered by a command, or the program fails or answers nothing.
        InvalidValue: ``part`` is below 1.
    """
    if part < 1:
        raise InvalidValue("part", f"must be at least 1, not {part}")
    with read_only_session(engine) as db:
        require(by, Action.RUN_MODELS)
        evaluation = evaluation_storage.load_evaluation(db, name=name)
        if evaluation.answered_by is not AnsweredBy.COMMAND:
            raise Refused(
                f"Evaluation {name} is not answered by a command, but by: {evaluation.answered_by.value}."
            )
        questions = {item.number: item for item in load_evaluated_questions(db, evaluation)}
        runs = evaluation_storage.list_runs(db, evaluation_id=evaluation.id)
    workspace = current_workspace()
    folder = workspace.cache / "evaluations" / str(evaluation.id)
    folder.mkdir(parents=True, exist_ok=True)
    answered_count = sum(run.predictions for run in runs)
    with GuardedDecoder(workers=1) as decoder:
        for run in runs:
            with read_only_session(engine) as db:
                cases = evaluation_storage.load_cases(db, run_id=run.id)
                answered_ids = prediction_storage.load_predicted_questions(db, model_id=run.model_id)
            unanswered_cases = [case for number, case in cases.items() if number not in answered_ids]
            for start in range(0, len(unanswered_cases), part):
                if should_stop():
                    break
                records = _answer_part(
                    unanswered_cases[start : start + part],
                    evaluation=evaluation,
                    run=run,
                    questions=questions,
                    program=program,
                    folder=folder,
                    workspace=workspace,
                    decoder=decoder,
                    should_stop=should_stop,
                )
                if records is None:
                    break
                with unit_of_work(engine) as db:
                    outcome = store_records(
                        db, by=by, name=name, condition=run.condition, records=records,
                        source=f"{Path(program[0]).name} {' '.join(program[1:])}".strip(), now=clock(),
                    )  # fmt: skip
                    if outcome.refusals:
                        raise Refused(_describe_refusal(outcome.refusals[0]))
                answered_count += outcome.added
                report(answered_count)
    with read_only_session(engine) as db:
        progress = load_progress(db, by=by, name=name, now=clock())
    if progress.is_finished:
        shutil.rmtree(folder, ignore_errors=True)
    return progress


def _answer_part(
    cases: Sequence[EvaluationCase],
    *,
    evaluation: Evaluation,
    run: EvaluationRun,
    questions: Mapping[int, EvaluatedQuestion],
    program: Sequence[str],
    folder: Path,
    workspace: Workspace,
    decoder: GuardedDecoder,
    should_stop: Callable[[], bool],
) -> list[PredictionRecord] | None:
    """Call the program for some cases; None if it was stopped."""
    exams = {item.exam.number: item.exam for item in questions.values()}
    records, image_hashes = {}, set()
    for case in cases:
        item = questions[case.question_row_id]
        exam = choose_exam(item, case, condition=run.condition, exams=exams)
        records[item.question.id] = build_record(item, case, exam=exam, image_size=evaluation.image_size)
        image_hashes |= {
            radiograph.sha256 for radiograph in (exam.radiographs if exam else ()) if radiograph.sha256
        }
    for sha256 in sorted(image_hashes):
        _render_image(sha256, folder, evaluation.image_size, workspace=workspace, decoder=decoder)
    # The program of a killed command may still run and write its file, so each call has its own folder.
    with tempfile.TemporaryDirectory(dir=folder, prefix="call-", ignore_cleanup_errors=True) as call_folder:
        source, target = Path(call_folder) / "questions.json", Path(call_folder) / "answers.json"
        source.write_bytes(msgspec.json.format(msgspec.json.encode(records), indent=1))
        if not run_program(program, questions=source, answers=target, images=folder, should_stop=should_stop):
            return None
        if b'"model_prediction"' not in target.read_bytes():
            raise Refused(f"{program[0]} ended without an error, but its file has no model_prediction.")
        answers = []
        for record, _ in read_predictions_in_process(target, model=None, file=target.name):
            if isinstance(record, Refusal):
                raise Refused(_describe_refusal(record))
            answers.append(record)
    return answers


def _render_image(
    sha256: str, folder: Path, size: ImageSize, *, workspace: Workspace, decoder: GuardedDecoder
) -> None:
    target = folder / name_image(sha256, size)
    if target.is_file():
        return
    target.parent.mkdir(exist_ok=True)
    with get_image_store(workspace).local_file(sha256) as path:
        pngs = decoder.render_png(path, name=sha256[:12], quarter=size is ImageSize.QUARTER)
    partial = target.with_suffix(".partial")
    partial.write_bytes(pngs.quarter or pngs.full)
    partial.replace(target)


def _describe_refusal(refusal: Refusal) -> str:
    parts = (refusal.file, f"record {refusal.record}", refusal.field)
    return f"{': '.join(part for part in parts if part)}: {refusal.reason}. Nothing of this part was stored."
