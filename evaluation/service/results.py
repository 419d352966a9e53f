"""The service that computes the results of an evaluation; each access to a private split is recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import Refused
from domain.evaluations import Condition, Evaluation, EvaluationRun
from domain.people import Action, Person, require
from domain.questions import Answer, has_same_text
from evaluation.cases import EvaluatedQuestion
from evaluation.exports import ExportedAnswer
from evaluation.results import ConditionAnswers, EvaluationResults, compute_results
from evaluation.rexrank import choose_exam
from evaluation.service.answer_extraction import describe_extraction, iterate_read_predictions
from evaluation.service.answers import load_condition
from evaluation.service.plans import load_evaluated_questions, load_split_questions
from release.splits import Split
from storage.evaluation import evaluations as evaluation_storage
from storage.reader_study import predictions as prediction_storage
from storage.release import releases


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationAnswers:
    """An evaluation with its questions, their keys, and the answers of each condition.

    ``extraction`` describes the judge that extracted answers, with model, prompt and date; "" without one.

    Scores and tables are computed from this object. On a private split, it must not leave the server.
    """

    evaluation: Evaluation
    questions: tuple[EvaluatedQuestion, ...]
    conditions: tuple[ConditionAnswers, ...]
    extraction: str = ""


def open_results(
    db: Session, *, by: Person, name: str, release: str | None = None, now: datetime
) -> tuple[Evaluation, EvaluationResults]:
    """Compute the results of an evaluation, and record that the person saw them if the split is private.

    With another ``release``, the results leave out questions that its split lacks or has with another stem or
    other options.

    Args:
        db: a session; one that can write if the split is private.
        by: the acting person.
        name: the evaluation.
        release: the release of the dataset whose keys count, such as a corrected one; None for the release
            of the evaluation.
        now: the current time.

    Raises:
        NotFound: there is no such evaluation or release, or the folder of a release is missing.
        InvalidValue: a file of the release was changed.
        Refused: the keys of the private split are missing, or the release has no question of the evaluation.
    """
    require(by, Action.RUN_MODELS)
    answers = load_answers(db, by=by, name=name, now=now)
    if release is not None and release != answers.evaluation.release:
        answers = _replace_questions_from_release(db, answers, release=release)
    results = compute_results(answers.questions, answers.conditions)
    return answers.evaluation, replace(results, extraction=answers.extraction)


def _replace_questions_from_release(
    db: Session, answers: EvaluationAnswers, *, release: str
) -> EvaluationAnswers:
    """Replace the questions by those of another release, and drop the answers to questions that it lacks."""
    evaluation = answers.evaluation
    old_questions = {item.number: item.question for item in answers.questions}
    other_release = releases.load_release_by_name(db, dataset=evaluation.dataset, name=release)
    questions = tuple(
        item
        for item in load_split_questions(db, other_release, Split(evaluation.split), only=old_questions)
        if has_same_text(item.question, old_questions[item.number])
    )
    if not questions:
        raise Refused(
            f"Release {release} has no question of evaluation {evaluation.name} on its {evaluation.split} "
            "split. Choose a release with the same splits."
        )
    numbers = {item.number for item in questions}
    return replace(
        answers,
        questions=questions,
        conditions=tuple(
            replace(
                condition,
                cases={number: case for number, case in condition.cases.items() if number in numbers},
                answers={number: answer for number, answer in condition.answers.items() if number in numbers},
            )
            for condition in answers.conditions
        ),
    )


def load_answers(db: Session, *, by: Person, name: str, now: datetime) -> EvaluationAnswers:
    """Load the questions, keys and answers of an evaluation, with an audit entry if the split is private.

    Raises:
        NotFound: there is no such evaluation, or the folder of its release is missing.
        InvalidValue: a file of the release was changed.
        Refused: the keys of the private split are missing.
    """
    require(by, Action.RUN_MODELS)
    evaluation = evaluation_storage.load_evaluation(db, name=name)
    if evaluation.split == Split.PRIVATE:
        record_action(
            db,
            by=by,
            action="open results of private split",
            subject=f"evaluation {evaluation.id}",
            new={"name": evaluation.name},
            now=now,
        )
    return EvaluationAnswers(
        evaluation=evaluation,
        questions=tuple(load_evaluated_questions(db, evaluation)),
        conditions=tuple(
            _load_condition_answers(db, by, evaluation, run)
            for run in evaluation_storage.list_runs(db, evaluation_id=evaluation.id)
        ),
        extraction=describe_extraction(db, evaluation),
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
            f"Evaluation {name} uses a private split. Its answers to single questions are not exported; "
            "`cli.py evaluate report` has the results."
        )
    questions = {item.number: item for item in load_evaluated_questions(db, evaluation)}
    exams = {item.exam.number: item.exam for item in questions.values()}
    cases = evaluation_storage.load_cases(db, run_id=run.id)
    return evaluation, [
        ExportedAnswer(
            item=questions[prediction.question_row_id],
            case=cases[prediction.question_row_id],
            exam=choose_exam(
                questions[prediction.question_row_id],
                cases[prediction.question_row_id],
                condition=condition,
                exams=exams,
            ),
            prediction=prediction,
        )
        for prediction in prediction_storage.iterate_predictions(db, model_id=run.model_id)
    ]


def _load_condition_answers(
    db: Session, by: Person, evaluation: Evaluation, run: EvaluationRun
) -> ConditionAnswers:
    answers: dict[int, Answer | None] = {}
    probabilities: dict[int, float] = {}
    for prediction in iterate_read_predictions(db, evaluation, run, by=by):
        answers[prediction.question_row_id] = prediction.answer
        if prediction.probability is not None:
            probabilities[prediction.question_row_id] = prediction.probability
    return ConditionAnswers(
        condition=run.condition,
        cases=evaluation_storage.load_cases(db, run_id=run.id),
        answers=answers,
        excluded=run.excluded,
        probabilities=probabilities,
    )
