"""Compliance: association, option biases, keys that follow from the text, terms of use, patient data."""

import random
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats.contingency import association

from benchmarks.patient_identifiers import measure_recall
from domain.checks import Check
from domain.compliance import ExaminedQuestion
from domain.expectations import Expectations
from domain.language_models import DataUse
from domain.provenance import CallReference, Provenance
from domain.questions import Question
from domain.vocabulary import AnswerFormat
from measures.association import cramers_v, measure_association
from quality.compliance.bias import measure_bias, measure_option_bias
from quality.compliance.data_use import examine_data_use
from quality.compliance.text_only import examine_text_only, list_features
from quality.question_checks import CheckedQuestion, apply_check

FINDINGS = ("Effusion", "Nodule", "Fracture", "Hernia", "Edema", "Mass", "Scoliosis", "Emphysema")


def make_question(number, **fields):
    return ExaminedQuestion(
        **{
            "number": number,
            "patient": f"p{number // 2}",
            "format": AnswerFormat.SINGLE,
            "stem": "Which finding is present?",
            "options": ("Effusion", "Nodule", "Fracture", "Hernia"),
            "answer": (number % 4,),
            "task": "presence",
            **fields,
        }
    )


def make_fair_questions(count=400, seed=5):
    """Options and key are independent of each other and of the patient."""
    rng = random.Random(seed)  # noqa: S311 - seeded on purpose
    return [
        make_question(
            number, options=tuple(rng.sample(FINDINGS, 4)), answer=(rng.randrange(4),),
            age=f"{rng.randint(20, 80):03}Y", sex=rng.choice("MF"), view=rng.choice(("PA", "AP")),
            difficulty=rng.choice(("easy", "hard")), patient=f"p{number // 3}",
        )
        for number in range(count)
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------- association
def test_cramers_v_with_many_questions_equals_that_of_scipy():
    # The correction for bias disappears with n: 1e-3 at n = 10,000.
    table = np.array([[2000, 1500, 1500], [1000, 2500, 1500]])
    assert cramers_v(table) == pytest.approx(association(table, method="cramer"), abs=1e-3)


def test_cramers_v_without_association_is_0_where_scipys_is_not():
    table = np.array([[3, 2], [2, 3]])
    assert (cramers_v(table), round(association(table, method="cramer"), 1)) == (0.0, 0.2)


def test_cramers_v_equals_bergsmas_formula_computed_by_hand():
    # chi² = 100 (30·30 - 20·20)² / 50⁴ = 4; φ² = .04 - 1/99; k̃ = 2 - 1/99; V² = (.04 - .010101) / (.989899)
    expected = ((0.04 - 1 / 99) / (1 - 1 / 99)) ** 0.5
    assert cramers_v(np.array([[30, 20], [20, 30]])) == pytest.approx(expected)


def test_the_interval_is_wider_if_questions_of_a_patient_are_alike():
    rng = random.Random(3)  # noqa: S311 - seeded on purpose
    first, second = ([rng.choice("ab") for _ in range(60)] * 5 for _ in range(2))
    patients = [f"p{number}" for number in range(60)] * 5
    repeated = measure_association(first, second, patients, seed=1)
    naive = measure_association(first, second, [f"p{number}" for number in range(300)], seed=1)
    assert repeated.estimate == naive.estimate
    assert repeated.high - repeated.low > 1.3 * (naive.high - naive.low)


@pytest.mark.parametrize(
    ("values", "note"), [([], "all questions are in one class"), (["a"], "all questions are in one class")]
)
def test_an_association_of_no_or_one_question_is_not_defined(values, note):
    result = measure_association(values, values, values, seed=1)
    assert (result.estimate, result.note) == (None, note)


# -------------------------------------------------------------------------------------------- bias report
def test_an_association_of_sex_with_the_difficulty_is_reported_and_others_are_not():
    questions = [
        make_question(
            number, sex="F" if number % 2 else "M", difficulty="hard" if number % 2 else "easy",
            patient=f"p{number}", answer=(number // 2 % 4,),
        )
        for number in range(200)
    ]  # fmt: skip
    lines = {(line.exam_property, line.question_property): line for line in measure_bias(questions)}
    assert len(lines) == 9
    assert lines["sex", "difficulty"].low == pytest.approx(1.0)
    assert lines["sex", "answer key"].estimate == 0.0
    assert (lines["age", "task"].n, lines["age", "task"].note) == (0, "no question states the age")


def test_the_position_and_length_of_the_key_are_compared_with_chance():
    questions = [
        make_question(
            number, options=("A long option", "Mass", "Node", "Cyst"), answer=(0,), patient=f"p{number}"
        )
        for number in range(50)
    ]
    lines = {line.option: line for line in measure_option_bias(questions)}
    assert (lines["at position A"].share, lines["at position A"].chance) == (1.0, 0.25)
    assert lines["the longest"].low > 0.6  # the difference is .75; the limit is less than .15 below it
    assert "the shortest" not in lines  # three options are equally short
    assert measure_option_bias([]) == ()


def test_fair_options_show_no_bias():
    lines = measure_option_bias(make_fair_questions())
    assert [line.option for line in lines if not line.low <= 0 <= line.high] == []


# ---------------------------------------------------------------------------------------------- text only
@pytest.mark.slow
def test_a_key_that_is_always_the_longest_option_is_found_without_the_image():
    questions = []
    for question in make_fair_questions(200):
        options = [
            f"{option} with a blunted costophrenic angle" if index in question.correct else option
            for index, option in enumerate(question.options)
        ]
        questions.append(make_question(question.number, options=tuple(options), answer=question.answer))
    result = examine_text_only(questions)
    assert result.accuracies[0].accuracy > 0.95
    assert result.accuracies[0].chance == 0.25
    assert min(result.probabilities.values()) > 0.5


def test_the_accuracy_in_a_fair_dataset_is_that_of_chance():
    overall = examine_text_only(make_fair_questions()).accuracies[0]
    assert (overall.task, overall.n) == ("all", 400)
    assert overall.low <= 0 <= overall.high


def test_the_classifier_does_not_learn_what_holds_for_one_patient_only():
    # All answers of a patient are equal, and their stems contain a word that no other patient has. With folds
    # over questions the word would reveal the answer; with folds over patients it has no information.
    questions = [
        make_question(
            number, format=AnswerFormat.CLOSED, options=(), answer="yes" if number // 5 % 2 else "no",
            stem=f"Is film {chr(97 + number // 5 % 26) * 3}{chr(97 + number // 130) * 3} normal?",
            patient=f"p{number // 5}",
        )
        for number in range(300)
    ]  # fmt: skip
    by_patient = examine_text_only(questions).accuracies[0].accuracy
    by_question = (
        examine_text_only([replace(question, patient=f"q{question.number}") for question in questions])
        .accuracies[0]
        .accuracy
    )
    assert by_question > 0.95
    assert by_patient < 0.75


def test_the_classifier_uses_the_words_of_the_stem_for_closed_questions():
    questions = [
        make_question(
            number, format=AnswerFormat.CLOSED, options=(), answer="no" if number % 3 else "yes",
            stem=f"Is the {FINDINGS[number % 8].lower()} {'absent' if number % 3 else 'visible'}?",
            patient=f"p{number}",
        )
        for number in range(90)
    ]  # fmt: skip
    assert examine_text_only(questions).accuracies[0].accuracy == 1.0
    assert "no|absent" in list_features(questions[1])[1]


@pytest.mark.parametrize("count", [0, 1, 19])
def test_few_questions_are_not_examined_and_the_reason_is_stated(count):
    result = examine_text_only(make_fair_questions(count))
    assert (result.probabilities, result.accuracies) == ({}, ())
    assert "needs at least 20 questions" in result.note


def test_open_questions_and_questions_with_several_answers_are_left_out():
    others = [
        make_question(1000, format=AnswerFormat.OPEN, options=(), answer="Mass"),
        make_question(1001, format=AnswerFormat.MULTIPLE, answer=(0, 1)),
    ]
    assert set(examine_text_only([*make_fair_questions(30), *others]).probabilities) == set(range(30))


# ------------------------------------------------------------------------------------------- terms of use
def test_a_model_that_was_not_allowed_to_see_the_dataset_is_a_problem():
    origins = [
        (number, Provenance(record="r", calls=(CallReference(stage="mcq", run=run),)))
        for number, run in enumerate(("here", "far", "elsewhere"), start=1)
    ]
    endpoints = {"here": ("local", DataUse.LOCAL), "far": ("cloud", DataUse.REMOTE)}
    results = dict(examine_data_use(origins, permitted=DataUse.ZERO_RETENTION, endpoints=endpoints))
    assert (list(results), results[1]) == ([1, 2], None)  # the run "elsewhere" is unknown
    assert "'far' used the endpoint 'cloud' (remote)" in results[2].reason
    permitted = dict(examine_data_use(origins, permitted=DataUse.REMOTE, endpoints=endpoints))
    assert permitted == {1: None, 2: None}


def test_the_bias_report_ignores_the_key_of_a_question_with_format_multiple():
    multiple = make_question(1, format=AnswerFormat.MULTIPLE, answer=(2,), sex="F")
    lines = {(line.exam_property, line.question_property): line for line in measure_bias([multiple])}
    assert (lines["sex", "answer key"].n, lines["sex", "task"].n) == (0, 1)


# ------------------------------------------------------------------------------------------- patient data
@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"stem": "What did Dr. Müller see?"}, "stem"),
        ({"options": ("on 3/14/2019", "never")}, "options"),
        ({"explanation": "Call 617-555-0123."}, "explanation"),
    ],
)
def test_the_text_of_the_problem_does_not_quote_the_patient_data(fields, field):
    question = Question(
        **{
            "id": "q", "exam_id": "e", "format": AnswerFormat.SINGLE, "stem": "Which finding?",
            "options": ("Mass", "Node"), "answer": (0,), **fields,
        }
    )  # fmt: skip
    checked = CheckedQuestion(question=question, expected=Expectations(fields=frozenset()))
    problem = apply_check(Check.PATIENT_DATA, checked, {}).problem
    assert problem is not None
    assert problem.field == field
    assert not any(part in problem.reason for part in ("Müller", "2019", "617"))


def test_the_recall_on_planted_identifiers_is_that_of_the_documentation():
    recall = measure_recall(per_form=200, seed=2026)
    complete = {kind for kind, (found, planted) in recall.items() if found == planted}
    assert ("name", "title") in complete
    assert ("name", "last, first") not in complete  # no pattern can distinguish it from other words
    found, planted = (sum(counts) for counts in zip(*recall.values(), strict=True))
    assert found / planted == pytest.approx(0.80, abs=0.02)
