"""Calibration of a model's stated probabilities in an evaluation, and the AUC on yes/no questions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from domain.evaluations import Condition
from domain.vocabulary import AnswerFormat
from evaluation.results import compute_results
from evaluation.results_text import NO_PROBABILITIES, format_results
from measures.calibration import measure_calibration
from tests.unit.test_evaluation_results import make_answers, make_question


def make_closed_question(number, *, key, patient=None):
    return make_question(number, key=key, patient=patient, format=AnswerFormat.CLOSED, options=())


def test_only_answers_with_a_probability_count_and_are_clustered_by_patient():
    questions = [make_question(number, patient=f"P{number // 2}") for number in range(6)]
    # Question 3 has no probability; the reply to 4 has a probability, but no answer; 5 has no reply.
    answers: dict = {0: (0,), 1: (1,), 2: (0,), 3: (0,), 4: None, 5: "missing"}
    stated = {0: 0.9, 1: 0.9, 2: 0.4, 4: 0.8}
    results = compute_results(questions, [make_answers(Condition.AS_GIVEN, answers, probabilities=stated)])
    [result] = results.calibrations
    expected = measure_calibration(
        np.array([0.9, 0.9, 0.4]), np.array([True, False, True]), clusters=np.array([0, 0, 1])
    )
    assert result.calibration == expected
    # 2 answers in the bin .9 to 1: |.9 - .5|; 1 answer in the bin .4 to .5: |.4 - 1|
    assert result.calibration.ece == pytest.approx((2 * 0.4 + 0.6) / 3)


def test_the_auc_of_the_probability_of_yes_equals_scikit_learn():
    truth = ["yes", "yes", "yes", "no", "no", "no"]
    answers = dict(enumerate(["yes", "no", "yes", "no", "yes", "no"]))
    stated = dict(enumerate([0.9, 0.6, 0.7, 0.8, 0.55, 0.5]))
    questions = [make_closed_question(number, key=key) for number, key in enumerate(truth)]
    results = compute_results(questions, [make_answers(Condition.AS_GIVEN, answers, probabilities=stated)])
    probabilities_of_yes = [0.9, 0.4, 0.7, 0.2, 0.55, 0.5]
    [result] = results.calibrations
    assert result.auc.n == 6
    assert result.auc.value == pytest.approx(
        roc_auc_score([key == "yes" for key in truth], probabilities_of_yes)
    )
    assert result.auc.low < result.auc.value < result.auc.high


def test_single_choice_answers_have_a_calibration_but_no_auc():
    questions = [make_question(number) for number in range(3)]
    answers = make_answers(
        Condition.SHUFFLED, {0: (0,), 1: (1,), 2: (0,)}, probabilities={0: 0.5, 1: 0.5, 2: 1.0}
    )
    results = compute_results(questions, [answers])
    [result] = results.calibrations
    assert (result.calibration.n, result.auc.value) == (3, None)
    lines = list(format_results(results))
    assert "options shuffled, AUC: not defined: no yes/no question has an answer with a probability." in lines
    assert NO_PROBABILITIES not in lines


def test_without_a_probability_the_reason_is_stated():
    results = compute_results([make_question(0)], [make_answers(Condition.AS_GIVEN, {0: (0,)})])
    assert results.calibrations == ()
    assert NO_PROBABILITIES in list(format_results(results))
