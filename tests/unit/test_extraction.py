"""The answer in a model's free text: unambiguous answers are read, and nothing is guessed."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from domain.vocabulary import AnswerFormat
from reader_study.extraction import extract_answer

OPTIONS = ("Cardiomegaly", "Pleural effusion", "Pneumothorax", "Normal")
SINGLE, MULTIPLE = AnswerFormat.SINGLE, AnswerFormat.MULTIPLE
#: Words of a report that contain no option, but letters that could be mistaken for one.
WORDS = (
    "a", "A", "I", "the", "chest", "because", "Because", "small", "Both", "and", "Dense", "cannot", "seen",
    "unsure", "opacity", "Can", "be", "CT", "Doctor", "lungs", "possible", "AB", "BAD", "no", "D-dimer",
)  # fmt: skip


def read(reply: str, format_: AnswerFormat = SINGLE, options: tuple[str, ...] = OPTIONS):
    found = extract_answer(reply, format_=format_, options=options)
    return found.answer, found.rule


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("B", "letter"),
        ("b", "letter"),
        ("B.", "letter"),
        ("(B)", "letter"),
        ("**B**", "letter"),
        ("B\n\nThe angle is blunted.", "letter"),
        ("B) Pleural effusion", "letter"),
        ("Answer: B", "explicit"),
        ("**Answer:** B. The angle is blunted.", "explicit"),
        ("The answer is B, not A.", "explicit"),
        ("The answer is B because A needs a larger heart.", "explicit"),
        ("It is not large, so the answer is B", "explicit"),
        ("I considered (A) first. Final answer: (B)", "explicit"),
        ("The answer is A. No: the answer is B.", "explicit"),
        ("The correct option is: Pleural effusion", "explicit"),
        ("<answer>B</answer> because A is unlikely", "tag"),
        ("The answer is A. <answer>B</answer>", "tag"),
        ('{"answer":"B","explanation":"blunted angle"}', "json"),
        ('```json\n{"Answer": ["B"]}\n```', "json"),
        ("\\boxed{B}", "boxed"),
        ("So it is $\\boxed{\\text{B}}$.", "boxed"),
        ("Pleural effusion", "option text"),
        (" pleural  EFFUSION. ", "option text"),
        ("<think>The answer is A.</think>B", "letter"),
    ],
)
def test_the_second_option_is_read_by_the_rule_that_fits(reply, rule):
    assert read(reply) == ((1,), rule)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n",
        "E",
        "Answer: E",
        "I cannot provide medical advice.",
        "A and B are both possible.",
        "Because a small opacity is seen, I am unsure.",
        "A chest X-ray shows the lungs.",
        "I considered (A) and (B).",
        "The answer is not A",
        "The answer is A or B",
        "The answer is either A or B",
        "The answer is A/B",
        "I don't think the answer is B.",
        "If the answer is B, the angle would be blunted.",
        "The answer is a small effusion",
        "Answer: A small effusion",
        "The wrong answer is A.",
        "The answer is B? No.",
        "Answer: B) or C)",
        "Answer: B. Pneumothorax",
        "A\nB",
        "A\nB\nC\nD",
        "A, B",
        "<answer>A</answer> <answer>B</answer>",
        "<answer>A, B</answer>",
        "<answer></answer> B",
        '{"answer": 1}',
        '{"answer": "A", "answer": "B"}',
        '{"answer": null}',
        '{"explanation": "A is seen"}',
        "\\boxed{A} \\boxed{B}",
        "The answer is B. Looking again, the answer is unclear.",
        "<think>The answer is B.",
        "В",  # Cyrillic
    ],
)
def test_a_reply_that_names_no_one_option_fails(reply):
    assert read(reply) == (None, "failed")


@pytest.mark.parametrize(
    "reply",
    ["<answer>[A, C] <reason>...", "<answer> ['A', 'C'] <reason> ...", "A, C", "C and A", "Answer: A and C",
     '{"answer": ["C", "A"]}', '{"answer": "A|C"}'],
)  # fmt: skip
def test_several_letters_are_read_where_several_may_be_right_and_nowhere_else(reply):
    assert read(reply, MULTIPLE)[0] == (0, 2)
    assert read(reply, SINGLE) == (None, "failed")


def test_a_letter_that_is_the_text_of_another_option_is_not_read():
    assert read("A", options=("B", "A")) == (None, "failed")


def test_two_options_of_one_text_are_not_told_apart():
    assert read("Normal", options=("Normal", "normal", "Effusion"))[0] is None


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("Yes.", "yes"), ("Answer: No", "no"), ("<answer>no</answer>", "no"), ("Nothing is seen.", None),
     ("yes and no", None), ("I have no opinion.", None)],
)  # fmt: skip
def test_a_closed_question_takes_yes_or_no_alone(reply, answer):
    assert read(reply, AnswerFormat.CLOSED, ())[0] == answer


def test_an_open_question_takes_the_tag_else_the_whole_reply():
    assert read("<answer>the left lung</answer> as said", AnswerFormat.OPEN, ()) == ("the left lung", "tag")
    assert read(" The left lung. ", AnswerFormat.OPEN, ()) == ("The left lung.", "whole reply")
    assert read("", AnswerFormat.OPEN, ()) == (None, "failed")


@example(["a", "and", "a"])
@given(some.lists(some.sampled_from(WORDS), min_size=2, max_size=12))
def test_letters_inside_sentences_are_never_read(words):
    assert read(" ".join(words)) == (None, "failed")


@given(some.lists(some.sampled_from(WORDS), max_size=8), some.integers(0, 3))
def test_the_last_explicit_answer_is_read_whatever_stands_before(words, index):
    sign = "ABCD"[index]
    assert read(" ".join(words) + f". Final answer: ({sign})") == ((index,), "explicit")


@given(some.text(max_size=400), some.sampled_from(list(AnswerFormat)))
def test_any_text_gives_an_answer_that_the_question_can_have_or_fails(reply, format_):
    choice = format_ in (SINGLE, MULTIPLE)
    answer, rule = read(reply, format_, OPTIONS if choice else ())
    assert (answer is None) == (rule == "failed")
    if choice and answer is not None:
        assert set(answer) <= {0, 1, 2, 3}
        assert list(answer) == sorted(set(answer))


@pytest.mark.parametrize(
    "reply",
    ["{" * 200_000, '{"answer":' * 50_000, "\\boxed{" * 30_000, "answer is " * 20_000, "<answer>" * 25_000,
     "[" * 200_000, "A," * 100_000, "answer" + " " * 190_000 + "x"],
)  # fmt: skip
def test_replies_made_to_be_hard_fail_soon(reply):
    assert read(reply) == (None, "failed")
