"""The service that computes the results of an evaluation. On a private split each look is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from domain.errors import Refused
from domain.evaluations import Condition, Evaluation, EvaluationRun
from domain.people import Action, Person, require
from evaluation.cases import EvaluatedQuestion
from evaluation.exports import ExportedAnswer
from evaluation.results import ConditionAnswers, EvaluationResults, compute_results
from evaluation.rexrank import choose_exam
from evaluation.service.answers import load_condition
from evaluation.service.plans import load_evaluated_questions
from release.splits import Split
from storage.evaluation import evaluations as stored
from storage.reader_study import predictions as stored_predictions


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationAnswers:
    """An evaluation with its questions, their keys, and the answers of each condition.

    Scores and tables build on it. On a private split it must not leave the server.
    """

    evaluation: Evaluation
    questions: tuple[EvaluatedQuestion, ...]
    conditions: tuple[ConditionAnswers, ...]


def open_results(
    db: Session, *, by: Person, name: str, now: datetime
) -> tuple[Evaluation, EvaluationResults]:
    """Compute the results of an evaluation, and record that the person saw them if the split is private.

    Args:
        db: a session; one that can write if the split is private.
        by: the acting person.
        name: the evaluation.
        now: the current time.

    Raises:
        NotFound: there is no such evaluation, or the folder of its release is missing.
        InvalidValue: a file of the release was changed.
        Refused: the keys of the private split are missing.
    """
    require(by, Action.RUN_MODELS)
    answers = load_answers(db, by=by, name=name, now=now)
    return answers.evaluation, compute_results(answers.questions, answers.conditions)


def load_answers(db: Session, *, by: Person, name: str, now: datetime) -> EvaluationAnswers:
    """Load the questions, keys and answers of an evaluation, with an audit entry if the split is private.

    Raises:
        NotFound: there is no such evaluation, or the folder of its release is missing.
        InvalidValue: a file of the release was changed.
        Refused: the keys of the private split are missing.
    """
    require(by, Action.RUN_MODELS)
    evaluation = stored.load_evaluation(db, name=name)
    if evaluation.split == Split.PRIVATE:
        record(
            db,
            by=by,
            what="open results of private split",
            subject=f"evaluation {evaluation.id}",
            new={"name": evaluation.name},
            now=now,
        )
    return EvaluationAnswers(
        evaluation=evaluation,
        questions=tuple(load_evaluated_questions(db, evaluation)),
        conditions=tuple(
            _load_condition(db, run) for run in stored.list_runs(db, evaluation_id=evaluation.id)
        ),
    )


def load_exported_answers(
    db: Session, *, by: Person, name: str, condition: Condition
) -> tuple[Evaluation, list[ExportedAnswer]]:
    """Load the answers of a condition for an export.

    Raises:
        NotFound: there is no such evaluation or condition, or the folder of its release is missing.
        InvalidValue: a file of the release was changed.
        Refused: the split is private.
    """
    require(by, Action.RUN_MODELS)
    evaluation, run = load_condition(db, name=name, condition=condition)
    if evaluation.split == Split.PRIVATE:
        raise Refused(
            f"Evaluation {name} is of a private split. Its answers to single questions are not exported; "
            "`cli.py evaluate report` has the results."
        )
    questions = {item.number: item for item in load_evaluated_questions(db, evaluation)}
    exams = {item.exam.number: item.exam for item in questions.values()}
    cases = stored.load_cases(db, run_id=run.id)
    return evaluation, [
        ExportedAnswer(
            item=questions[prediction.question_number],
            case=cases[prediction.question_number],
            exam=choose_exam(
                questions[prediction.question_number],
                cases[prediction.question_number],
                condition=condition,
                exams=exams,
            ),
            prediction=prediction,
        )
        for prediction in stored_predictions.iterate_predictions(db, model_id=run.model_id)
    ]


def _load_condition(db: Session, run: EvaluationRun) -> ConditionAnswers:
    return ConditionAnswers(
        condition=run.condition,
        cases=stored.load_cases(db, run_id=run.id),
        answers={
            prediction.question_number: prediction.answer
            for prediction in stored_predictions.iterate_predictions(db, model_id=run.model_id)
        },
        excluded=run.excluded,
    )
