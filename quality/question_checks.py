"""Applies checks to questions. A check is a function of one question; :data:`QUESTION_CHECKS` lists them.

A check that needs several questions or a language model has its own run and stores its results with
``quality.service.record_results``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from domain.checks import CHECKS, CHECKS_ON_IMPORT, Check, CheckResult, Need, Problem, Settings
from domain.expectations import Expectations
from domain.questions import Question
from domain.vocabulary import AnswerFormat
from privacy.patterns import find_hits_by_pattern, may_have_hits
from quality.content_screens import (
    ImageGeometry,
    screen_answer_revealed,
    screen_not_in_report,
    screen_several_correct,
    screen_side,
)
from quality.structural_checks import (
    QUICK_OPTION_COUNT,
    certainly_has_no_problems,
    check_completeness,
    check_format,
    check_schema,
    check_types,
)
from quality.text_screens import Screen, find_hit, may_hit, read_question_bits
from records.questions import question_from_columns
from terminology.word_filter import ALL_BITS


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedQuestion:
    """A question, and what checks compare it with: the format of its file, and the exam.

    ``radiographs`` are the radiographs of the exam, if it has a question with boxes. ``is_from_run`` states
    whether a model run of this workspace wrote the question; only the check of data use needs it.
    ``word_bits`` are the bits of all texts of the question (:func:`quality.text_screens.read_question_bits`),
    by which a screen skips questions without its words.
    """

    question: Question
    expected: Expectations
    report: str | None = None
    radiographs: tuple[ImageGeometry, ...] = ()
    is_from_run: bool = False
    word_bits: int = ALL_BITS

    def find_missing_need(self, needs: Sequence[Need]) -> Need | None:
        """Return the first of the needs that the question does not have; None if it has all."""
        for need in needs:  # faster than next() with a generator; it runs for each question and check
            if not self._has(need):
                return need
        return None

    def _has(self, need: Need) -> bool:
        match need:
            case Need.OPTIONS:
                return bool(self.question.options)
            case Need.REPORT:
                return bool(self.report)
            case Need.BOXES:
                return bool(self.question.boxes)
            case Need.DIFFICULTY:
                return self.question.difficulty is not None
            case Need.ORIGIN:
                return self.is_from_run
            case Need.RESULT | Need.JURY | Need.REPLIES | Need.OTHER_FAMILIES | Need.MAJORITY:
                return True  # not a property of the question
            case Need.ONE_ANSWER:
                return self.question.format in (AnswerFormat.SINGLE, AnswerFormat.CLOSED)


#: Phrases that make a hit harmless: what should be in a report, or whether something would be stable.
_HARMLESS = {
    Screen.REFERS_TO_TEXT: re.compile(
        r"\b(?:stand|belongs?|sentence|add|write|put|dictate)\b[^.?]*\bin\s+(?:the|a)\s+report\b|"
        r"\bwhen\b[^.?]*\bis\s+reported\b",
        re.IGNORECASE,
    ),
    Screen.COMPARISON: re.compile(
        r"\b(?:if|whether|unless|until|should|can|known|shown)\b[^.?]*\b(?:stable|unchanged)\b", re.IGNORECASE
    ),
}


def _find_screen_words(check: Check, checked: CheckedQuestion, screen: Screen) -> Problem | None:
    if not may_hit(screen, checked.word_bits):
        return None
    question = checked.question
    hit = find_hit(question, screen)
    if hit is None:
        return None
    text = question.explanation if hit.field == "explanation" else question.stem
    if _HARMLESS[screen].search(text):
        return None
    return Problem(check=check, field=hit.field, reason=f"contains {hit.words!r}")


def _find_patient_data(checked: CheckedQuestion) -> Problem | None:
    question = checked.question
    answers = [question.answer] if isinstance(question.answer, str) else []
    texts = [question.stem, question.explanation, *question.options, *answers]
    if not may_have_hits(texts, word_bits=checked.word_bits):
        return None
    fields = ["stem", "explanation", *("options" for _ in question.options), "answer"]
    for field_name, text in zip(fields, texts, strict=False):
        for hit in find_hits_by_pattern(text, field=field_name):
            # The passage itself is not repeated: lists of problems are exported.
            return Problem(
                check=Check.PATIENT_DATA,
                field=hit.field,
                reason=f"contains what looks like: {hit.kind.value}",
            )
    return None


QuestionCheck = Callable[[CheckedQuestion, Settings], Problem | None]

#: The checks that judge one question at a time, in the order of their declarations.
QUESTION_CHECKS: Mapping[Check, QuestionCheck] = {
    Check.SCHEMA: lambda checked, _: check_schema(checked.question, expected=checked.expected),
    Check.TYPES: lambda checked, _: check_types(checked.question),
    Check.FORMAT: lambda checked, settings: check_format(
        checked.question, minimum_explanation=int(settings["minimum_explanation"])
    ),
    Check.COMPLETENESS: lambda checked, _: check_completeness(checked.question, expected=checked.expected),
    Check.COMPARISON: lambda checked, _: _find_screen_words(Check.COMPARISON, checked, Screen.COMPARISON),
    Check.REPORT_REFERENCE: lambda checked, _: _find_screen_words(
        Check.REPORT_REFERENCE, checked, Screen.REFERS_TO_TEXT
    ),
    Check.SEVERAL_CORRECT: lambda checked, _: screen_several_correct(checked.question, checked.report),
    Check.NOT_IN_REPORT: lambda checked, _: screen_not_in_report(checked.question, checked.report or ""),
    Check.SIDE_OR_LEVEL: lambda checked, _: screen_side(
        checked.question, checked.radiographs, checked.report
    ),
    Check.ANSWER_REVEALED: lambda checked, _: screen_answer_revealed(checked.question),
    Check.PATIENT_DATA: lambda checked, _: _find_patient_data(checked),
}


def apply_check(check: Check, checked: CheckedQuestion, settings: Settings) -> CheckResult:
    """Apply a check of :data:`QUESTION_CHECKS` to a question."""
    missing_need = checked.find_missing_need(CHECKS[check].needs)
    if missing_need is not None:
        return CheckResult(check=check, missing_need=missing_need)
    return CheckResult(check=check, problem=QUESTION_CHECKS[check](checked, settings))


# ------------------------------------------------------------------------------------- many questions at once
@dataclass(frozen=True, slots=True, kw_only=True)
class DueCheck:
    """A check that is due for the questions with ids above ``after``."""

    check: Check
    settings: Settings
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionBlock:
    """Questions to check, with plain values, so that another process can check them.

    ``rows`` contains (question id, import id, exam key, report, values of ``QUESTION_COLUMNS``) by ascending
    id. ``expected`` has the expectations of each import. ``radiographs`` has the radiographs of exams with
    boxes, by the key of the exam.
    """

    rows: Sequence[tuple[Any, ...]]
    expected: Mapping[int, Expectations]
    radiographs: Mapping[str, tuple[ImageGeometry, ...]] = field(default_factory=dict)
    due: tuple[DueCheck, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockResult:
    """What the checks found in a block up to the question id ``through``.

    ``problems`` contains (question id, field, reason), ``missing`` the number of questions that were not
    checked, by what they lack. Both have an entry for each check that was due. The problems are plain values,
    because objects take ten times as long from one process to another.
    """

    through: int
    questions: int
    problems: Mapping[Check, list[tuple[int, str, str]]] = field(default_factory=dict)
    missing: Mapping[Check, Counter[Need]] = field(default_factory=dict)


def check_block(block: QuestionBlock) -> BlockResult:
    """Apply the due checks to the questions of a block. The block has at least one question."""
    problems: dict[Check, list[tuple[int, str, str]]] = {due.check: [] for due in block.due}
    missing: dict[Check, Counter[Need]] = {due.check: Counter() for due in block.due}
    # Like apply_check, but without an object for each result: nearly all results are "passed".
    due_checks = [
        (due.check, QUESTION_CHECKS[due.check], CHECKS[due.check].needs, due.settings, due.after)
        for due in block.due
    ]
    structural_checks = frozenset(due.check for due in block.due if due.check in CHECKS_ON_IMPORT)
    minimum = max((int(due.settings.get("minimum_explanation", 0)) for due in block.due), default=0)
    for number, checked, is_sound in _read_questions(block, minimum_explanation=minimum):
        for check, function, needs, settings, after in due_checks:
            if number <= after or (is_sound and check in structural_checks):
                continue
            need = checked.find_missing_need(needs) if needs else None
            if need is not None:
                missing[check][need] += 1
                continue
            problem = function(checked, settings)
            if problem is not None:
                problems[check].append((number, problem.field, problem.reason))
    return BlockResult(
        through=block.rows[-1][0], questions=len(block.rows), problems=problems, missing=missing
    )


#: This many questions are tested together. If one of them may have a structural problem, each is checked.
_TESTED_TOGETHER = 20


def _read_questions(
    block: QuestionBlock, *, minimum_explanation: int
) -> Iterator[tuple[int, CheckedQuestion, bool]]:
    """Yield (id, question, whether it is certain that no structural check reports it)."""
    for start in range(0, len(block.rows), _TESTED_TOGETHER):
        rows = block.rows[start : start + _TESTED_TOGETHER]
        group = [row_to_checked_question(row, block.expected, block.radiographs) for row in rows]
        is_sound = _are_certainly_sound(group, minimum_explanation)
        for row, checked in zip(rows, group, strict=True):
            yield row[0], checked, is_sound


def _are_certainly_sound(group: Sequence[CheckedQuestion], minimum_explanation: int) -> bool:
    questions = [checked.question for checked in group]
    if not all(
        question.format.has_options and question.difficulty and question.category and question.task
        for question in questions
    ) or any(checked.expected.option_count not in (None, QUICK_OPTION_COUNT) for checked in group):
        return False
    return all(question.category.strip() for question in questions if question.category) and (
        certainly_has_no_problems(
            [question.stem for question in questions],
            [question.options for question in questions],
            [question.explanation for question in questions],
            [box.label for question in questions for box in question.boxes],
            minimum_explanation,
        )
    )


def row_to_checked_question(
    row: Sequence[Any],
    expected: Mapping[int, Expectations],
    radiographs: Mapping[str, tuple[ImageGeometry, ...]],
) -> CheckedQuestion:
    """Convert a row of a block."""
    _, import_id, exam_key, report, *values = row
    question = question_from_columns(exam_key, values)
    return CheckedQuestion(
        question=question,
        expected=expected[import_id],
        report=report,
        radiographs=radiographs.get(exam_key, ()),
        word_bits=read_question_bits(question),
    )
