"""The wording checks on real questions, compared with the marks of developers who read question and report.

The marks were also used to correct the checks: these counts show that a check works, not how often it errs.
"""

import csv
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from domain.checks import CHECKS, Check, CheckGroup
from domain.expectations import Expectations
from domain.questions import Question
from domain.vocabulary import AnswerFormat
from quality.question_checks import QUESTION_CHECKS, CheckedQuestion, apply_check
from tests.collections.folder import COLLECTIONS

MARKS = json.loads((Path(__file__).parent / "check_marks.json").read_text(encoding="utf-8"))["marks"]
WORDING_CHECKS = [check for check in QUESTION_CHECKS if CHECKS[check].group is CheckGroup.WORDING]


def load_json(name):
    return json.loads((COLLECTIONS / name).read_text(encoding="utf-8"))


def load_lines(name):
    return [json.loads(line) for line in (COLLECTIONS / name).read_text(encoding="utf-8").splitlines()]


def load_questions():
    """(stem, options, answer, report) of each question, by dataset and id; the id of a list is its index."""
    with (COLLECTIONS / "openi-iu-xray" / "indiana_reports.csv").open(encoding="utf-8", newline="") as file:
        reports = {
            f"CXR{row['uid']}": f"{row['findings']}\n{row['impression']}".strip()
            for row in csv.DictReader(file)
        }
    questions: dict[tuple[str, str], tuple[str, list[str], Any, str | None]] = {}
    for index, row in enumerate(load_lines("iu-vqa-cares/iuxray_factuality.jsonl")):
        stem = row["question"].split(" Please choose")[0]
        answer = row["answer"].strip(". ").lower()
        questions["iu-vqa-cares", str(index)] = (stem, [], answer, reports.get(row["image"].split("_")[0]))
    for row in load_json("slake/slake_test_subset.json"):
        questions["slake", str(row["qid"])] = (row["question"], [], fold_yes_no(row["answer"]), None)
    for row in load_json("vqa-rad/vqarad_chest_trainset.json"):
        questions["vqa-rad", str(row["qid"])] = (row["question"], [], fold_yes_no(str(row["answer"])), None)
    for row in load_lines("medxpertqa/medxpertqa_sampled_mm.jsonl"):
        options = [option["content"] for option in row["options"]]
        stem = row["question"].split("\nAnswer Choices")[0]
        questions["medxpertqa", row["id"]] = (stem, options, ["ABCDE".index(row["label"][0])], None)
    text = (COLLECTIONS / "vqa-med-2019" / "VQAMed2019_Test_QA.txt").read_text(encoding="utf-8")
    for index, line in enumerate(text.splitlines()):
        _, _, stem, answer = line.strip().split("|")[:4]
        questions["vqa-med-2019", str(index)] = (stem, [], answer, None)
    return questions


def fold_yes_no(answer):
    return answer.strip().lower() if answer.strip().lower() in ("yes", "no") else answer


def hash_question(stem, options, answer):
    return hashlib.sha256(json.dumps([stem, options, answer], ensure_ascii=False).encode()).hexdigest()


@pytest.fixture(scope="module")
def marked_questions():
    """(question with its report, the kinds of error that were marked) of each mark."""
    questions = load_questions()
    result = []
    for mark in MARKS:
        stem, options, answer, report = questions[mark["dataset"], mark["question"]]
        assert hash_question(stem, options, answer) == mark["sha256"]
        if options:
            format_ = AnswerFormat.SINGLE
        else:
            format_ = AnswerFormat.CLOSED if answer in ("yes", "no") else AnswerFormat.OPEN
        question = Question(
            id=mark["question"], exam_id="e", format=format_, stem=stem, options=tuple(options),
            answer=tuple(answer) if options else answer,
        )  # fmt: skip
        checked = CheckedQuestion(question=question, expected=Expectations(fields=frozenset()), report=report)
        result.append((checked, frozenset(mark["marks"])))
    return result


def count_results(marked_questions, check):
    """Counts of (marked, reported), where the check applies."""
    counts: Counter[tuple[bool, bool]] = Counter()
    for checked, marks in marked_questions:
        result = apply_check(check, checked, {})
        if result.missing_need is None:
            counts[check.value in marks, result.problem is not None] += 1
    return counts


def test_at_least_300_questions_of_five_collections_are_marked():
    assert len(MARKS) >= 300
    assert len({mark["dataset"] for mark in MARKS}) == 5


#: Questions by check: marked and reported, only marked, only reported, neither. Precision is the first count
#: divided by the sum of the first and the third.
COUNTS = {
    Check.COMPARISON: (6, 0, 4, 308),
    Check.REPORT_REFERENCE: (6, 3, 0, 309),
    Check.SEVERAL_CORRECT: (0, 0, 0, 24),
    Check.NOT_IN_REPORT: (0, 0, 0, 134),
    Check.SIDE_OR_LEVEL: (0, 0, 0, 318),
    Check.ANSWER_REVEALED: (4, 1, 0, 313),
}


@pytest.mark.parametrize("check", WORDING_CHECKS)
def test_each_wording_check_has_the_stated_counts(marked_questions, check):
    counts = count_results(marked_questions, check)
    result = tuple(counts[key] for key in ((True, True), (True, False), (False, True), (False, False)))
    assert result == COUNTS[check]
