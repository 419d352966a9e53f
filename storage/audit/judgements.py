"""Saved judgements in the form of audit entries, for comparison with the audit trail."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlmodel import Session

from domain.errors import DomainError
from domain.verdicts import OwnAnswer
from records.values import answer_from_json
from records.verdicts import image_display_from_column, verdict_to_plain
from storage.audit.contents import (
    ADJUDICATE,
    COMMIT_OWN_ANSWER,
    GIVE_VERDICT,
    MARK_ANSWER,
    OPEN_REPORT,
    SKIP_QUESTION,
    SUBMIT_READING,
    adjudication_to_plain,
    mark_subject,
    mark_to_plain,
    own_answer_to_plain,
    question_subject,
    reading_to_plain,
    report_opening_to_plain,
    skip_to_plain,
)
from storage.reader_study.marks import mark_from_row
from storage.reader_study.readings import reading_from_row
from storage.review.adjudications import adjudication_from_row
from storage.review.verdicts import verdict_from_row
from storage.rows.adjudications import AdjudicationRow
from storage.rows.marks import AnswerMarkRow
from storage.rows.studies import CaseRow, ReadingRow, StudyReaderRow
from storage.rows.verdicts import OwnAnswerRow, ReportOpeningRow, SkipRow, VerdictRow

_BLOCK = 2_000  # rows in memory at a time

#: The actions of judgements in the audit trail.
JUDGEMENT_ACTIONS = (
    GIVE_VERDICT, COMMIT_OWN_ANSWER, SKIP_QUESTION, OPEN_REPORT, ADJUDICATE, SUBMIT_READING,
    MARK_ANSWER,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedJudgement:
    """A saved judgement, with the action and the new value that its audit entry must have.

    ``reason`` is the reason that the entry must have; it is None if the new value contains the reason.
    """

    action: str
    person_id: int
    subject: str
    new: dict[str, Any]
    at: datetime
    reason: str | None = None


def iterate_saved_judgements(db: Session) -> Generator[SavedJudgement]:
    """Yield verdicts, own answers, skips, report openings, adjudications, readings (in the app) and marks."""
    for row in _iterate_rows(db, VerdictRow):
        try:
            new = verdict_to_plain(verdict_from_row(row))
        except (DomainError, ValueError, KeyError) as error:  # the row was altered and is not a valid verdict
            new = {"unreadable": str(error)}
        yield _saved_judgement(GIVE_VERDICT, row, new, row.given_at)
    for row in _iterate_rows(db, OwnAnswerRow):
        try:
            answer = None if row.answer is None else answer_from_json(row.answer)
            own_answer = OwnAnswer(
                answer=answer,
                confidence=row.confidence,
                committed_at=row.committed_at,
                image=image_display_from_column(row.image),
            )
            new = own_answer_to_plain(own_answer)
        except (DomainError, ValueError) as error:
            new = {"unreadable": str(error)}
        yield _saved_judgement(COMMIT_OWN_ANSWER, row, new, row.committed_at)
    for row in _iterate_rows(db, SkipRow):
        new = skip_to_plain(number=row.number, reason=row.reason, skipped_at=row.skipped_at)
        yield _saved_judgement(SKIP_QUESTION, row, new, row.skipped_at)
    for row in _iterate_rows(db, ReportOpeningRow):
        try:
            new = report_opening_to_plain(
                image_alignment=row.image_alignment,
                opened_at=row.opened_at,
                image=image_display_from_column(row.image),
            )
        except ValueError as error:
            new = {"unreadable": str(error)}
        yield _saved_judgement(OPEN_REPORT, row, new, row.opened_at)
    for row in _iterate_rows(db, AdjudicationRow):
        try:
            new = adjudication_to_plain(adjudication_from_row(row))
        except (DomainError, ValueError, KeyError, TypeError) as error:
            new = {"unreadable": str(error)}
        yield replace(_saved_judgement(ADJUDICATE, row, new, row.given_at), reason=row.reason)
    yield from _iterate_readings(db)
    yield from _iterate_marks(db)


def _iterate_readings(db: Session) -> Iterator[SavedJudgement]:
    """Yield the readings made in the app. Imported readings share one entry per file and are not compared."""
    statement = (
        select(*ReadingRow.__table__.columns, CaseRow.number.label("case_number"), StudyReaderRow.person_id)
        .join(CaseRow, CaseRow.id == ReadingRow.case_id)
        .join(StudyReaderRow, StudyReaderRow.id == ReadingRow.reader_id)
        .where(~ReadingRow.outside)
    )
    with db.execute(statement.execution_options(yield_per=_BLOCK)) as rows:
        for row in rows:
            try:
                new = reading_to_plain(reading_from_row(row))
            except (DomainError, ValueError, KeyError, TypeError) as error:
                new = {"unreadable": str(error)}
            yield SavedJudgement(
                action=SUBMIT_READING,
                person_id=row.person_id,
                subject=f"study {row.study_id} reader {row.reader_id} case {row.case_number}",
                new=new,
                at=row.read_at,
            )


def _iterate_marks(db: Session) -> Iterator[SavedJudgement]:
    statement = select(*AnswerMarkRow.__table__.columns, CaseRow.number.label("case_number")).join(
        CaseRow, CaseRow.id == AnswerMarkRow.case_id
    )
    with db.execute(statement.execution_options(yield_per=_BLOCK)) as rows:
        for row in rows:
            try:
                new = mark_to_plain(mark_from_row(row))
            except ValueError as error:
                new = {"unreadable": str(error)}
            yield SavedJudgement(
                action=MARK_ANSWER,
                person_id=row.marked_by,
                subject=mark_subject(study_id=row.study_id, case_number=row.case_number),
                new=new,
                at=row.marked_at,
            )


def _iterate_rows(db: Session, table: Any) -> Iterator[Any]:  # noqa: ANN401 - one of the tables, and its rows
    with db.execute(select(table.__table__).execution_options(yield_per=_BLOCK)) as rows:
        yield from rows


def _saved_judgement(action: str, row: Any, new: dict[str, Any], at: datetime) -> SavedJudgement:  # noqa: ANN401 - as above
    return SavedJudgement(
        action=action,
        person_id=row.person_id,
        subject=question_subject(batch_id=row.batch_id, question_row_id=row.question_id),
        new=new,
        at=at,
    )
