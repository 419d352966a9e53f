"""Problems reported by the checks, by dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import and_, delete, func, select, true
from sqlmodel import Session

from domain.checks import Check, Problem
from storage.intake.bulk import insert_rows
from storage.rows.checks import DatasetCheckRow
from storage.rows.datasets import ExamRow, ProblemRow, QuestionRow
from storage.types import AnySelect

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemCount:
    """The number of questions of a dataset with a problem of one check in one field."""

    check: Check
    field: str
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemExample:
    """A problem and the question that has it."""

    question_row_id: int
    question_id: str
    problem: Problem


def replace_problems(
    db: Session, *, dataset_id: int, check: Check, problems: Iterable[tuple[int, Problem]]
) -> None:
    """Replace a check's problems in a dataset. ``problems`` has (database id of the question, problem)."""
    db.execute(
        delete(ProblemRow).where(ProblemRow.dataset_id == dataset_id, ProblemRow.check_name == check.value)
    )
    rows = ((number, problem.field, problem.reason) for number, problem in problems)
    _insert_problems(db, dataset_id, {check: rows})


def replace_problems_of_block(
    db: Session,
    *,
    dataset_id: int,
    after: int,
    through: int,
    problems: Mapping[Check, Iterable[tuple[int, str, str]]],
) -> None:
    """Replace what checks reported for the questions with ids above ``after``, up to ``through``.

    ``problems`` has, for each of the checks, (database id, field, reason) of these questions only.
    """
    db.execute(
        delete(ProblemRow).where(
            ProblemRow.question_id > after,
            ProblemRow.question_id <= through,
            # The sum keeps the database from choosing the index of the dataset and check, which would walk
            # through all their problems for each block.
            ProblemRow.dataset_id + 0 == dataset_id,
            ProblemRow.check_name.in_([check.value for check in problems]),
        )
    )
    _insert_problems(db, dataset_id, problems)


def _insert_problems(
    db: Session, dataset_id: int, problems: Mapping[Check, Iterable[tuple[int, str, str]]]
) -> None:
    insert_rows(
        db,
        table="problem",
        columns=("question_id", "check_name", "field", "dataset_id", "reason"),
        rows=(
            (number, check.value, field, dataset_id, reason)
            for check, check_problems in problems.items()
            for number, field, reason in check_problems
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
    return sorted(counts, key=lambda count: (order.index(count.check), -count.questions, count.field))


def count_questions_with_problems(
    db: Session, *, dataset_id: int, checks: Collection[Check], through: int | None = None
) -> int:
    """Return how many questions of the dataset up to the id ``through`` have a problem of the checks."""
    statement = select(func.count(ProblemRow.question_id.distinct())).where(
        ProblemRow.dataset_id == dataset_id, ProblemRow.check_name.in_([check.value for check in checks])
    )
    if through is not None:
        statement = statement.where(ProblemRow.question_id <= through)
    return int(db.execute(statement).scalar_one())


def select_with_problems(
    *, dataset_id: int, checks: Collection[Check], except_for: AnySelect | None = None
) -> AnySelect:
    """Select the ids of the dataset's questions that have a problem of any of the checks.

    ``except_for`` is a query for the ids of questions to omit.
    """
    statement = select(ProblemRow.question_id).where(
        ProblemRow.dataset_id == dataset_id, ProblemRow.check_name.in_([check.value for check in checks])
    )
    return statement if except_for is None else statement.where(ProblemRow.question_id.not_in(except_for))


def count_questions_with_problems_by_dataset(db: Session) -> dict[int, int]:
    """Return how many questions have a problem of a check that is on, by the id of their dataset."""
    statement = (
        select(ProblemRow.dataset_id, func.count(ProblemRow.question_id.distinct()))
        .outerjoin(
            DatasetCheckRow,
            and_(
                DatasetCheckRow.dataset_id == ProblemRow.dataset_id,
                DatasetCheckRow.check_name == ProblemRow.check_name,
            ),
        )
        .where(func.coalesce(DatasetCheckRow.is_on, true()))
        .group_by(ProblemRow.dataset_id)
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
            question_row_id=row.question_id,
            question_id=key,
            problem=Problem(check=Check(row.check_name), field=row.field, reason=row.reason),
        )
        for row, key in db.execute(statement)
    ]


def iterate_problems(
    db: Session, *, dataset_id: int, check: Check | None
) -> Iterator[tuple[str, str, Problem]]:
    """Yield (question key, exam key, problem) of all problems of a check, or of all checks, by question."""
    statement = (
        select(QuestionRow.key, ExamRow.key, ProblemRow.check_name, ProblemRow.field, ProblemRow.reason)
        .join(QuestionRow, QuestionRow.id == ProblemRow.question_id)
        .join(ExamRow, ExamRow.id == QuestionRow.exam_id)
        .where(ProblemRow.dataset_id == dataset_id)
        .order_by(ProblemRow.question_id, ProblemRow.check_name, ProblemRow.field)
    )
    if check is not None:
        statement = statement.where(ProblemRow.check_name == check.value)
    for row in db.connection().execute(statement, execution_options={"yield_per": 10_000}):
        yield row[0], row[1], Problem(check=Check(row[2]), field=row[3], reason=row[4])


def map_checks_to_questions(db: Session, *, question_ids: Collection[int]) -> dict[Check, set[int]]:
    """Return which of the questions have a problem, by check."""
    numbers, questions = sorted(question_ids), dict[Check, set[int]]()
    for start in range(0, len(numbers), _CHUNK):
        statement = select(ProblemRow.check_name, ProblemRow.question_id).where(
            ProblemRow.question_id.in_(numbers[start : start + _CHUNK])
        )
        for check, number in db.execute(statement):
            questions.setdefault(Check(check), set()).add(number)
    return questions


def list_problems_of_question(db: Session, *, question_id: int) -> list[Problem]:
    """Return the problems of one question, in the order of the checks."""
    rows = db.execute(select(ProblemRow).where(ProblemRow.question_id == question_id)).scalars()
    order = list(Check)
    return sorted(
        (Problem(check=Check(row.check_name), field=row.field, reason=row.reason) for row in rows),
        key=lambda problem: (order.index(problem.check), problem.field),
    )
