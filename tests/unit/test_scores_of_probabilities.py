"""The command score measures the calibration of the probabilities that a file of predictions states."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from domain.vocabulary import AnswerFormat
from measures.calibration import measure_calibration
from reader_study.predictions_file import PredictionRecord
from reader_study.scores import KeyedQuestion, score_predictions
from tests.unit.test_evaluation_results import make_question


def score(questions, answers):
    """Score ``answers``: number of the question -> (answer, probability)."""
    records = [
        PredictionRecord(
            line=number + 1,
            question_id=questions[number].id,
            answer=answer,
            raw=None,
            explanation="",
            boxes=(),
            seconds=None,
            probability=probability,
        )
        for number, (answer, probability) in answers.items()
    ]
    keys = {question.id: KeyedQuestion(question=question, side="public") for question in questions}
    results = score_predictions(records, keys=keys, file="p.jsonl").results
    return [row for row in results if row.by in ("calibration", "reliability")]


def make_closed_questions(keys, **fields):
    return [
        make_question(number, key=key, format=AnswerFormat.CLOSED, options=(), **fields).question
        for number, key in enumerate(keys)
    ]


def test_ece_brier_score_and_auc_equal_those_of_the_measures_and_of_scikit_learn():
    keys = ["yes", "yes", "yes", "no", "no", "no"]
    answers = ["yes", "no", "yes", "no", "yes", "no"]
    stated = np.array([0.9, 0.6, 0.7, 0.8, 0.55, 0.5])
    questions = make_closed_questions(keys)
    ece, brier, auc, *bins = score(questions, dict(enumerate(zip(answers, stated, strict=True))))
    correct = np.array([key == answer for key, answer in zip(keys, answers, strict=True)])
    exams = np.unique([question.exam_id for question in questions], return_inverse=True)[1]
    expected = measure_calibration(stated, correct, clusters=exams)
    assert (ece.estimate, ece.low, ece.high, ece.n) == (expected.ece, expected.low, expected.high, 6)
    assert brier.estimate == pytest.approx(np.mean((stated - correct) ** 2))
    probabilities_of_yes = [0.9, 0.4, 0.7, 0.2, 0.55, 0.5]
    assert auc.estimate == pytest.approx(roc_auc_score([key == "yes" for key in keys], probabilities_of_yes))
    assert auc.low < auc.estimate < auc.high
    assert [(row.name, row.correct, row.n) for row in bins] == [
        ("50 to 60 %", 1, 2), ("60 to 70 %", 0, 1), ("70 to 80 %", 1, 1), ("80 to 90 %", 1, 1),
        ("90 to 100 %", 1, 1),
    ]  # fmt: skip


def test_only_answers_with_a_probability_are_scored_and_the_others_are_missing():
    questions = make_closed_questions(["yes"] * 3)
    ece, brier, auc, *_ = score(questions, {0: ("yes", 0.9), 1: ("no", None)})
    assert [(row.n, row.missing) for row in (ece, brier, auc)] == [(1, 2)] * 3
    assert auc.note.startswith("not defined: no positive or no negative case")
    assert score(questions, {0: ("yes", None)}) == []
