"""Problems reported by the structural checks, by dataset."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlmodel import Session

from domain.problems import Check, Problem
from storage.intake.bulk import insert_rows
from storage.rows.datasets import ProblemRow, QuestionRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemCount:
    """The number of questions of a dataset with a problem of one check in one field."""

    check: Check
    field: str
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemExample:
    """A problem and the question that has it."""

    question_number: int
    question_id: str
    problem: Problem


def remove_problems(db: Session, *, dataset_id: int, up_to: int) -> None:
    """Delete the problems of the dataset's questions with ids up to ``up_to``, which were checked again."""
    db.execute(delete(ProblemRow).where(ProblemRow.dataset_id == dataset_id, ProblemRow.question_id <= up_to))


def add_problems(db: Session, *, dataset_id: int, problems: Iterable[tuple[int, Problem]]) -> None:
    """Add problems, given as (database id of the question, problem)."""
    insert_rows(
        db,
        table="problem",
        columns=("question_id", "check_name", "field", "dataset_id", "reason"),
        rows=(
            (number, problem.check.value, problem.field, dataset_id, problem.reason)
            for number, problem in problems
        ),
    )


def count_problems(db: Session, *, dataset_id: int) -> list[ProblemCount]:
    """Return counts by check and field, in the order of the checks, the most frequent field first."""
    statement = (
        select(ProblemRow.check_name, ProblemRow.field, func.count().label("questions"))
        .where(ProblemRow.dataset_id == dataset_id)
        .group_by(ProblemRow.check_name, ProblemRow.field)
    )
    counts = [
        ProblemCount(check=Check(row.check_name), field=row.field, questions=row.questions)
        for row in db.execute(statement)
    ]
    order = list(Check)
    return sorted(counts, key=lambda item: (order.index(item.check), -item.questions, item.field))


def count_questions_with_problems(db: Session, *, dataset_id: int) -> int:
    """Return how many questions of the dataset have a problem of any check."""
    statement = select(func.count(ProblemRow.question_id.distinct())).where(
        ProblemRow.dataset_id == dataset_id
    )
    return int(db.execute(statement).scalar_one())


def count_questions_with_problems_by_dataset(db: Session) -> dict[int, int]:
    """Return how many questions have a problem of any check, by the id of their dataset."""
    statement = select(ProblemRow.dataset_id, func.count(ProblemRow.question_id.distinct())).group_by(
        ProblemRow.dataset_id
    )
    return {row[0]: row[1] for row in db.execute(statement)}


def list_problem_examples(
    db: Session, *, dataset_id: int, check: Check, field: str | None, first: int, count: int
) -> list[ProblemExample]:
    """Return ``count`` problems of a check (and field, if given) from index ``first``, by question."""
    statement = (
        select(ProblemRow, QuestionRow.key)
        .join(QuestionRow, QuestionRow.id == ProblemRow.question_id)
        .where(ProblemRow.dataset_id == dataset_id, ProblemRow.check_name == check.value)
        .order_by(ProblemRow.question_id)
        .offset(first)
        .limit(count)
    )
    if field is not None:
        statement = statement.where(ProblemRow.field == field)
    return [
        ProblemExample(
            question_number=row.question_id,
            question_id=key,
            problem=Problem(check=Check(row.check_name), field=row.field, reason=row.reason),
        )
        for row, key in db.execute(statement)
    ]


def list_question_imports(db: Session, *, dataset_id: int, after: int, count: int) -> dict[int, int]:
    """Return {question id: import id} of the next ``count`` questions with ids above ``after``."""
    statement = (
        select(QuestionRow.id, QuestionRow.import_id)
        .where(QuestionRow.id > after, QuestionRow.dataset_id == dataset_id)
        .order_by(QuestionRow.id)
        .limit(count)
    )
    return {row.id: row.import_id for row in db.execute(statement)}
