"""Signs of errors in the questions of a dataset: problems of checks, and the answers of models."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import case, func, select
from sqlmodel import Session

from domain.checks import Check
from domain.evaluations import Condition
from domain.vocabulary import FREE_TEXT_FORMATS
from storage.review.latest_verdicts import read_columns
from storage.rows.datasets import ProblemRow, QuestionRow
from storage.rows.evaluations import EvaluationRunRow
from storage.rows.studies import ModelRow, PredictionRow
from storage.types import AnySelect


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProblemCounts:
    """The ids of questions with problems, and how many checks reported a problem in each; shape (n,)."""

    numbers: NDArray[np.int64]
    checks: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelAnswers:
    """The answers of models by question: their number, how many equal the key, and how many pairs are equal.

    Each array has the shape (n,). Open questions and replies without an answer are left out. ``equal_pairs``
    counts pairs of two different models.
    """

    numbers: NDArray[np.int64]
    answers: NDArray[np.int64]
    equal_to_key: NDArray[np.int64]
    equal_pairs: NDArray[np.int64]


def count_problems_by_question(db: Session, *, dataset_id: int, checks: Collection[Check]) -> ProblemCounts:
    """Count how many of these checks reported a problem in each question of the dataset."""
    statement: AnySelect = (
        select(ProblemRow.question_id, func.count(ProblemRow.check_name.distinct()))
        .where(
            ProblemRow.dataset_id == dataset_id, ProblemRow.check_name.in_([check.value for check in checks])
        )
        .group_by(ProblemRow.question_id)
    )
    numbers, counts = read_columns(db, statement)
    return ProblemCounts(numbers=np.array(numbers, dtype=np.int64), checks=np.array(counts, dtype=np.int64))


def load_model_answers(db: Session, *, dataset_id: int, with_image: bool) -> ModelAnswers:
    """Count the answers of the dataset's models to questions as they are, with or without the radiographs.

    Answers of the other conditions of evaluations (other radiographs, shuffled options, other words) are left
    out. Questions without a sign of an error are left out too. With the radiographs, these are the questions
    that all models answered with the key; without them, the questions that no model answered with the key.
    """
    is_same_answer = case((PredictionRow.answer == QuestionRow.answer, 1), else_=0)
    by_answer = (
        select(
            PredictionRow.question_id,
            func.count().label("n"),
            func.max(is_same_answer).label("is_key"),
        )
        .join(QuestionRow, QuestionRow.id == PredictionRow.question_id)
        .where(
            PredictionRow.model_id.in_(_select_models(dataset_id, with_image=with_image)),
            PredictionRow.answer.is_not(None),
            QuestionRow.format.not_in(FREE_TEXT_FORMATS),
        )
        .group_by(PredictionRow.question_id, PredictionRow.answer)
        .subquery()
    )
    count = by_answer.c.n
    statement = select(
        by_answer.c.question_id,
        func.sum(count),
        func.sum(count * by_answer.c.is_key),
        func.sum(count * (count - 1) // 2),
    ).group_by(by_answer.c.question_id)
    key_count = func.sum(count * by_answer.c.is_key)
    statement = statement.having(key_count < func.sum(count) if with_image else key_count > 0)
    numbers, answers, equal_to_key, equal_pairs = read_columns(db, statement)
    return ModelAnswers(
        numbers=np.array(numbers, dtype=np.int64),
        answers=np.array(answers, dtype=np.int64),
        equal_to_key=np.array(equal_to_key, dtype=np.int64),
        equal_pairs=np.array(equal_pairs, dtype=np.int64),
    )


def _select_models(dataset_id: int, *, with_image: bool) -> AnySelect:
    models = select(ModelRow.id).where(ModelRow.dataset_id == dataset_id)
    run_model_ids = select(EvaluationRunRow.model_id)
    if with_image:  # imported answers have no condition
        return models.where(
            ModelRow.id.not_in(run_model_ids.where(EvaluationRunRow.condition != Condition.AS_GIVEN.value))
        )
    return models.where(
        ModelRow.id.in_(run_model_ids.where(EvaluationRunRow.condition == Condition.NO_IMAGE.value))
    )
