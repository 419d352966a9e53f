"""Applies checks to questions. A check is a function of one question; :data:`QUESTION_CHECKS` lists them.

A check that needs several questions or a language model has its own run and stores its results with
``quality.service.record_results``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from domain.checks import CHECKS, Check, CheckResult, Need, Problem, Settings
from domain.expectations import Expectations
from domain.questions import Question
from quality.structural_checks import check_completeness, check_format, check_schema, check_types
from records.questions import question_from_columns


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedQuestion:
    """A question with what checks compare it with: the format of its file, and the report of its exam."""

    question: Question
    expected: Expectations
    report: str | None = None

    def find_missing_need(self, needs: Sequence[Need]) -> Need | None:
        """Return the first of the needs that the question does not have; None if it has all."""
        return next((need for need in needs if not self._has(need)), None)

    def _has(self, need: Need) -> bool:
        match need:
            case Need.OPTIONS:
                return bool(self.question.options)
            case Need.REPORT:
                return bool(self.report)
            case Need.BOXES:
                return bool(self.question.boxes)
            case Need.RESULT:
                return True


QuestionCheck = Callable[[CheckedQuestion, Settings], Problem | None]

#: The checks that judge one question at a time, in the order of their declarations.
QUESTION_CHECKS: Mapping[Check, QuestionCheck] = {
    Check.SCHEMA: lambda checked, _: check_schema(checked.question, expected=checked.expected),
    Check.TYPES: lambda checked, _: check_types(checked.question),
    Check.FORMAT: lambda checked, settings: check_format(
        checked.question, minimum_explanation=int(settings["minimum_explanation"])
    ),
    Check.COMPLETENESS: lambda checked, _: check_completeness(checked.question, expected=checked.expected),
}


def apply_check(check: Check, checked: CheckedQuestion, settings: Settings) -> CheckResult:
    """Apply a check of :data:`QUESTION_CHECKS` to a question."""
    missing = checked.find_missing_need(CHECKS[check].needs)
    if missing is not None:
        return CheckResult(check=check, not_checked=missing)
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
    id. ``expected`` has the expectations of each import.
    """

    rows: Sequence[tuple[Any, ...]]
    expected: Mapping[int, Expectations]
    due: tuple[DueCheck, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockResult:
    """What the checks found in a block up to the question id ``through``.

    ``problems`` contains (question id, problem), ``missing`` the number of questions that were not checked,
    by what they lack. Both have an entry for each check that was due.
    """

    through: int
    questions: int
    problems: Mapping[Check, list[tuple[int, Problem]]] = field(default_factory=dict)
    missing: Mapping[Check, Counter[Need]] = field(default_factory=dict)


def check_block(block: QuestionBlock) -> BlockResult:
    """Apply the checks that are due to the questions of a block, which has at least one."""
    problems: dict[Check, list[tuple[int, Problem]]] = {due.check: [] for due in block.due}
    missing: dict[Check, Counter[Need]] = {due.check: Counter() for due in block.due}
    for row in block.rows:
        number = row[0]
        checked = row_to_checked_question(row, block.expected)
        for due in block.due:
            if number <= due.after:
                continue
            result = apply_check(due.check, checked, due.settings)
            if result.problem is not None:
                problems[due.check].append((number, result.problem))
            elif result.not_checked is not None:
                missing[due.check][result.not_checked] += 1
    return BlockResult(
        through=block.rows[-1][0], questions=len(block.rows), problems=problems, missing=missing
    )


def row_to_checked_question(row: Sequence[Any], expected: Mapping[int, Expectations]) -> CheckedQuestion:
    """Convert a row of a block."""
    _, import_id, exam_key, report, *values = row
    return CheckedQuestion(
        question=question_from_columns(exam_key, values), expected=expected[import_id], report=report
    )
