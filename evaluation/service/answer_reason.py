"""Services for the AR-score: the run of the judge, its scores, and the calibration on experts' scores."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import InvalidValue, NotFound, Refused
from domain.evaluations import Condition
from domain.language_models import TEST_MODEL_NOTE, Budget, DataUse, ModelRun
from domain.people import Action, Person, require
from evaluation.answer_reason import (
    JUDGE_PROMPT,
    AnswerReasonScores,
    Calibration,
    build_judge_requests,
    calibrate_judge,
    compute_answer_reason,
)
from evaluation.answer_texts import build_candidate, build_reference
from evaluation.cases import EvaluatedQuestion
from evaluation.results import number_clusters
from evaluation.service.answers import load_condition
from evaluation.service.plans import load_evaluated_questions
from language_models import service as models
from language_models.prompts import Prompt, parse_prompt
from language_models.requests import ModelRequest
from release.splits import Split
from storage.evaluation import evaluations as evaluation_storage
from storage.evaluation.exams import load_release_questions, load_reports
from storage.language_models import runs
from storage.reader_study import predictions as prediction_storage

#: The purpose of the calls; part of the key of each call in the ledger.
JUDGE_STAGE = "answer-reason"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedEvaluation:
    """The AR-scores of an evaluation, with the run of the judge. ``version`` is their signature."""

    run: ModelRun
    version: str
    scores: AnswerReasonScores
    questions: tuple[EvaluatedQuestion, ...]


def name_judge_run(evaluation: str) -> str:
    """Return the name of the run that judges an evaluation."""
    return f"{evaluation}/{JUDGE_STAGE}"


def create_judge_run(
    db: Session, *, by: Person, name: str, endpoint: str, budget: Budget | None = None, now: datetime
) -> ModelRun:
    """Create the run that judges the answers as given; a second call with the same answers changes nothing.

    Nothing is sent yet. Each question with a reply has two requests, which contain the question, the report
    of its exam, the text of the key and the text of the model.

    Raises:
        NotFound: there is no such evaluation or endpoint.
        AlreadyThere: another endpoint judges the answers, or answers were added since the run was created.
        Refused: the dataset does not permit the endpoint, there is no answer, or keys of a private split
            would leave the local network.
    """
    require(by, Action.RUN_MODELS)
    evaluation, run = load_condition(db, name=name, condition=Condition.AS_GIVEN)
    judge = models.load_endpoint(db, by=by, name=endpoint)
    if evaluation.split == Split.PRIVATE and judge.data_use is not DataUse.LOCAL:
        raise Refused(
            f"Evaluation {name} is of a private split, whose keys a judge sees. Choose a local endpoint; "
            f"{endpoint} is {judge.data_use.value}."
        )
    content = JUDGE_PROMPT.read_text(encoding="utf-8")
    version, _ = models.save_prompt(db, by=by, content=content, note="Comes with the software.", now=now)
    if not run.predictions:
        raise Refused(f"Evaluation {name} has no answers as given yet, so there is nothing to judge.")
    questions = load_evaluated_questions(db, evaluation)
    judge_run, is_new = models.create_run(
        db,
        by=by,
        name=name_judge_run(name),
        stage=JUDGE_STAGE,
        endpoint=judge,
        dataset=evaluation.dataset,
        requests=_build_requests(db, questions, run.model_id, parse_prompt(version.content)),
        prompt=version,
        budget=budget,
        now=now,
    )
    if is_new:
        record_action(
            db,
            by=by,
            action="plan judge of evaluation",
            subject=f"evaluation {evaluation.id}",
            new={"endpoint": endpoint, "prompt": version.label, "requests": judge_run.requests},
            now=now,
        )
    return judge_run


def find_judge_run(db: Session, *, by: Person, name: str) -> ModelRun | None:
    """Return the run that judges an evaluation; None if there is none."""
    require(by, Action.RUN_MODELS)
    return runs.find_run(db, name=name_judge_run(name))


def load_judged(db: Session, *, by: Person, name: str, now: datetime) -> JudgedEvaluation:
    """Compute the AR-scores from the replies so far, with an audit entry if the split is private.

    Raises:
        NotFound: there is no such evaluation, or it has no judge yet.
    """
    require(by, Action.RUN_MODELS)
    evaluation = evaluation_storage.load_evaluation(db, name=name)
    run = runs.find_run(db, name=name_judge_run(name))
    if run is None:
        raise NotFound(
            f"Evaluation {name} has no judge yet. Start one with `cli.py evaluate judge {name} --endpoint …`."
        )
    if evaluation.split == Split.PRIVATE:
        record_action(
            db,
            by=by,
            action="open results of private split",
            subject=f"evaluation {evaluation.id}",
            new={"name": evaluation.name},
            now=now,
        )
    questions = load_evaluated_questions(db, evaluation)
    replies = (
        (custom_id, reply) for custom_id, reply, _ in models.iterate_reply_texts(db, by=by, name=run.name)
    )
    return JudgedEvaluation(
        run=run,
        version=describe_judge(run),
        scores=compute_answer_reason(replies, clusters=number_clusters(questions)),
        questions=tuple(questions),
    )


def describe_judge(run: ModelRun) -> str:
    """Return the signature of AR-scores: judge, prompt, orders and date; a note for the test model."""
    signature = (
        f"judge:{run.endpoint.model_name}|prompt:{run.prompt}|orders:both|date:{run.created_at:%Y-%m-%d}"
    )
    return f"{signature}|{TEST_MODEL_NOTE}" if run.endpoint.is_test_model else signature


def check_experts(db: Session, *, by: Person, name: str, question_ids: Iterable[str]) -> None:
    """Check that the questions scored by experts are in an evaluation.

    Raises:
        NotFound: there is no such evaluation.
        InvalidValue: a question is not in the evaluation.
    """
    require(by, Action.RUN_MODELS)
    evaluation = evaluation_storage.load_evaluation(db, name=name)
    _check_question_ids(
        question_ids,
        load_release_questions(db, release_id=evaluation.release_id, split=evaluation.split),
    )


def _check_question_ids(question_ids: Iterable[str], evaluated_ids: Container[str]) -> None:
    for question_id in question_ids:
        if question_id not in evaluated_ids:
            raise InvalidValue("question_id", f"{question_id!r} is not a question of the evaluation")


def calibrate_on_experts(judged: JudgedEvaluation, experts: Mapping[str, float]) -> Calibration:
    """Compare the judge with experts' AR-scores, given by the question's id in the file.

    Raises:
        InvalidValue: a question is not in the evaluation.
    """
    row_ids_by_key = {item.question.id: item.number for item in judged.questions}
    _check_question_ids(experts, row_ids_by_key)
    by_row_id = {row_ids_by_key[question_id]: score for question_id, score in experts.items()}
    return calibrate_judge(judged.scores.values, by_row_id)


def _build_requests(
    db: Session, questions: list[EvaluatedQuestion], model_id: int, prompt: Prompt
) -> Iterator[ModelRequest]:
    by_row_id = {item.number: item for item in questions}
    reports = load_reports(db, numbers={item.exam.number for item in questions})
    for prediction in prediction_storage.iterate_predictions(db, model_id=model_id):
        item = by_row_id[prediction.question_row_id]
        yield from build_judge_requests(
            item,
            prompt,
            report=reports.get(item.exam.number, ""),
            reference=build_reference(item.question),
            candidate=build_candidate(prediction, item.question),
        )
