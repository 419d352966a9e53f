"""Storage of problems reported in released questions, and of who may report them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from domain.adjudications import Adjudication
from domain.errata import ErratumReport
from domain.errors import AlreadyThere
from domain.questions import Question
from domain.studies import StudyState
from domain.verdicts import ErrorKind
from records.questions import QUESTION_COLUMNS, question_from_columns, question_to_columns
from records.values import from_json, to_json
from storage.review.adjudications import adjudication_from_row
from storage.rows.adjudications import AdjudicationRow
from storage.rows.datasets import DatasetRow, QuestionRow
from storage.rows.people import PersonRow
from storage.rows.releases import ErratumReportRow, ReleaseItemRow, ReleaseRow
from storage.rows.studies import CaseRow, ReaderStudyRow, ReadingRow, StudyReaderRow
from storage.rows.verdicts import VerdictRow

_CHUNK = 500  # bound parameters in one IN (...)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedQuestion:
    """A question of a release: its id in the database and in the file, and its split (``side``).

    ``stem`` is the stem as imported. ``is_judged`` states whether a certain person gave a verdict on it.
    """

    question_row_id: int
    question_id: str
    side: str
    stem: str
    is_judged: bool


def list_reportable_questions(
    db: Session,
    *,
    release_id: int,
    person_id: int,
    sees_all: bool,
    text: str = "",
    question_id: str | None = None,
    limit: int,
) -> list[ReleasedQuestion]:
    """Return questions of a release in which a person may report a problem, in the order of import.

    A person who does not see all may report in questions on which they gave a verdict, and in those that they
    read in a closed study. Questions of a study in which they still read are left out.

    Args:
        db: a session.
        release_id: the id of the release.
        person_id: the id of the person.
        sees_all: whether the person may see every question.
        text: a part of the id or of the stem; "" for all.
        question_id: the id of the question; None for all.
        limit: the largest number of questions.
    """
    is_judged = exists().where(VerdictRow.question_id == QuestionRow.id, VerdictRow.person_id == person_id)
    statement = (
        select(
            QuestionRow.id,
            QuestionRow.key,
            QuestionRow.stem,
            ReleaseItemRow.side,
            is_judged.label("is_judged"),
        )
        .join(ReleaseItemRow, ReleaseItemRow.question_id == QuestionRow.id)
        .where(ReleaseItemRow.release_id == release_id)
        .order_by(QuestionRow.id)
        .limit(limit)
    )
    if text:
        pattern = text.lower()
        statement = statement.where(
            or_(
                func.lower(QuestionRow.key).contains(pattern, autoescape=True),
                func.lower(QuestionRow.stem).contains(pattern, autoescape=True),
            )
        )
    if question_id is not None:
        statement = statement.where(QuestionRow.key == question_id)
    if not sees_all:
        has_read = _is_case_of_reader(person_id, StudyState.CLOSED) & exists().where(
            ReadingRow.reader_id == StudyReaderRow.id, ReadingRow.case_id == CaseRow.id
        )
        is_reading = _is_case_of_reader(person_id, StudyState.OPEN)
        statement = statement.where(or_(is_judged, _exists_case(has_read)), ~_exists_case(is_reading))
    return [
        ReleasedQuestion(
            question_row_id=row.id,
            question_id=row.key,
            side=row.side,
            stem=row.stem,
            is_judged=bool(row.is_judged),
        )
        for row in db.execute(statement)
    ]


def _is_case_of_reader(person_id: int, state: StudyState) -> ColumnElement[bool]:
    return and_(
        CaseRow.question_id == QuestionRow.id,
        StudyReaderRow.study_id == CaseRow.study_id,
        StudyReaderRow.person_id == person_id,
        ReaderStudyRow.id == CaseRow.study_id,
        ReaderStudyRow.state == state.value,
    )


def _exists_case(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    return (
        select(CaseRow.id)
        .select_from(CaseRow, StudyReaderRow, ReaderStudyRow)
        .where(condition)
        .correlate(QuestionRow)
        .exists()
    )


def add_report(
    db: Session,
    *,
    release_id: int,
    question: Question,
    question_row_id: int,
    side: str,
    kind: ErrorKind,
    text: str,
    by: int | None,
    now: datetime,
) -> int:
    """Append a report and return its id. ``question`` is the question as the release has it.

    Raises:
        AlreadyThere: the person has reported this kind of problem of the question already.
    """
    row = ErratumReportRow(
        release_id=release_id,
        question_id=question_row_id,
        side=side,
        kind=kind.value,
        text=text,
        released=to_json({"exam": question.exam_id, **question_to_columns(question)}),
        reported_by=by,
        reported_at=now,
    )
    try:
        with db.begin_nested():
            db.add(row)
    except IntegrityError as error:
        raise AlreadyThere("You have already reported this kind of problem in this question.") from error
    return row.id or 0


def list_reports(
    db: Session,
    *,
    dataset_id: int | None = None,
    reporter_id: int | None = None,
    question_row_ids: Collection[int] | None = None,
) -> list[ErratumReport]:
    """Return all reports, or those in a dataset, by a person, or in some questions; the oldest first."""
    statement = (
        select(
            ErratumReportRow, ReleaseRow.name.label("release"), DatasetRow.name.label("dataset"),
            QuestionRow.key, PersonRow.display_name,
        )
        .join(ReleaseRow, ReleaseRow.id == ErratumReportRow.release_id)
        .join(DatasetRow, DatasetRow.id == ReleaseRow.dataset_id)
        .join(QuestionRow, QuestionRow.id == ErratumReportRow.question_id)
        .outerjoin(PersonRow, PersonRow.id == ErratumReportRow.reported_by)
        .order_by(ErratumReportRow.id)
    )  # fmt: skip
    if dataset_id is not None:
        statement = statement.where(ReleaseRow.dataset_id == dataset_id)
    if reporter_id is not None:
        statement = statement.where(ErratumReportRow.reported_by == reporter_id)
    if question_row_ids is not None:
        statement = statement.where(ErratumReportRow.question_id.in_(question_row_ids))
    return [_report_from_row(row) for row in db.execute(statement)]


def count_reports(db: Session) -> int:
    """Return the number of all reports."""
    return int(db.execute(select(func.count()).select_from(ErratumReportRow)).scalar_one())


def load_reports_by_question(
    db: Session, *, question_row_ids: Sequence[int]
) -> dict[int, tuple[ErratumReport, ...]]:
    """Return the reports in these questions by the id of the question, the oldest first."""
    reports = defaultdict(list)
    for start in range(0, len(question_row_ids), _CHUNK):
        for report in list_reports(db, question_row_ids=question_row_ids[start : start + _CHUNK]):
            reports[report.question_row_id].append(report)
    return {number: tuple(question_reports) for number, question_reports in reports.items()}


def load_last_adjudications(db: Session, *, question_row_ids: Sequence[int]) -> dict[int, Adjudication]:
    """Return the latest adjudication of each question in any batch, by the id of the question."""
    latest: dict[int, Adjudication] = {}
    for start in range(0, len(question_row_ids), _CHUNK):
        rows = db.execute(
            select(*AdjudicationRow.__table__.c)
            .where(AdjudicationRow.question_id.in_(question_row_ids[start : start + _CHUNK]))
            .order_by(AdjudicationRow.given_at, AdjudicationRow.revision)
        )
        latest.update((row.question_id, adjudication_from_row(row)) for row in rows)
    return latest


def _report_from_row(row: Any) -> ErratumReport:  # noqa: ANN401 - a row with the selected columns
    report: ErratumReportRow = row[0]
    released = from_json(report.released)  # an older report lacks columns that were added later
    return ErratumReport(
        id=report.id or 0,
        release_id=report.release_id,
        release=row.release,
        dataset=row.dataset,
        question_row_id=report.question_id,
        question_id=row.key,
        side=report.side,
        kind=ErrorKind(report.kind),
        text=report.text,
        released=question_from_columns(released["exam"], [released.get(name) for name in QUESTION_COLUMNS]),
        reporter_id=report.reported_by,
        reported_by=row.display_name,
        reported_at=report.reported_at,
    )
