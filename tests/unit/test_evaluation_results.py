"""The results of an evaluation against hand-computed values and published floors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from domain.evaluations import Condition, EvaluatedExam, EvaluationCase
from domain.exams import Radiograph
from domain.questions import Question
from domain.vocabulary import AnswerFormat
from evaluation.cases import EvaluatedQuestion
from evaluation.results import ConditionAnswers, compute_chance, compute_position_bias, compute_results
from evaluation.results_text import format_results
from measures.paired import compare_paired
from measures.proportions import wilson_by_cluster

OPTIONS = ("a", "b", "c", "d")


def make_question(
    number: int, *, key: Any = (0,), patient: str | None = None, **changes
) -> EvaluatedQuestion:
    fields = {"format": AnswerFormat.SINGLE, "options": OPTIONS}
    question = Question(id=f"Q{number}", exam_id=f"E{number}", stem="What?", answer=key, **(fields | changes))
    radiograph = Radiograph(id="r", file="f")
    exam = EvaluatedExam(number=number, id=f"E{number}", patient=patient, radiographs=(radiograph,))
    return EvaluatedQuestion(number=number, question=question, exam=exam)


def make_answers(
    condition: Condition, answers: dict, *, cases=None, probabilities: dict[int, float] | None = None
) -> ConditionAnswers:
    return ConditionAnswers(
        condition=condition,
        cases=cases or {number: EvaluationCase(question_row_id=number) for number in answers},
        answers={number: answer for number, answer in answers.items() if answer != "missing"},
        excluded={},
        probabilities=probabilities or {},
    )


def test_accuracy_is_clustered_by_patient_and_counts_missing_answers_as_wrong():
    questions = [make_question(number, patient=f"P{number // 4}") for number in range(16)]
    answers: dict = {number: (0,) if number < 8 else (1,) for number in range(16)}
    answers |= {14: None, 15: "missing"}
    results = compute_results(questions, [make_answers(Condition.AS_GIVEN, answers)])
    [accuracy] = results.accuracies
    assert (accuracy.n, accuracy.correct, accuracy.answered, accuracy.failed, accuracy.missing) == (
        16,
        8,
        14,
        1,
        1,
    )
    expected = wilson_by_cluster(np.arange(16) < 8, np.arange(16) // 4, confidence=0.95)
    assert (accuracy.estimate, accuracy.low, accuracy.high) == (0.5, expected.low, expected.high)
    assert results.clusters == 4


def test_image_reliance_is_the_paired_difference_clustered_by_patient():
    rng = np.random.default_rng(4)
    given, blind = rng.random(60) < 0.8, rng.random(60) < 0.4
    questions = [make_question(number, patient=f"P{number // 3}") for number in range(60)]
    results = compute_results(
        questions,
        [
            make_answers(Condition.AS_GIVEN, {n: (0,) if hit else (1,) for n, hit in enumerate(given)}),
            make_answers(Condition.NO_IMAGE, {n: (0,) if hit else (1,) for n, hit in enumerate(blind)}),
        ],
    )
    [contrast] = results.contrasts
    expected = compare_paired(given, blind, clusters=np.arange(60) // 3)
    assert contrast.difference == pytest.approx(given.mean() - blind.mean())
    assert (contrast.low, contrast.high, contrast.p) == (expected.low, expected.high, expected.p_exact)
    assert {item.text_only for item in results.accuracies} == {blind.mean()}


def test_a_contrast_uses_only_questions_that_are_in_both_conditions():
    questions = [make_question(number) for number in range(4)]
    results = compute_results(
        questions,
        [
            make_answers(Condition.AS_GIVEN, dict.fromkeys(range(4), (0,))),
            make_answers(Condition.OTHER_IMAGE, {0: (0,), 1: (1,)}),
        ],
    )
    [contrast] = results.contrasts
    assert (contrast.n, contrast.as_given, contrast.other, contrast.difference) == (2, 1.0, 0.5, 0.5)


def test_consistency_excludes_questions_that_lack_one_of_the_two_answers():
    questions = [make_question(number) for number in range(4)]
    results = compute_results(
        questions,
        [
            make_answers(Condition.AS_GIVEN, {0: (0,), 1: (2,), 2: None, 3: (1,)}),
            make_answers(Condition.SHUFFLED, {0: (0,), 1: (1,), 2: (0,), 3: "missing"}),
        ],
    )
    [consistency] = results.consistencies
    assert (consistency.n, consistency.same, consistency.estimate) == (2, 1, 0.5)


def test_position_bias_counts_positions_as_shown():
    # The options of every question are reversed: the key a is shown as D. A model that answers A chooses d.
    questions = {number: make_question(number) for number in range(8)}
    cases = {n: EvaluationCase(question_row_id=n, permutation=(3, 2, 1, 0)) for n in range(8)}
    bias = compute_position_bias(
        make_answers(Condition.SHUFFLED, dict.fromkeys(range(8), (3,)), cases=cases), questions
    )
    assert [(item.letter, item.chosen, item.keys) for item in bias.positions] == [
        ("A", 8, 0), ("B", 0, 0), ("C", 0, 0), ("D", 0, 8),
    ]  # fmt: skip


def test_the_spread_of_recalls_is_their_standard_deviation():
    # Keys at A (recall 1) and B (recall 0.5): mean 0.75, both deviate by 0.25: the SD is 0.25.
    questions = {number: make_question(number, key=(number % 2,)) for number in range(4)}
    bias = compute_position_bias(
        make_answers(Condition.AS_GIVEN, {0: (0,), 1: (1,), 2: (0,), 3: (0,)}), questions
    )
    assert [item.recall for item in bias.positions] == [1.0, 0.5, None, None]
    assert bias.recall_sd == 0.25


def test_questions_may_differ_in_their_number_of_options():
    questions = {0: make_question(0), 1: make_question(1, options=("a", "b"), key=(1,))}
    bias = compute_position_bias(make_answers(Condition.AS_GIVEN, {0: (3,), 1: (1,)}), questions)
    assert [(item.n, item.chosen, item.keys) for item in bias.positions] == [
        (2, 0, 1), (2, 1, 1), (1, 0, 0), (1, 1, 0),
    ]  # fmt: skip


#: GEMeX prints 48.80, 25.85 and 7.50 % for one random draw; expected are 50, 25 and 6.67 %.
CHANCES = {
    "closed": (AnswerFormat.CLOSED, (), "yes", (), 0.5),
    "single": (AnswerFormat.SINGLE, OPTIONS, (0,), (), 0.25),
    "two keys": (AnswerFormat.SINGLE, OPTIONS, (0,), ((1,),), 0.5),
    "multiple": (AnswerFormat.MULTIPLE, OPTIONS, (0, 1), (), 1 / 15),
    "open": (AnswerFormat.OPEN, (), "Effusion", (), None),
}


@pytest.mark.parametrize("name", CHANCES)
def test_chance_is_the_probability_of_a_correct_guess(name):
    format_, options, key, also_right, expected = CHANCES[name]
    evaluated = make_question(1, key=key, format=format_, options=options, also_right=also_right)
    assert compute_chance(evaluated.question) == expected


def test_open_questions_are_counted_but_not_scored():
    questions = [
        make_question(0),
        make_question(1, key="Effusion", format=AnswerFormat.OPEN, options=()),
    ]
    results = compute_results(questions, [make_answers(Condition.AS_GIVEN, {0: (0,), 1: "Effusion"})])
    [accuracy] = results.accuracies
    assert (accuracy.n, accuracy.open_questions, accuracy.chance) == (1, 1, 0.25)
    assert "as given: 1 open, not scored here." in list(format_results(results))


def test_results_without_any_answer_can_be_printed():
    questions = [make_question(0)]
    results = compute_results(questions, [make_answers(Condition.SHUFFLED, {0: "missing"})])
    lines = list(format_results(results))
    assert any("0.0 %" in line for line in lines)
    assert any("text-only floor is unknown" in line for line in lines)
    assert compute_results([], []).accuracies == ()
