"""Checking a dataset, and looking at what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlmodel import Session

from domain.errors import InvalidValue
from domain.people import Action, Person, require
from domain.problems import Check
from domain.questions import Question
from quality.checks import check_question
from storage import datasets, problems
from storage.datasets import DatasetSummary, ImportedFile
from storage.problems import ProblemCount, ProblemExample
from storage.questions import load_question, load_questions

__all__ = [
    "CheckReport",
    "DatasetSummary",
    "ProblemCount",
    "ProblemExample",
    "check_dataset",
    "examples",
    "imported_files",
    "list_datasets",
    "question_with_problem",
    "report",
]

_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What the checks found in a dataset: ``with_problems`` of ``questions``; by check."""

    dataset: str
    questions: int
    with_problems: int
    minimum_explanation: int
    counts: tuple[ProblemCount, ...]

    def of(self, check: Check) -> int:
        """How many problems that check found: at most one a question."""
        return sum(each.questions for each in self.counts if each.check is check)


def check_dataset(
    db: Session,
    *,
    by: Person,
    dataset: str,
    minimum_explanation: int | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> CheckReport:
    """Run the four checks on every question of the dataset; what was found before is replaced.

    Args:
        db: the caller's session.
        by: who checks.
        dataset: its name.
        minimum_explanation: in characters; kept as the dataset's setting. None leaves it.
        progress: is told how many of how many are done.

    Raises:
        NotFound: there is no such dataset.
        InvalidValue: a minimum below 0.
    """
    require(by, Action.IMPORT_QUESTIONS)
    summary = datasets.dataset_named(db, name=dataset)
    if minimum_explanation is not None:
        if minimum_explanation < 0:
            raise InvalidValue(
                "minimum_explanation", f"must be 0 or more characters, not {minimum_explanation}"
            )
        datasets.set_minimum_explanation(db, dataset_id=summary.id, characters=minimum_explanation)
    minimum = summary.minimum_explanation if minimum_explanation is None else minimum_explanation
    problems.remove_problems(db, dataset_id=summary.id)
    done = after = 0
    while numbers := problems.question_numbers(db, dataset_id=summary.id, after=after, count=_AT_ONCE):
        found = [
            (number, problem)
            for number, question in load_questions(db, question_ids=numbers)
            for problem in check_question(question, minimum_explanation=minimum)
        ]
        problems.add_problems(db, dataset_id=summary.id, found=found)
        done, after = done + len(numbers), numbers[-1]
        progress(done, summary.questions)
    return report(db, by=by, dataset=dataset)


def report(db: Session, *, by: Person, dataset: str) -> CheckReport:
    """What was found when the dataset was last checked: at its imports, or later.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    summary = datasets.dataset_named(db, name=dataset)
    return CheckReport(
        dataset=dataset,
        questions=summary.questions,
        with_problems=problems.questions_with_problems(db, dataset_id=summary.id),
        minimum_explanation=summary.minimum_explanation,
        counts=tuple(problems.count_problems(db, dataset_id=summary.id)),
    )


def examples(
    db: Session,
    *,
    by: Person,
    dataset: str,
    check: Check,
    field: str | None = None,
    first: int = 0,
    count: int = 20,
) -> list[ProblemExample]:
    """Questions that a check found something in, in the order in which they came.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    summary = datasets.dataset_named(db, name=dataset)
    return problems.problem_examples(
        db, dataset_id=summary.id, check=check, field=field, first=first, count=count
    )


def question_with_problem(db: Session, *, by: Person, question_number: int) -> Question:
    """One of those questions, whole: whoever checks may see the key.

    Raises:
        NotFound: there is no such question.
    """
    require(by, Action.SEE_CHECKS)
    return load_question(db, question_id=question_number)


def list_datasets(db: Session, *, by: Person) -> list[DatasetSummary]:
    """All datasets by name, with how much is in each."""
    require(by, Action.SEE_CHECKS)
    return datasets.list_datasets(db)


def imported_files(db: Session, *, by: Person, dataset: str) -> list[ImportedFile]:
    """The files that came into a dataset, the latest first.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    return datasets.imported_files(db, dataset_id=datasets.dataset_named(db, name=dataset).id)
