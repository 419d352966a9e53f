"""Replies of real models: those that begin with yes or no are read, and no answer contradicts its reply."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from cli import main
from domain.vocabulary import AnswerFormat
from reader_study.extraction import FAILED, LEADING_YES_NO, LETTER, extract_answer
from tests.collections.folder import COLLECTIONS

FMMEDVQA = COLLECTIONS / "vqa-predictions-fmmedvqa" / "vqa_rad"
WORLDMEDQAV = COLLECTIONS / "worldmedqav-predictions"
REFERENCE = COLLECTIONS.parent / "reference" / "extraction.json"
MARKS = json.loads((Path(__file__).parent / "developer_marks.json").read_text(encoding="utf-8"))["marks"]


def load_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def extract_closed(reply):
    return extract_answer(reply, format_=AnswerFormat.CLOSED, options=())


def load_replies(model):
    """The replies to questions whose key is yes or no; both files are in the order of the test set."""
    keys = [row["original_gt"].strip().lower() for row in load_json(FMMEDVQA / "eval_llavamed_IN.json")]
    rows = load_json(FMMEDVQA / f"{model}_pred.jsonl")
    return [row["answer_pred"] for key, row in zip(keys, rows, strict=True) if key in ("yes", "no")]


def parse_letters(text):
    return tuple("ABCD".index(letter) for letter in text.split("|"))


def test_the_reference_replies_are_read_as_stated():
    reference = load_json(REFERENCE)
    for case in reference["cases"]:
        kind, _, letters = (case["expected"] or "").rpartition(":")
        extraction = extract_answer(
            case["reply"],
            format_=AnswerFormat.MULTIPLE if kind == "multi" else AnswerFormat.SINGLE,
            options=reference["options"],
        )
        assert extraction.answer == (parse_letters(letters) if letters else None), case


@pytest.mark.parametrize(
    ("model", "rules"),
    [
        ("llavamed", {LEADING_YES_NO: 221, FAILED: 30}),
        ("tinyllava", {LEADING_YES_NO: 230, FAILED: 21}),
        ("tinyllava_ft", {LETTER: 249, FAILED: 2}),
        ("vilt", {LETTER: 250, FAILED: 1}),
        ("vilt_ft", {FAILED: 251}),
    ],
)
def test_replies_that_begin_with_yes_or_no_are_read(model, rules):
    replies = load_replies(model)
    extractions = [extract_closed(reply) for reply in replies]
    assert Counter(extraction.rule for extraction in extractions) == rules
    first_words = [reply.replace(",", " ").split()[0].strip(".").lower() for reply in replies]
    words_and_answers = [
        (word, extraction.answer)
        for word, extraction in zip(first_words, extractions, strict=True)
        if word in ("yes", "no")
    ]
    assert sum(answer == word for word, answer in words_and_answers) >= 0.97 * len(words_and_answers)
    assert all(answer in (word, None) for word, answer in words_and_answers)


def test_no_extraction_contradicts_the_developer_marks():
    marks = {(mark["dataset"], mark["reply_sha256"]): mark["mark"] for mark in MARKS}
    answers = {}
    for model in ("llavamed", "tinyllava"):
        for reply in load_replies(model):
            key = (
                f"vqa-predictions-fmmedvqa/vqa_rad/{model}_pred.jsonl",
                hashlib.sha256(reply.encode()).hexdigest(),
            )
            if key in marks:
                answers[key] = extract_closed(reply).answer
    assert len(answers) == len(marks) == 200
    contradictions = [key for key, answer in answers.items() if answer not in (None, marks[key])]
    assert contradictions == []


def test_the_command_prints_hits_by_rule_and_the_published_number_of_correct_answers(capsys):
    file = WORLDMEDQAV / "no_image__zero_shot__brazil_english_zs_v2_evaluation.json"
    arguments = ["--records", "predictions", "--reply", "predicted_answer", "--key", "gold_answer"]
    assert main(["extraction", str(file), *arguments]) == 0
    evaluation = load_json(file)
    correct = round(evaluation["accuracy"] * len(evaluation["predictions"]))
    [_, row] = capsys.readouterr().out.splitlines()
    assert row == f"{file.name},{LETTER},{len(evaluation['predictions'])},100.0,{correct}"
    llavamed = FMMEDVQA / "llavamed_pred.jsonl"
    assert main(["extraction", str(llavamed), "--format", "closed", "--reply", "answer_pred"]) == 0
    counts = dict(line.split(",")[1:3] for line in capsys.readouterr().out.splitlines()[1:])
    assert int(counts[LEADING_YES_NO]) >= 221


def test_all_letters_of_worldmedqav_are_read_and_give_the_published_accuracy():
    files = sorted(WORLDMEDQAV.glob("*.json"))
    assert len(files) == 14
    for file in files:
        evaluation = load_json(file)
        correct = 0
        for prediction in evaluation["predictions"].values():
            extraction = extract_answer(
                prediction["predicted_answer"],
                format_=AnswerFormat.SINGLE,
                options=("first", "second", "third", "fourth"),
            )
            assert extraction.rule == LETTER
            assert extraction.answer == parse_letters(prediction["predicted_answer"])
            correct += extraction.answer == parse_letters(prediction["gold_answer"])
        assert correct / len(evaluation["predictions"]) == pytest.approx(evaluation["accuracy"])
