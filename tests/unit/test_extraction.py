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
REPLY_WORDS = (
    "a", "A", "I", "the", "chest", "because", "Because", "small", "Both", "and", "Dense", "cannot", "seen",
    "unsure", "opacity", "Can", "be", "CT", "Doctor", "lungs", "possible", "AB", "BAD", "no", "D-dimer",
)  # fmt: skip


def extract(reply: str, format_: AnswerFormat = SINGLE, options: tuple[str, ...] = OPTIONS):
    extraction = extract_answer(reply, format_=format_, options=options)
    return extraction.answer, extraction.rule


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("B", "letter"),
        ("b", "letter"),
        ("B.", "letter"),
        ("(B)", "letter"),
        ("**B**", "letter"),
        ("B\n\nThe angle is blunted.", "letter"),
        ("Cardiomegaly: no\nAnswer: B", "explicit"),
        ("A is incorrect\nAnswer: B", "explicit"),
        ("**Answer:**\nB", "explicit"),
        ("The answer is not A but B.", "explicit"),
        ("The answer is B. The other answers are incorrect.", "explicit"),
        ("Option B is correct", "statement"),
        ("B is the correct answer.", "statement"),
        ("Pleural effusion is the correct answer.", "statement"),
        ("A is incorrect. B is correct. C is incorrect.", "statement"),
        ("Based on the image, option B is the best answer because the angle is blunted.", "statement"),
        ("not A but B", "statement"),
        ("B) Pleural effusion", "letter"),
        ("B (Pleural effusion)", "letter"),
        ("Answer: B", "explicit"),
        ("Answer: B (pleural effusion).", "explicit"),
        ("The best answer is probably B, pleural effusion.", "explicit"),
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
def test_the_second_option_is_extracted_by_the_expected_rule(reply, rule):
    assert extract(reply) == ((1,), rule)


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
        "Option B is not correct",
        "If A is wrong, option B is correct.",
        "Is B correct?",
        "B is correct only if the angle is blunted.",
        "Option B is correct, but C is better.",
        "A or B is the correct answer",
        "Neither A nor B is correct.",
        "Either A, B is correct",
        "Option B is correct. Option C is also correct.",
        "B is the correct answer: Pneumothorax",
        "The answer is A. Option B is correct.",
        "Choose the correct answer: A) Cardiomegaly B) Pleural effusion",
        "Answer:\nA\nB\nC",
        "The options are A, B",
        "not A but",
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
def test_an_ambiguous_reply_fails(reply):
    assert extract(reply) == (None, "failed")


@pytest.mark.parametrize(
    "reply",
    ["<answer>[A, C] <reason>...", "<answer> ['A', 'C'] <reason> ...", "A, C", "C and A", "Answer: A and C",
     "The answers are A and C", "The correct options are: A, C", "Options A and C are correct.",
     '{"answer": ["C", "A"]}', '{"answer": "A|C"}'],
)  # fmt: skip
def test_several_letters_are_read_for_the_multiple_format_only(reply):
    assert extract(reply, MULTIPLE)[0] == (0, 2)
    assert extract(reply, SINGLE) == (None, "failed")


def test_a_letter_equal_to_another_options_text_is_not_read():
    assert extract("A", options=("B", "A")) == (None, "failed")


def test_duplicate_options_are_not_matched_by_text():
    assert extract("Normal", options=("Normal", "normal", "Effusion"))[0] is None


@pytest.mark.parametrize(
    "reply",
    [
        "The options are A and C",
        "The other answers are A and C",
        "Both A and C",
        "A is correct. C is correct.",
    ],
)
def test_options_not_stated_as_one_answer_are_not_read(reply):
    assert extract(reply, MULTIPLE) == (None, "failed")


@pytest.mark.parametrize(
    ("reply", "answer", "rule"),
    [
        ("Yes, there is an effusion.", "yes", "leading yes/no"),
        ("No, the temporal bones are intact.", "no", "leading yes/no"),
        ("**Yes**: the angle is blunted", "yes", "leading yes/no"),
        ("No the lung is clear", "no", "leading yes/no"),
        ("Yes, the patient was positioned without tilting, as they", "yes", "leading yes/no"),
        ("Answer: Yes, there is an effusion.", "yes", "explicit"),
        ("Effusion: no\nAnswer: yes", "yes", "explicit"),
        ("<answer>No, it is clear.</answer>", "no", "tag"),
    ],
)
def test_a_leading_yes_or_no_answers_a_closed_question(reply, answer, rule):
    assert extract(reply, AnswerFormat.CLOSED, ()) == (answer, rule)


@pytest.mark.parametrize(
    "reply",
    [
        "No evidence of effusion.",
        "No. 3 rib is fractured.",
        "No. of ribs: 12",
        "Yes or no",
        "Yes/No",
        "Yes, no.",
        "Yes, there is no effusion.",
        "No, there is an effusion.",
        "No, it is not possible to determine this.",
        "Yes, I can help with that.",
        "No problem, here is the report.",
        "Yes, if the angle is blunted.",
        "No, but there may be a small one.",
        "Yes, the heart is large.\nNo, there is no effusion.",
        "Yes, there is an effusion.\nNo",
        "Yes, there is an effusion.\nAnswer: no",
        "Yesterday, an effusion was seen.",
        "According to the image, there is no effusion.",
    ],
)
def test_a_closed_question_gets_no_answer_from_a_doubtful_first_word(reply):
    assert extract(reply, AnswerFormat.CLOSED, ()) == (None, "failed")


def test_a_leading_yes_or_no_is_read_for_closed_questions_only():
    assert extract("Yes, there is an effusion.") == (None, "failed")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("Yes.", "yes"), ("Answer: No", "no"), ("<answer>no</answer>", "no"), ("Nothing is seen.", None),
     ("yes and no", None), ("I have no opinion.", None)],
)  # fmt: skip
def test_a_closed_question_accepts_only_yes_or_no(reply, answer):
    assert extract(reply, AnswerFormat.CLOSED, ())[0] == answer


def test_an_open_question_uses_the_tag_or_the_whole_reply():
    assert extract("<answer>the left lung</answer> as stated", AnswerFormat.OPEN, ()) == (
        "the left lung",
        "tag",
    )
    assert extract(" The left lung. ", AnswerFormat.OPEN, ()) == ("The left lung.", "whole reply")
    assert extract("", AnswerFormat.OPEN, ()) == (None, "failed")


@example(["a", "and", "a"])
@given(some.lists(some.sampled_from(REPLY_WORDS), min_size=2, max_size=12))
def test_letters_inside_sentences_are_never_read(words):
    assert extract(" ".join(words)) == (None, "failed")


@given(some.lists(some.sampled_from(REPLY_WORDS), max_size=8), some.integers(0, 3))
def test_the_last_explicit_answer_is_read_after_any_text(words, index):
    letter = "ABCD"[index]
    assert extract(" ".join(words) + f". Final answer: ({letter})") == ((index,), "explicit")


@given(some.text(max_size=400), some.sampled_from(list(AnswerFormat)))
@pytest.mark.slow
def test_any_text_gives_a_valid_answer_or_fails(reply, format_):
    has_options = format_ in (SINGLE, MULTIPLE)
    answer, rule = extract(reply, format_, OPTIONS if has_options else ())
    assert (answer is None) == (rule == "failed")
    if has_options and answer is not None:
        assert set(answer) <= {0, 1, 2, 3}
        assert list(answer) == sorted(set(answer))


@pytest.mark.parametrize(
    "reply",
    ["{" * 200_000, '{"answer":' * 50_000, "\\boxed{" * 30_000, "answer is " * 20_000, "<answer>" * 25_000,
     "[" * 200_000, "A," * 100_000, "answer" + " " * 190_000 + "x",
     "B is correct. The answer: A is the answer. " * 4_000, "Not a but " * 20_000],
)  # fmt: skip
def test_adversarial_replies_fail(reply):
    assert extract(reply) == (None, "failed")
