"""The four structural checks, and the quick test that makes them unnecessary for most questions."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.boxes import Box, LabelledBox
from domain.checks import CHECKS, Check
from domain.errors import InvalidValue
from domain.expectations import COMPLETE, Expectations
from domain.questions import Question
from domain.vocabulary import AnswerFormat, Difficulty, Task
from quality.question_checks import (
    QUESTION_CHECKS,
    DueCheck,
    QuestionBlock,
    apply_check,
    check_block,
    row_to_checked_question,
)
from quality.structural_checks import (
    certainly_has_no_problems,
    check_completeness,
    check_format,
    check_question,
    check_schema,
    check_types,
)
from records.questions import QUESTION_COLUMNS, question_to_columns


def make_question(**changes):
    return Question(
        **{
            "id": "q",
            "exam_id": "e",
            "format": AnswerFormat.SINGLE,
            "stem": "Which finding is present on this radiograph?",
            "options": ("Effusion", "Pneumothorax", "Consolidation", "Cardiomegaly"),
            "answer": (0,),
            "explanation": "The costophrenic angle is blunted by fluid.",
            "task": Task.PRESENCE,
            "category": "Pleura",
            "difficulty": Difficulty.EASY,
            **changes,
        }
    )


def make_box(label):
    return LabelledBox(radiograph="pa", label=label, box=Box(x_min=0, y_min=0, x_max=1, y_max=1))


def test_a_complete_question_passes_all_four_checks():
    assert check_question(make_question(), expected=COMPLETE, minimum_explanation=20) == ()


def test_the_schema_check_requires_four_options_of_a_choice_question():
    assert check_schema(make_question(options=("a", "b", "c")), expected=COMPLETE).reason == "3 instead of 4"
    assert (
        check_schema(make_question(format=AnswerFormat.OPEN, options=(), answer="fluid"), expected=COMPLETE)
        is None
    )


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"stem": "['Which', 'finding']"}, "stem"),
        ({"stem": "12 / 7?"}, "stem"),
        ({"explanation": "nan"}, "explanation"),
        ({"explanation": "None"}, "explanation"),
        ({"options": ("Effusion", "NaN", "Consolidation", "Cardiomegaly")}, "options"),
        ({"options": ("Effusion", "{'a': 1}", "Consolidation", "Cardiomegaly")}, "options"),
        ({"boxes": (make_box("undefined"),)}, "boxes.label"),
    ],
)
def test_the_type_check_finds_values_converted_to_text(changes, field):
    assert check_types(make_question(**changes)).field == field


def test_the_type_check_accepts_none_as_an_option():
    assert check_types(make_question(options=("Effusion", "None", "Consolidation", "Cardiomegaly"))) is None


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"options": ("Effusion", " effusion", "Consolidation", "Cardiomegaly")}, "options"),
        ({"options": ("A. Effusion", "B. Line", "C. Tube", "D. None")}, "options"),
        ({"explanation": "Too short."}, "explanation"),
        ({"stem": "Which is it? The answer is B."}, "stem"),
        ({"stem": "Which is it? A) Effusion B) Line"}, "stem"),
    ],
)
def test_the_format_check_finds_formatting_problems(changes, field):
    assert check_format(make_question(**changes), minimum_explanation=20).field == field


def test_the_format_check_accepts_figures_with_letters_in_the_stem():
    question = make_question(stem="An injury is seen in Figure A. It is treated as in Figure B. What is it?")
    assert check_format(question, minimum_explanation=20) is None


def test_a_missing_explanation_is_a_problem_of_the_completeness_check_only():
    assert check_format(make_question(explanation=""), minimum_explanation=20) is None
    assert check_completeness(make_question(explanation=""), expected=COMPLETE).field == "explanation"


def test_the_completeness_check_names_all_missing_fields_together():
    problem = check_completeness(
        make_question(explanation=" ", difficulty=None, category="", task=None, boxes=(make_box(""),)),
        expected=COMPLETE,
    )
    assert problem.field == "explanation, difficulty, category, task, boxes.label"
    assert problem.check is Check.COMPLETENESS


NOTHING_EXPECTED = Expectations(fields=frozenset())


def test_a_question_without_fields_that_its_format_does_not_have_passes_all_checks():
    question = make_question(explanation="", difficulty=None, category=None, task=None, boxes=(make_box(""),))
    assert check_question(question, expected=NOTHING_EXPECTED, minimum_explanation=20) == ()


def test_the_number_of_options_is_checked_only_if_the_format_promises_a_number():
    question = make_question(options=("a", "b", "c", "d", "e"))
    assert check_schema(question, expected=NOTHING_EXPECTED) is None
    assert check_schema(question, expected=Expectations(fields=frozenset(), option_count=5)) is None
    assert check_schema(question, expected=COMPLETE).reason == "5 instead of 4"


def test_format_that_promises_an_unknown_field_is_refused():
    with pytest.raises(InvalidValue, match="'reason' must be one of explanation"):
        Expectations(fields=frozenset({"reason"}))


PIECES = st.sampled_from(
    ["Which finding is present?", "effusion", "Effusion", "A. ", "B) ", "A ", "answer: B", "Answer is A", "[",
     "]", "{", "}", " ", "  ", "\t", "\n", "nan", "null", "None", "undefined", "[object Object]", "N/A", "1",
     "é", "Opacity in the left lower zone"]
)  # fmt: skip
TEXTS = st.lists(PIECES, min_size=1, max_size=4).map("".join)


@given(
    stem=TEXTS.filter(str.strip),
    options=st.lists(TEXTS.filter(str.strip), min_size=2, max_size=5),
    explanation=st.one_of(st.just(""), TEXTS),
    labels=st.lists(st.one_of(st.just(""), TEXTS), max_size=2),
    minimum=st.integers(0, 40),
)
def test_questions_that_pass_the_quick_test_have_no_problem(stem, options, explanation, labels, minimum):
    boxes = tuple(make_box(label) for label in labels)
    if certainly_has_no_problems([stem], [options], [explanation], labels, minimum):
        checked_question = make_question(
            stem=stem, options=tuple(options), explanation=explanation, boxes=boxes
        )
        assert check_question(checked_question, expected=COMPLETE, minimum_explanation=minimum) == ()


def test_the_quick_test_passes_an_ordinary_question():
    ordinary = make_question()
    assert certainly_has_no_problems(
        [ordinary.stem], [ordinary.options], [ordinary.explanation], ["left lower zone"], 20
    )


#: Ordinary questions, and some with faults of every check, so that groups of both kinds occur.
VARIANTS: tuple[dict[str, object], ...] = (
    {}, {}, {"category": None}, {"explanation": "Short."},
    {"stem": "Compared with the prior exam, what is new?"},
    {"stem": "According to the report, what is on the left?", "explanation": "It is on the right."},
    {"options": ("Effusion", "Pleural effusion", "No effusion", "{}")},
    {"options": ("A. a", "B. b", "C. c")},
    {"format": AnswerFormat.CLOSED, "options": (), "answer": "yes", "stem": "A left pneumothorax? - Yes"},
    {"task": Task.NEGATION, "stem": "Which finding is absent?"},
    {"boxes": (make_box(" "),)},
    {"explanation": "Seen 03/14/2019 by Dr. Smith, \u00c9t\u00e9\u2013no effusion."},
)  # fmt: skip
REPORTS = (
    None,
    "",
    "Left pleural effusion. No pneumothorax.",
    "Right lower lobe consolidation\u2013no effusion.",
)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(VARIANTS), st.sampled_from(REPORTS)), min_size=1, max_size=45))
def test_a_block_has_the_results_of_its_questions_one_by_one(choices):
    rows = []
    for number, (changes, report) in enumerate(choices, start=1):
        columns = question_to_columns(make_question(**changes))
        rows.append((number, 1, "e", report, *(columns[name] for name in QUESTION_COLUMNS)))
    due = tuple(
        DueCheck(check=check, settings={"minimum_explanation": 20}, after=0) for check in QUESTION_CHECKS
    )
    result = check_block(QuestionBlock(rows=rows, expected={1: COMPLETE}, due=due))
    for check in QUESTION_CHECKS:
        check_results = [
            (row[0], apply_check(check, row_to_checked_question(row, {1: COMPLETE}, {}), due[0].settings))
            for row in rows
        ]
        assert result.problems[check] == [
            (number, check_result.problem.field, check_result.problem.reason)
            for number, check_result in check_results
            if check_result.problem
        ]
        assert result.missing[check] == Counter(
            check_result.missing_need for _, check_result in check_results if check_result.missing_need
        )
    assert set(result.problems) <= set(CHECKS)
