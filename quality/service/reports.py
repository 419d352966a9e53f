"""Services that read the results of the checks: counts, examples, and all problems as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from sqlmodel import Session

from domain.checks import (
    CHECKS,
    CHECKS_ON_IMPORT,
    JURY_CHECKS,
    Check,
    CheckDeclaration,
    CheckResult,
    Need,
    Problem,
)
from domain.people import Action, Person, require
from domain.questions import Question
from domain.table_cells import escape_formula
from quality.question_checks import row_to_checked_question
from quality.service.jury_results import (
    count_judged,
    count_judged_by_all,
    load_jury_outcomes,
    outcome_to_result,
)
from quality.service.runs import is_checked
from quality.service.settings import has_current_settings
from storage.intake import datasets
from storage.intake.datasets import DatasetSummary, ImportedFile
from storage.intake.questions import load_question
from storage.quality import check_states, examined_questions, problems, question_blocks
from storage.quality.check_states import CheckState
from storage.quality.problems import ProblemCount, ProblemExample
from storage.sampling import frames

__all__ = ["DatasetSummary", "ProblemCount", "ProblemExample"]

_CSV_COLUMNS = ("question", "exam", "check", "severity", "field", "reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLine:
    """The counts of one check in a dataset.

    ``questions`` = ``passed`` + ``with_problem`` + all of ``not_checked`` + ``not_run``. ``not_run`` is the
    number of questions that are newer than the last run of the check, or that no jury judged.
    ``is_outdated`` states that the next run starts again, because version or settings of the check changed.
    """

    declaration: CheckDeclaration
    state: CheckState
    questions: int
    with_problem: int
    not_checked: Mapping[Need, int]
    not_run: int
    is_outdated: bool

    @property
    def check(self) -> Check:
        """The check."""
        return self.declaration.check

    @property
    def passed(self) -> int:
        """The number of questions that were checked and have no problem."""
        return self.questions - self.with_problem - sum(self.not_checked.values()) - self.not_run


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The results of the checks of a dataset.

    ``with_problems`` is the number of questions with a problem of any check that is switched on. The other
    questions are valid, V(Q) = 1 in ReXVQA's equation 1. ``waiting`` is the number of questions on which some
    check that is switched on has not run with its present version and settings. ``minimum_explanation`` is in
    characters.
    """

    dataset: str
    questions: int
    with_problems: int
    waiting: int
    minimum_explanation: int
    counts: tuple[ProblemCount, ...]
    lines: tuple[CheckLine, ...]

    @property
    def valid(self) -> int:
        """The number of questions without a problem of any check that is switched on."""
        return self.questions - self.with_problems

    def count_of(self, check: Check) -> int:
        """Return the number of problems that a check detected, at most one per question and field."""
        return sum(problem_count.questions for problem_count in self.counts if problem_count.check is check)

    @property
    def is_complete(self) -> bool:
        """Whether all checks that are switched on have run on all questions, with their present settings."""
        return not self.waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetProblems:
    """The number of questions of a dataset, and how many of them have a problem."""

    name: str
    questions: int
    with_problems: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutcomes:
    """The ids of the questions that a check has checked, and of the questions with a problem of it."""

    checked: frozenset[int]
    reported: frozenset[int]


def load_check_report(db: Session, *, by: Person, dataset: str) -> CheckReport:
    """Count the stored problems of a dataset.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    summary = datasets.load_dataset(db, name=dataset)
    states = check_states.load_states(db, dataset_id=summary.id)
    counts = tuple(problems.count_problems(db, dataset_id=summary.id))
    not_run = _count_not_run(db, summary, states)
    lines = tuple(
        _build_line(
            summary,
            state,
            not_run=not_run[check],
            with_problem=problems.count_questions_with_problems(db, dataset_id=summary.id, checks=[check]),
        )
        for check, state in states.items()
    )
    return CheckReport(
        dataset=dataset,
        questions=summary.questions,
        with_problems=problems.count_questions_with_problems(
            db, dataset_id=summary.id, checks=[check for check, state in states.items() if state.is_on]
        ),
        waiting=_count_waiting(db, summary, lines),
        minimum_explanation=summary.minimum_explanation,
        counts=counts,
        lines=lines,
    )


def _count_not_run(
    db: Session, summary: DatasetSummary, states: Mapping[Check, CheckState]
) -> dict[Check, int]:
    """Return the number of questions on which each check has not run."""
    newer_counts: dict[int, int] = {}
    not_run: dict[Check, int] = {}
    for check, state in states.items():
        if check in CHECKS_ON_IMPORT:
            not_run[check] = 0
        elif check in JURY_CHECKS:
            not_run[check] = summary.questions - count_judged(db, dataset_id=summary.id, state=state)
        else:
            after = state.checked_through
            if after not in newer_counts:
                newer_counts[after] = question_blocks.count_questions(db, dataset_id=summary.id, after=after)
            not_run[check] = newer_counts[after]
    return not_run


def _count_waiting(db: Session, summary: DatasetSummary, lines: Collection[CheckLine]) -> int:
    """Return the number of questions on which some check that is switched on has not run."""
    incomplete = [line for line in lines if line.state.is_on and (line.not_run or line.is_outdated)]
    if not incomplete:
        return 0
    # A jury may have judged any of the questions. The other checks run in the order of ids.
    jury_states = [line.state for line in incomplete if line.check in JURY_CHECKS]
    other_lines = [line for line in incomplete if line.check not in JURY_CHECKS]
    through = min(
        (0 if line.is_outdated else line.state.checked_through for line in other_lines), default=None
    )
    complete_count = count_judged_by_all(db, dataset_id=summary.id, states=jury_states, through=through)
    return summary.questions - complete_count


def _build_line(summary: DatasetSummary, state: CheckState, *, not_run: int, with_problem: int) -> CheckLine:
    declaration = CHECKS[state.check]
    has_run = state.version is not None
    return CheckLine(
        declaration=declaration,
        state=state,
        questions=summary.questions,
        with_problem=with_problem,
        not_checked=state.missing_needs,
        not_run=not_run,
        is_outdated=has_run
        and (state.version != declaration.version or not has_current_settings(state, summary)),
    )


def list_results(db: Session, *, by: Person, question_row_id: int) -> list[CheckResult]:
    """List the result of each check that is switched on for one question, in the order of the checks.

    Raises:
        NotFound: there is no such question.
    """
    require(by, Action.SEE_CHECKS)
    load_question(db, question_id=question_row_id)
    dataset_id, row = question_blocks.load_question_row(db, question_id=question_row_id)
    from_runs = examined_questions.list_questions_from_runs(db, question_ids=[question_row_id])
    checked = replace(
        row_to_checked_question(row, datasets.load_expectations(db, dataset_id=dataset_id), {}),
        is_from_run=question_row_id in from_runs,
    )
    first_problems: dict[Check, Problem] = {}
    for problem in problems.list_problems_of_question(db, question_id=question_row_id):
        first_problems.setdefault(problem.check, problem)
    results = []
    for check, state in check_states.load_states(db, dataset_id=dataset_id).items():
        if not state.is_on:
            continue
        if check in JURY_CHECKS:
            outcomes = load_jury_outcomes(
                db, dataset_id=dataset_id, state=state, question_ids=[question_row_id]
            )
            results.append(outcome_to_result(check, outcomes.get(question_row_id)))
        elif check in first_problems:
            results.append(CheckResult(check=check, problem=first_problems[check]))
        elif not is_checked(state, question_id=question_row_id):
            results.append(CheckResult(check=check, missing_need=Need.RESULT))
        else:
            missing_need = checked.find_missing_need(CHECKS[check].needs)
            results.append(CheckResult(check=check, missing_need=missing_need))
    return results


def load_check_outcomes(
    db: Session, *, by: Person, dataset: str, question_row_ids: Collection[int]
) -> dict[Check, CheckOutcomes]:
    """Load the results of all checks for some questions of a dataset, whether the checks are on or off.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    summary = datasets.load_dataset(db, name=dataset)
    states = check_states.load_states(db, dataset_id=summary.id)
    expected = datasets.load_expectations(db, dataset_id=summary.id)
    checked: dict[Check, set[int]] = {check: set() for check in CHECKS}
    from_runs = examined_questions.list_questions_from_runs(db, question_ids=question_row_ids)
    for row in question_blocks.load_rows(db, question_ids=question_row_ids):
        question = replace(row_to_checked_question(row, expected, {}), is_from_run=row[0] in from_runs)
        for check, state in states.items():
            if (
                check not in JURY_CHECKS
                and is_checked(state, question_id=row[0])
                and question.find_missing_need(CHECKS[check].needs) is None
            ):
                checked[check].add(row[0])
    for check in JURY_CHECKS:
        outcomes = load_jury_outcomes(
            db, dataset_id=summary.id, state=states[check], question_ids=question_row_ids
        )
        checked[check] = {number for number, outcome in outcomes.items() if outcome.missing_need is None}
    reported = problems.map_checks_to_questions(db, question_ids=question_row_ids)
    return {
        check: CheckOutcomes(checked=frozenset(checked[check]), reported=frozenset(reported.get(check, ())))
        for check in CHECKS
    }


def iterate_problems_csv(db: Session, *, by: Person, dataset: str, check: Check | None) -> Iterator[str]:
    """Yield the lines of a CSV file with all problems of a check, or of all checks.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    summary = datasets.load_dataset(db, name=dataset)
    yield _format_csv_line(_CSV_COLUMNS)
    for question, exam, problem in problems.iterate_problems(db, dataset_id=summary.id, check=check):
        severity = CHECKS[problem.check].severity
        yield _format_csv_line(
            (question, exam, problem.check.value, severity.value, problem.field, problem.reason)
        )


def _format_csv_line(values: Collection[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([escape_formula(value) for value in values])
    return line.getvalue()


def list_examples(
    db: Session,
    *,
    by: Person,
    dataset: str,
    check: Check,
    field: str | None = None,
    offset: int = 0,
    limit: int = 20,
) -> list[ProblemExample]:
    """List questions with a problem, in the order of import.

    Args:
        db: a read-only session.
        by: the acting person.
        dataset: the name of the dataset.
        check: the check that detected the problem.
        field: the field with the problem; None for all fields.
        offset: the number of questions to skip.
        limit: the maximum number of questions to return.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    summary = datasets.load_dataset(db, name=dataset)
    return problems.list_problem_examples(
        db, dataset_id=summary.id, check=check, field=field, first=offset, count=limit
    )


def load_question_with_problem(db: Session, *, by: Person, question_row_id: int) -> Question:
    """Load a question with its key, which people with access to the checks may see.

    Raises:
        NotFound: there is no such question.
    """
    require(by, Action.SEE_CHECKS)
    return load_question(db, question_id=question_row_id)


def list_datasets(db: Session, *, by: Person) -> list[DatasetSummary]:
    """List all datasets by name, with their numbers of questions and exams."""
    require(by, Action.SEE_CHECKS)
    return datasets.list_datasets(db)


def list_dataset_problems(db: Session, *, by: Person) -> list[DatasetProblems]:
    """List all datasets in the order of creation, with the number of questions with a problem."""
    require(by, Action.SEE_CHECKS)
    sizes = frames.load_dataset_sizes(db)
    counts = problems.count_questions_with_problems_by_dataset(db)
    ids_by_name = {name: number for number, name in frames.load_dataset_names(db).items()}
    return [
        DatasetProblems(name=name, questions=questions, with_problems=counts.get(ids_by_name[name], 0))
        for name, questions in sizes.items()
    ]


def list_imported_files(db: Session, *, by: Person, dataset: str) -> list[ImportedFile]:
    """List the files that were imported into a dataset, the latest first.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    return datasets.list_imported_files(db, dataset_id=datasets.load_dataset(db, name=dataset).id)
