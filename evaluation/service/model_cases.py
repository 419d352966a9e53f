"""Services for single questions with the answers of all models. Access to a private split is recorded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import NotFound
from domain.people import Action, Person, require
from domain.readings import Prediction
from evaluation.cases import EvaluatedQuestion
from evaluation.service.answer_extraction import iterate_read_predictions
from evaluation.service.plans import describe_model, load_evaluated_questions
from evaluation.service.scores import EvaluatedSplit, find_evaluated_split
from storage.evaluation import evaluations as evaluation_storage


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseAnswer:
    """The answer of a model to a question; ``prediction`` is None if there is no reply.

    ``is_correct`` is None for an open question, and if the model was not asked.
    """

    evaluation: str
    model: str
    was_asked: bool
    prediction: Prediction | None
    is_correct: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCase:
    """A question with its key, its exam, and the answers of all models of the split."""

    evaluated_split: EvaluatedSplit
    item: EvaluatedQuestion
    answers: tuple[CaseAnswer, ...]


def open_case(
    db: Session, *, by: Person, release_id: int, split: str, question_row_id: int, now: datetime
) -> ModelCase:
    """Load a question with the answers of all models, with an audit entry if the split is private.

    Args:
        db: a session; one that can write if the split is private.
        by: the acting person.
        release_id: the id of the release in the database.
        split: the split.
        question_row_id: the id of the question in the database.
        now: the current time.

    Raises:
        NotFound: no model was evaluated on the split, or the question is not in the split.
        InvalidValue: a file of the release was changed.
        Refused: the keys of the private split are missing.
    """
    require(by, Action.RUN_MODELS)
    evaluated_split = find_evaluated_split(db, by=by, release_id=release_id, split=split)
    questions = load_evaluated_questions(
        db, evaluated_split.evaluations[0].evaluation, only={question_row_id}
    )
    if not questions:
        raise NotFound(
            f"Question {question_row_id} is not in the {split} split of {evaluated_split.release}."
        )
    if evaluated_split.is_private:
        record_action(
            db,
            by=by,
            action="open case of private split",
            subject=f"question {question_row_id}",
            new={"release": evaluated_split.release, "models": len(evaluated_split.evaluations)},
            now=now,
        )
    item = questions[0]
    answers = []
    for member in evaluated_split.evaluations:
        question_ids = [question_row_id]
        predictions = iterate_read_predictions(
            db, member.evaluation, member.run, by=by, question_ids=question_ids
        )
        prediction = next(iter(predictions), None)
        was_asked = bool(evaluation_storage.load_cases(db, run_id=member.run.id, question_ids=question_ids))
        is_scored = was_asked and not item.question.format.is_free_text
        answers.append(
            CaseAnswer(
                evaluation=member.evaluation.name,
                model=describe_model(member.evaluation),
                was_asked=was_asked,
                prediction=prediction,
                is_correct=item.question.is_correct(prediction.answer if prediction else None)
                if is_scored
                else None,
            )
        )
    return ModelCase(evaluated_split=evaluated_split, item=item, answers=tuple(answers))
