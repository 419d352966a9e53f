"""Services for checking a dataset and reading the problems that were detected.

Checking has two steps, because it takes minutes for a million questions and SQLite has only one writer:
:func:`find_problems` only reads, and :func:`record_problems` is one short write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record
from domain.errors import InvalidValue
from domain.people import Action, Person, require
from domain.problems import Check, Problem
from domain.questions import Question
from quality.checks import check_question
from storage.intake import datasets
from storage.intake.datasets import DatasetSummary, ImportedFile
from storage.intake.questions import load_question, load_questions
from storage.quality import problems
from storage.quality.problems import ProblemCount, ProblemExample
from storage.sampling import frames

__all__ = [
    "CheckReport",
    "DatasetProblems",
    "DatasetSummary",
    "DetectedProblems",
    "ProblemCount",
    "ProblemExample",
    "find_problems",
    "list_dataset_problems",
    "list_datasets",
    "list_examples",
    "list_imported_files",
    "load_check_report",
    "load_question_with_problem",
    "record_problems",
]

_BLOCK_SIZE = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The stored problems of a dataset: ``with_problems`` of ``questions`` questions, and counts by check.

    ``minimum_explanation`` is the minimum length of an explanation in characters.
    """

    dataset: str
    questions: int
    with_problems: int
    minimum_explanation: int
    counts: tuple[ProblemCount, ...]

    def count_of(self, check: Check) -> int:
        """Return the number of problems that a check detected, at most one per question."""
        return sum(problem_count.questions for problem_count in self.counts if problem_count.check is check)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetProblems:
    """A dataset with its numbers of questions, and of questions with a problem of any check."""

    name: str
    questions: int
    with_problems: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedProblems:
    """The result of the checks before it is stored. ``problems`` contains (question id, problem).

    Questions up to the id ``last_question`` were checked. ``minimum_explanation`` is the minimum length of an
    explanation in characters.
    """

    dataset_id: int
    minimum_explanation: int
    last_question: int
    problems: tuple[tuple[int, Problem], ...]


def find_problems(
    db: Session,
    *,
    by: Person,
    dataset: str,
    minimum_explanation: int | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> DetectedProblems:
    """Run the four checks on all questions of a dataset, as its file formats require; writes nothing.

    Args:
        db: a read-only session, so that other people can save at the same time.
        by: the acting person.
        dataset: the name of the dataset.
        minimum_explanation: the minimum length of an explanation in characters; None for the dataset's
            setting.
        progress: a function that is called with the number of checked questions and the number of questions.

    Raises:
        NotFound: there is no such dataset.
        InvalidValue: the minimum is below 0.
    """
    require(by, Action.IMPORT_QUESTIONS)
    summary = datasets.load_dataset(db, name=dataset)
    minimum = summary.minimum_explanation if minimum_explanation is None else minimum_explanation
    if minimum < 0:
        raise InvalidValue("minimum_explanation", f"must be 0 or more characters, not {minimum}")
    detected: list[tuple[int, Problem]] = []
    # Equal problems share one object to save memory, because a few problems occur a million times.
    shared_problems: dict[Problem, Problem] = {}
    done_count = last_number = 0
    expected = datasets.load_expectations(db, dataset_id=summary.id)
    while numbers := problems.list_question_imports(
        db, dataset_id=summary.id, after=last_number, count=_BLOCK_SIZE
    ):
        detected.extend(
            (number, shared_problems.setdefault(problem, problem))
            for number, question in load_questions(db, question_ids=numbers)
            for problem in check_question(
                question, expected=expected[numbers[number]], minimum_explanation=minimum
            )
        )
        done_count, last_number = done_count + len(numbers), max(numbers)
        progress(done_count, summary.questions)
    return DetectedProblems(
        dataset_id=summary.id,
        minimum_explanation=minimum,
        last_question=last_number,
        problems=tuple(detected),
    )


def record_problems(db: Session, *, by: Person, detected: DetectedProblems, now: datetime) -> None:
    """Replace the stored problems of the checked questions, and store the minimum of the dataset.

    Questions that were imported since the check keep the problems that their import found.
    """
    require(by, Action.IMPORT_QUESTIONS)
    datasets.set_minimum_explanation(
        db, dataset_id=detected.dataset_id, characters=detected.minimum_explanation
    )
    problems.remove_problems(db, dataset_id=detected.dataset_id, up_to=detected.last_question)
    problems.add_problems(db, dataset_id=detected.dataset_id, problems=detected.problems)
    record(
        db,
        by=by,
        what="check questions",
        subject=f"dataset {detected.dataset_id}",
        new={
            "minimum_explanation": detected.minimum_explanation,
            "last_question": detected.last_question,
            "problems": len(detected.problems),
        },
        now=now,
    )


def load_check_report(db: Session, *, by: Person, dataset: str) -> CheckReport:
    """Count the stored problems of a dataset.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    summary = datasets.load_dataset(db, name=dataset)
    return CheckReport(
        dataset=dataset,
        questions=summary.questions,
        with_problems=problems.count_questions_with_problems(db, dataset_id=summary.id),
        minimum_explanation=summary.minimum_explanation,
        counts=tuple(problems.count_problems(db, dataset_id=summary.id)),
    )


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


def load_question_with_problem(db: Session, *, by: Person, question_number: int) -> Question:
    """Load a question with its key, which people with access to the checks may see.

    Raises:
        NotFound: there is no such question.
    """
    require(by, Action.SEE_CHECKS)
    return load_question(db, question_id=question_number)


def list_datasets(db: Session, *, by: Person) -> list[DatasetSummary]:
    """List all datasets by name, with their numbers of questions and exams."""
    require(by, Action.SEE_CHECKS)
    return datasets.list_datasets(db)


def list_dataset_problems(db: Session, *, by: Person) -> list[DatasetProblems]:
    """List all datasets in the order of creation."""
    require(by, Action.SEE_CHECKS)
    sizes = frames.load_dataset_sizes(db)
    counts = problems.count_questions_with_problems_by_dataset(db)
    numbers = {name: number for number, name in frames.load_dataset_names(db).items()}
    return [
        DatasetProblems(name=name, questions=questions, with_problems=counts.get(numbers[name], 0))
        for name, questions in sizes.items()
    ]


def list_imported_files(db: Session, *, by: Person, dataset: str) -> list[ImportedFile]:
    """List the files that were imported into a dataset, the latest first.

    Raises:
        NotFound: there is no such dataset.
    """
    require(by, Action.SEE_CHECKS)
    return datasets.list_imported_files(db, dataset_id=datasets.load_dataset(db, name=dataset).id)
