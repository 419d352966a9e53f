"""The cases of the conditions of an evaluation, and the requests that they become."""

from __future__ import annotations

from collections import Counter

import pytest

from domain.errors import InvalidValue
from domain.evaluations import Condition, EvaluatedExam, EvaluationCase, ImageSize
from domain.exams import Radiograph
from domain.questions import Question
from domain.vocabulary import AnswerFormat, View
from evaluation.cases import (
    IMAGE_REMOVED,
    NO_IMAGE_FILE,
    NO_OPTIONS,
    NO_OTHER_PATIENT,
    EvaluatedQuestion,
    choose_cases,
    shuffle_options,
)
from evaluation.requests import DEFAULT_PROMPT, build_request, check_prompt
from language_models.prompts import parse_prompt

PROMPT = parse_prompt(DEFAULT_PROMPT.read_text(encoding="utf-8"))
OPTIONS = ("Nodule", "Effusion", "Pneumothorax", "None")


def make_exam(number: int, *views: View, patient: str | None = "", image: str | None = "") -> EvaluatedExam:
    size = None if image is None else 9
    radiographs = tuple(
        Radiograph(
            id=f"r{place}",
            file=f"{number}/{place}.dcm",
            view=view,
            rows=size,
            columns=size,
            sha256=None if image is None else f"{number:060d}{image}{place:04d}",
        )
        for place, view in enumerate(views or (View.PA,))
    )
    return EvaluatedExam(
        number=number,
        id=f"E{number}",
        patient=f"P{number}" if patient == "" else patient,
        radiographs=radiographs,
    )


def make_question(number: int, exam: EvaluatedExam, **changes) -> EvaluatedQuestion:
    fields = {
        "format": AnswerFormat.SINGLE,
        "stem": "What is shown?",
        "answer": (1,),
        "options": OPTIONS,
    }
    question = Question(id=f"Q{number}", exam_id=exam.id, **(fields | changes))
    return EvaluatedQuestion(number=number, question=question, exam=exam)


def choose(questions, condition, **values):
    return choose_cases(questions, condition, **{"seed": 1, **values})


def test_another_exam_has_the_same_views_in_the_same_order():
    exams = [
        make_exam(number, *((View.PA, View.LATERAL) if number % 2 else (View.LATERAL, View.PA)))
        for number in range(40)
    ]
    chosen = choose([make_question(exam.number, exam) for exam in exams], Condition.OTHER_IMAGE)
    assert len(chosen.cases) == 40
    assert all((case.other_exam - case.question_row_id) % 2 == 0 for case in chosen.cases)
    assert all(case.other_exam != case.question_row_id for case in chosen.cases)


def test_every_other_exam_is_drawn_about_equally_often():
    exams = [make_exam(number) for number in range(5)]
    questions = [make_question(number, exams[0]) for number in range(4000)]
    questions += [make_question(5000 + exam.number, exam) for exam in exams]
    counts = Counter(
        case.other_exam
        for case in choose(questions, Condition.OTHER_IMAGE).cases
        if case.question_row_id < 4000
    )
    assert set(counts) == {1, 2, 3, 4}
    assert all(count == pytest.approx(1000, abs=110) for count in counts.values())  # 4 standard deviations


@pytest.mark.parametrize("patient", ["P1", "p1 ", " P1"])
def test_an_exam_of_the_same_patient_is_not_another_patient(patient):
    exams = [make_exam(1, patient="P1"), make_exam(2, patient=patient)]
    chosen = choose([make_question(exam.number, exam) for exam in exams], Condition.OTHER_IMAGE)
    assert (chosen.cases, chosen.excluded) == ((), {NO_OTHER_PATIENT: 2})


def test_the_same_image_under_another_patient_is_not_another_image():
    exams = [make_exam(1), make_exam(2)]
    copy = EvaluatedExam(number=2, id="E2", patient="P2", radiographs=exams[0].radiographs)
    chosen = choose([make_question(1, exams[0]), make_question(2, copy)], Condition.OTHER_IMAGE)
    assert chosen.excluded == {NO_OTHER_PATIENT: 2}


def test_exams_without_a_stated_patient_count_as_different_patients():
    exams = [make_exam(1, patient=None), make_exam(2, patient=None)]
    chosen = choose([make_question(exam.number, exam) for exam in exams], Condition.OTHER_IMAGE)
    assert [(case.question_row_id, case.other_exam) for case in chosen.cases] == [(1, 2), (2, 1)]


def test_questions_that_cannot_be_shown_are_excluded_with_their_reason():
    removed = make_exam(2)
    questions = [
        make_question(1, make_exam(1, image=None)),
        make_question(2, removed),
        make_question(3, make_exam(3), format=AnswerFormat.CLOSED, options=(), answer="yes"),
        make_question(4, make_exam(4)),
    ]
    chosen = choose(questions, Condition.SHUFFLED, removed_images={removed.radiographs[0].sha256})
    assert [case.question_row_id for case in chosen.cases] == [4]
    assert chosen.excluded == {NO_IMAGE_FILE: 1, IMAGE_REMOVED: 1, NO_OPTIONS: 1}
    assert len(choose(questions, Condition.NO_IMAGE).cases) == 4


def test_a_shuffled_order_is_never_the_original_and_every_other_order_occurs():
    orders = Counter(
        shuffle_options(make_question(number, make_exam(1)).question, seed=1) for number in range(2300)
    )
    assert len(orders) == 23  # 4! - 1
    assert (0, 1, 2, 3) not in orders
    assert all(count == pytest.approx(100, abs=45) for count in orders.values())


def test_two_options_are_always_swapped():
    question = make_question(1, make_exam(1), options=("a", "b"), answer=(0,)).question
    assert shuffle_options(question, seed=1) == (1, 0)


@pytest.mark.parametrize("answer", [(0,), (1, 2), (0, 1, 2, 3), "yes"])
def test_an_answer_is_converted_to_the_shown_order_and_back(answer):
    case = EvaluationCase(question_row_id=1, permutation=(2, 3, 1, 0))
    assert case.to_release_order(case.to_shown_order(answer)) == answer


def test_an_order_must_contain_each_option_once():
    with pytest.raises(InvalidValue, match="each index once"):
        EvaluationCase(question_row_id=1, permutation=(0, 0))


def build_content(
    evaluated_question, case=None, condition=Condition.AS_GIVEN, exams=None, size=ImageSize.FULL
):
    request = build_request(
        evaluated_question,
        case or EvaluationCase(question_row_id=evaluated_question.number),
        condition=condition,
        prompt=PROMPT,
        image_size=size,
        exams=exams or {},
    )
    return request.body["messages"][-1]["content"]


def test_images_are_announced_by_their_view_and_precede_the_text():
    exam = make_exam(1, View.AP, View.LATERAL, View.UNKNOWN)
    parts = build_content(make_question(1, exam))
    assert [part["type"] for part in parts] == ["text", "image_url"] * 3 + ["text"]
    assert [part["text"] for part in parts[:-1:2]] == [
        "Radiograph 1 of 3: AP.",
        "Radiograph 2 of 3: lateral.",
        "Radiograph 3 of 3: view not stated.",
    ]
    assert [part["image_url"]["url"] for part in parts[1::2]] == [
        f"sha256:{radiograph.sha256}/png" for radiograph in exam.radiographs
    ]


def test_quarter_size_is_stated_in_the_address():
    [_, image, _] = build_content(make_question(1, make_exam(1)), size=ImageSize.QUARTER)
    assert image["image_url"]["url"].endswith("/quarter-png")


def test_without_image_there_is_only_text():
    assert build_content(make_question(1, make_exam(1)), condition=Condition.NO_IMAGE) == (
        "What is shown?\nA. Nodule\nB. Effusion\nC. Pneumothorax\nD. None\n\nAnswer with the letter of one "
        "option. "
        "Write the answer between <answer> and </answer>, then give the reason in one or two sentences."
    )


def test_the_images_of_the_other_exam_replace_those_of_the_exam():
    other = make_exam(2)
    case = EvaluationCase(question_row_id=1, other_exam=2)
    parts = build_content(make_question(1, make_exam(1)), case, Condition.OTHER_IMAGE, {2: other})
    assert parts[1]["image_url"]["url"] == f"sha256:{other.radiographs[0].sha256}/png"


def test_options_are_shown_in_the_recorded_order():
    case = EvaluationCase(question_row_id=1, permutation=(3, 0, 2, 1))
    text = build_content(make_question(1, make_exam(1)), case)[-1]["text"]
    assert "A. None\nB. Nodule\nC. Pneumothorax\nD. Effusion\n" in text


@pytest.mark.parametrize(
    ("user", "match"),
    [
        ("${question} ${report}", "uses the variable report"),
        ("${question}", "does not use the variable options"),
    ],
)
def test_a_prompt_with_other_variables_is_refused(user, match):
    with pytest.raises(InvalidValue, match=match):
        check_prompt(parse_prompt(f'name = "x"\nuser = "{user}"\n'))
