"""Storage of juries: plans, judges and votes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import delete, func, select
from sqlmodel import Session

from domain.checks import Check
from domain.errors import NotFound
from domain.juries import SAME_FAMILY, CriterionAnswer, Judge, Jury, Vote
from domain.vocabulary import Difficulty
from storage.intake.bulk import insert_rows
from storage.rows.datasets import DatasetRow, QuestionRow
from storage.rows.juries import JuryJudgeRow, JuryRow, JuryVoteRow
from storage.rows.language_models import ModelRunRow, PromptVersionRow
from storage.rows.verdicts import VerdictRow
from storage.types import AnySelect

_CHUNK = 500  # bound parameters in one IN (...), below SQLite's limit on any build


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCount:
    """How many questions a family answered with the same answers, or failed to answer for the same reason."""

    family: str
    answers: tuple[CriterionAnswer, ...]
    failure: str
    questions: int


def lock_dataset(db: Session, *, dataset_id: int) -> None:
    """Wait for other transactions that plan juries of the dataset; SQLite has one writer at a time anyway."""
    db.execute(select(DatasetRow.id).where(DatasetRow.id == dataset_id).with_for_update())


def add_jury(
    db: Session,
    *,
    dataset_id: int,
    questions: int,
    unknown_authors: int,
    written_by: str | None,
    override_reason: str,
    person_id: int | None,
    now: datetime,
) -> int:
    """Store a jury without judges and return its id."""
    row = JuryRow(
        dataset_id=dataset_id,
        questions=questions,
        unknown_authors=unknown_authors,
        written_by=written_by,
        override_reason=override_reason,
        planned_by=person_id,
        planned_at=now,
    )
    db.add(row)
    db.flush()
    return row.id or 0


def add_judge(
    db: Session,
    *,
    jury_id: int,
    check: Check,
    family: str,
    model: str,
    is_test_model: bool,
    prompt_id: int,
    model_run_id: int | None,
    excluded: Collection[int],
) -> None:
    """Store a judge and its exclusions: the questions that a model of its family wrote."""
    row = JuryJudgeRow(
        jury_id=jury_id,
        check_name=check.value,
        family=family,
        model=model,
        is_test_model=is_test_model,
        prompt_id=prompt_id,
        model_run_id=model_run_id,
    )
    db.add(row)
    db.flush()
    _insert_votes(db, row.id or 0, ((number, "", SAME_FAMILY) for number in excluded))


def load_jury(db: Session, *, jury_id: int) -> Jury:
    """Return a jury with its judges.

    Raises:
        NotFound: there is no such jury.
    """
    statement = select(JuryRow, DatasetRow.name).join(DatasetRow, DatasetRow.id == JuryRow.dataset_id)
    row = db.execute(statement.where(JuryRow.id == jury_id)).first()
    if row is None:
        raise NotFound(f"There is no jury {jury_id}. `cli.py jury list` shows all.")
    return _jury_from_row(row[0], row[1], _list_judges(db, jury_id))


def list_juries(db: Session, *, dataset_id: int | None = None) -> list[Jury]:
    """Return the juries of a dataset, or of all, the newest first."""
    statement = select(JuryRow, DatasetRow.name).join(DatasetRow, DatasetRow.id == JuryRow.dataset_id)
    if dataset_id is not None:
        statement = statement.where(JuryRow.dataset_id == dataset_id)
    rows = db.execute(statement.order_by(JuryRow.id.desc())).all()
    return [_jury_from_row(row, name, _list_judges(db, row.id or 0)) for row, name in rows]


def list_question_ids(db: Session, *, dataset_id: int, judged_only: bool) -> list[int]:
    """Return the ids of the questions of a dataset, or only of those with a verdict, in order."""
    statement = select(QuestionRow.id).where(QuestionRow.dataset_id == dataset_id)
    if judged_only:
        statement = statement.where(QuestionRow.id.in_(select(VerdictRow.question_id)))
    return list(db.execute(statement.order_by(QuestionRow.id)).scalars())


def load_generators(db: Session, *, question_ids: Collection[int]) -> dict[int, str | None]:
    """Return the stated generator of each of at most 500 questions."""
    statement = select(QuestionRow.id, QuestionRow.generator).where(QuestionRow.id.in_(question_ids))
    return {row.id: row.generator for row in db.execute(statement)}


def load_difficulties(db: Session, *, question_ids: Collection[int]) -> dict[int, Difficulty]:
    """Return the stated difficulty by question id; a question without one is missing."""
    numbers, difficulties = sorted(question_ids), dict[int, Difficulty]()
    for start in range(0, len(numbers), _CHUNK):
        statement = select(QuestionRow.id, QuestionRow.difficulty).where(
            QuestionRow.id.in_(numbers[start : start + _CHUNK]), QuestionRow.difficulty.is_not(None)
        )
        difficulties |= {row.id: Difficulty(row.difficulty) for row in db.execute(statement)}
    return difficulties


def load_voted_questions(
    db: Session, *, dataset_id: int, check: Check, prompt_id: int, model: str
) -> tuple[set[int], set[int]]:
    """Return the ids of questions a model judged with a prompt version, and of those it must not judge."""
    statement = (
        select(JuryVoteRow.question_id, JuryVoteRow.answers, JuryVoteRow.failure)
        .join(JuryJudgeRow, JuryJudgeRow.id == JuryVoteRow.judge_id)
        .join(JuryRow, JuryRow.id == JuryJudgeRow.jury_id)
        .where(
            JuryRow.dataset_id == dataset_id,
            JuryJudgeRow.check_name == check.value,
            JuryJudgeRow.prompt_id == prompt_id,
            JuryJudgeRow.model == model,
        )
    )
    judged, excluded = set(), set()
    for number, answers, failure in db.execute(statement):
        if answers:
            judged.add(number)
        elif failure == SAME_FAMILY:
            excluded.add(number)
    return judged, excluded


def replace_votes(db: Session, *, judge_id: int, votes: Iterable[tuple[int, Vote]]) -> None:
    """Replace the votes of a judge, failed ones included. Its exclusions stay."""
    db.execute(
        delete(JuryVoteRow).where(JuryVoteRow.judge_id == judge_id, JuryVoteRow.failure != SAME_FAMILY)
    )
    _insert_votes(db, judge_id, ((number, ",".join(vote.answers), vote.failure) for number, vote in votes))


def iterate_votes(
    db: Session, *, dataset_id: int, check: Check, prompt: str
) -> Iterator[tuple[int, list[Vote]]]:
    """Yield (question id, votes in the order of the juries) of the questions voted on by a prompt version."""
    statement = _select_votes(dataset_id=dataset_id, check=check, prompt=prompt)
    rows = db.connection().execute(statement, execution_options={"yield_per": 10_000})
    for number, group in groupby(rows, key=lambda row: row[0]):
        yield number, [_vote_from_columns(*row[1:]) for row in group]


def load_votes(
    db: Session, *, dataset_id: int, check: Check, prompt: str, question_ids: Collection[int]
) -> dict[int, list[Vote]]:
    """Return the votes on some questions by id; a question without votes is missing."""
    numbers, votes = sorted(question_ids), dict[int, list[Vote]]()
    for start in range(0, len(numbers), _CHUNK):
        statement = _select_votes(dataset_id=dataset_id, check=check, prompt=prompt).where(
            JuryVoteRow.question_id.in_(numbers[start : start + _CHUNK])
        )
        for number, *columns in db.execute(statement):
            votes.setdefault(number, []).append(_vote_from_columns(*columns))
    return votes


def count_questions_voted_by_check(db: Session, *, dataset_id: int, check: Check, prompt: str) -> int:
    """Return the number of questions with a vote by this prompt version, usable or not."""
    votes = _select_votes(dataset_id=dataset_id, check=check, prompt=prompt).order_by(None).subquery()
    return int(db.execute(select(func.count(votes.c.question_id.distinct()))).scalar_one())


def count_questions_voted_by_all_checks(
    db: Session, *, dataset_id: int, prompts: Mapping[Check, str], through: int | None = None
) -> int:
    """Return the number of questions with a vote by the prompt version of each check, usable or not.

    Args:
        db: the session.
        dataset_id: the id of the dataset.
        prompts: the prompt version of each check, whose votes count.
        through: the highest id of a question that counts; None for all questions.
    """
    statement = select(func.count()).where(QuestionRow.dataset_id == dataset_id)
    if through is not None:
        statement = statement.where(QuestionRow.id <= through)
    for check, prompt in prompts.items():
        votes = _select_votes(dataset_id=dataset_id, check=check, prompt=prompt).order_by(None).subquery()
        statement = statement.where(QuestionRow.id.in_(select(votes.c.question_id)))
    return int(db.execute(statement).scalar_one())


def count_answers(db: Session, *, dataset_id: int, check: Check, prompt: str) -> list[AnswerCount]:
    """Count the votes by family and answers."""
    votes = _select_votes(dataset_id=dataset_id, check=check, prompt=prompt).order_by(None).subquery()
    columns = (votes.c.family, votes.c.answers, votes.c.failure)
    statement = select(*columns, func.count()).group_by(*columns).order_by(*columns)
    return [
        AnswerCount(family=family, answers=_split_answers(answers), failure=failure, questions=count)
        for family, answers, failure, count in db.execute(statement)
    ]


def list_votes_of_question(db: Session, *, question_id: int) -> list[tuple[Judge, Vote]]:
    """Return all votes on a question with their judges, in the order of the juries."""
    votes = {
        row.judge_id: _vote_from_columns("", row.answers, row.failure)
        for row in db.execute(select(JuryVoteRow).where(JuryVoteRow.question_id == question_id)).scalars()
    }
    statement = _select_judges().where(JuryJudgeRow.id.in_(votes)).order_by(JuryJudgeRow.id)
    judges = [_judge_from_columns(*row) for row in db.execute(statement)]
    return [(judge, votes[judge.id]) for judge in judges]


def _select_votes(*, dataset_id: int, check: Check, prompt: str) -> AnySelect:
    name, _, version = prompt.rpartition("@")
    return (
        select(JuryVoteRow.question_id, JuryJudgeRow.family, JuryVoteRow.answers, JuryVoteRow.failure)
        .join(JuryJudgeRow, JuryJudgeRow.id == JuryVoteRow.judge_id)
        .join(JuryRow, JuryRow.id == JuryJudgeRow.jury_id)
        .join(PromptVersionRow, PromptVersionRow.id == JuryJudgeRow.prompt_id)
        .where(
            JuryRow.dataset_id == dataset_id,
            JuryJudgeRow.check_name == check.value,
            PromptVersionRow.name == name,
            PromptVersionRow.version == int(version),
        )
        .order_by(JuryVoteRow.question_id, JuryJudgeRow.id)
    )


def _insert_votes(db: Session, judge_id: int, rows: Iterable[tuple[int, str, str]]) -> None:
    insert_rows(
        db,
        table="jury_vote",
        columns=("judge_id", "question_id", "answers", "failure"),
        rows=((judge_id, *row) for row in rows),
    )


def _list_judges(db: Session, jury_id: int) -> tuple[Judge, ...]:
    statement = _select_judges().where(JuryJudgeRow.jury_id == jury_id).order_by(JuryJudgeRow.id)
    return tuple(_judge_from_columns(*row) for row in db.execute(statement))


def _select_judges() -> AnySelect:
    return (
        select(JuryJudgeRow, PromptVersionRow.name, PromptVersionRow.version, ModelRunRow.name)
        .join(PromptVersionRow, PromptVersionRow.id == JuryJudgeRow.prompt_id)
        .outerjoin(ModelRunRow, ModelRunRow.id == JuryJudgeRow.model_run_id)
    )


def _judge_from_columns(row: JuryJudgeRow, prompt: str, version: int, run: str | None) -> Judge:
    return Judge(
        id=row.id or 0,
        check=Check(row.check_name),
        family=row.family,
        model=row.model,
        prompt=f"{prompt}@{version}",
        model_run=run,
        is_test_model=row.is_test_model,
    )


def _jury_from_row(row: JuryRow, dataset: str, judges: tuple[Judge, ...]) -> Jury:
    return Jury(
        id=row.id or 0,
        dataset=dataset,
        questions=row.questions,
        unknown_authors=row.unknown_authors,
        written_by=row.written_by,
        override_reason=row.override_reason,
        planned_at=row.planned_at,
        judges=judges,
    )


def _vote_from_columns(family: str, answers: str, failure: str) -> Vote:
    return Vote(family=family, answers=_split_answers(answers), failure=failure)


def _split_answers(answers: str) -> tuple[CriterionAnswer, ...]:
    return tuple(CriterionAnswer(answer) for answer in answers.split(",")) if answers else ()
