"""Services for answers that no rule could extract: the run of a judge, and predictions with its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import Refused
from domain.evaluations import Condition, Evaluation, EvaluationRun
from domain.language_models import TEST_MODEL_NOTE, Budget, ModelRun, RequestStatus
from domain.people import Action, Person, require
from domain.questions import Answer
from domain.readings import Prediction
from evaluation.answer_extraction import (
    BY_JUDGE,
    EXTRACTION_PROMPT,
    build_extraction_request,
    parse_extraction_id,
    read_extraction,
)
from evaluation.service.plans import load_evaluated_questions
from language_models import service as models
from language_models.prompts import Prompt, parse_prompt
from language_models.requests import ModelRequest
from storage.evaluation import evaluations as evaluation_storage
from storage.language_models import runs
from storage.language_models.requests import count_by_status
from storage.reader_study import predictions as prediction_storage

#: The purpose of the calls; part of the key of each call in the ledger.
EXTRACTION_STAGE = "extract-answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionCounts:
    """The number of replies in which no rule found an answer, and in how many of them a judge found one."""

    condition: Condition
    failed: int
    extracted: int


def name_extraction_run(evaluation: str) -> str:
    """Return the name of the run that extracts answers of an evaluation."""
    return f"{evaluation}/{EXTRACTION_STAGE}"


def create_extraction_run(
    db: Session, *, by: Person, name: str, endpoint: str, budget: Budget | None = None, now: datetime
) -> ModelRun:
    """Create the run that reads the replies from which no rule extracted an answer, in all conditions.

    Nothing is sent yet. A request contains the question as shown to the model and its reply. A second call
    with the same replies changes nothing.

    Raises:
        NotFound: there is no such evaluation or endpoint.
        AlreadyThere: another endpoint reads the replies, or replies were added since the run was created.
        Refused: the dataset does not permit the endpoint, or a rule extracted every answer.
    """
    require(by, Action.RUN_MODELS)
    evaluation = evaluation_storage.load_evaluation(db, name=name)
    judge = models.load_endpoint(db, by=by, name=endpoint)
    content = EXTRACTION_PROMPT.read_text(encoding="utf-8")
    version, _ = models.save_prompt(db, by=by, content=content, note="Comes with the software.", now=now)
    requests = list(_build_requests(db, evaluation, parse_prompt(version.content)))
    if not requests:
        raise Refused(f"A rule extracted an answer from every reply of {name}, so there is nothing to read.")
    run, is_new = models.create_run(
        db,
        by=by,
        name=name_extraction_run(name),
        stage=EXTRACTION_STAGE,
        endpoint=judge,
        dataset=evaluation.dataset,
        requests=requests,
        prompt=version,
        budget=budget,
        now=now,
    )
    if is_new:
        record_action(
            db,
            by=by,
            action="plan extraction by judge",
            subject=f"evaluation {evaluation.id}",
            new={"endpoint": endpoint, "prompt": version.label, "requests": run.requests},
            now=now,
        )
    return run


def find_extraction_run(db: Session, *, by: Person, name: str) -> ModelRun | None:
    """Return the run that extracts answers of an evaluation; None if there is none."""
    require(by, Action.RUN_MODELS)
    return runs.find_run(db, name=name_extraction_run(name))


def count_extractions(db: Session, *, by: Person, name: str) -> list[ExtractionCounts]:
    """Return by condition in how many replies no rule found an answer, and in how many a judge found one.

    Raises:
        NotFound: there is no such evaluation.
    """
    require(by, Action.RUN_MODELS)
    evaluation = evaluation_storage.load_evaluation(db, name=name)
    counts = []
    for run in evaluation_storage.list_runs(db, evaluation_id=evaluation.id):
        unextracted = [
            prediction for prediction in iterate_read_predictions(db, evaluation, run, by=by)
            if prediction.failed or prediction.rule == BY_JUDGE
        ]  # fmt: skip
        extracted = sum(not prediction.failed for prediction in unextracted)
        counts.append(ExtractionCounts(condition=run.condition, failed=len(unextracted), extracted=extracted))
    return counts


def describe_extraction(db: Session, evaluation: Evaluation) -> str:
    """Return the signature of the judge whose answers count; "" if there is none or it has not finished.

    Results must not change with each reply, so the judge's answers count only when all requests have ended.
    """
    run = runs.find_run(db, name=name_extraction_run(evaluation.name))
    if run is None:
        return ""
    counts = count_by_status(db, run_id=run.id)
    if counts.get(RequestStatus.DONE, 0) + counts.get(RequestStatus.FAILED, 0) < run.requests:
        return ""
    signature = (
        f"judge:{run.endpoint.model_name}|prompt:{run.prompt}|date:{run.created_at:%Y-%m-%d}"
        f"|replies:{counts.get(RequestStatus.DONE, 0)}"
    )
    return f"{signature}|{TEST_MODEL_NOTE}" if run.endpoint.is_test_model else signature


def iterate_read_predictions(
    db: Session,
    evaluation: Evaluation,
    run: EvaluationRun,
    *,
    by: Person,
    question_ids: Sequence[int] | None = None,
) -> Iterator[Prediction]:
    """Yield the predictions of a condition; failed ones have the answer of the judge, if it found one.

    The stored predictions stay as they are. ``question_ids`` are those of the database; None for all.
    """
    require(by, Action.RUN_MODELS)
    answers = _load_judge_answers(db, by, evaluation, run)
    for prediction in prediction_storage.iterate_predictions(
        db, model_id=run.model_id, question_ids=question_ids
    ):
        answer = answers.get(prediction.question_row_id)
        if prediction.failed and answer is not None:
            yield replace(prediction, answer=answer, rule=BY_JUDGE)
        else:
            yield prediction


def _load_judge_answers(
    db: Session, by: Person, evaluation: Evaluation, run: EvaluationRun
) -> Mapping[int, Answer]:
    """Return the answers of the judge in a condition, by question; none before it has finished."""
    if not describe_extraction(db, evaluation):
        return {}
    replies: dict[int, str] = {}
    for custom_id, reply, _ in models.iterate_reply_texts(
        db, by=by, name=name_extraction_run(evaluation.name)
    ):
        number, condition = parse_extraction_id(custom_id)
        if reply is not None and condition is run.condition:
            replies[number] = reply
    numbers = sorted(replies)
    cases = evaluation_storage.load_cases(db, run_id=run.id, question_ids=numbers)
    judge_answers = {
        item.number: read_extraction(replies[item.number], item, cases[item.number])
        for item in load_evaluated_questions(db, evaluation, only=replies)
    }
    return {number: answer for number, answer in judge_answers.items() if answer is not None}


def _build_requests(db: Session, evaluation: Evaluation, prompt: Prompt) -> Iterator[ModelRequest]:
    questions = {item.number: item for item in load_evaluated_questions(db, evaluation)}
    for run in evaluation_storage.list_runs(db, evaluation_id=evaluation.id):
        cases = evaluation_storage.load_cases(db, run_id=run.id)
        for prediction in prediction_storage.iterate_predictions(db, model_id=run.model_id):
            item = questions[prediction.question_row_id]
            if prediction.failed and prediction.raw and not item.question.format.is_free_text:
                yield build_extraction_request(
                    item, cases[item.number], run.condition, prompt, reply=prediction.raw
                )
