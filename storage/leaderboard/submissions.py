"""Storage of submissions, their scores, and which submission a team has selected."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlmodel import Session

from domain.leaderboards import DisclosedScore, ModelAccess, QuotaUse, Submission, SubmissionDetails
from domain.questions import Answer
from storage.rows.leaderboards import (
    LeaderboardScoreRow,
    LeaderboardSelectionRow,
    LeaderboardSubmissionRow,
    LeaderboardTeamRow,
)
from storage.rows.people import PersonRow
from storage.types import AnyRow, AnySelect


@dataclass(frozen=True, slots=True, kw_only=True)
class NewScore:
    """A score to be stored. ``outcomes`` is text in the format of :mod:`leaderboard.outcomes`."""

    n: int
    correct: int
    low: float | None
    high: float | None
    outcomes: str
    is_disclosed: bool
    code_version: str


def add_submission(
    db: Session,
    *,
    team_id: int,
    details: SubmissionDetails,
    file_sha256: str,
    file_bytes: int,
    answers: Sequence[Answer | None],
    by: int | None,
    now: datetime,
) -> int:
    """Store a submission without a score and return its id."""
    row = LeaderboardSubmissionRow(
        team_id=team_id,
        method=details.method,
        description=details.description,
        url=details.url,
        access=details.access.value,
        is_public=details.is_public,
        file_sha256=file_sha256,
        file_bytes=file_bytes,
        answers=json.dumps(answers, ensure_ascii=False, separators=(",", ":")),
        submitted_by=by,
        submitted_at=now,
    )
    db.add(row)
    db.flush()
    return row.id or 0


def add_score(db: Session, *, submission_id: int, version: int, score: NewScore, now: datetime) -> None:
    """Store the score of a submission on a version of the leaderboard."""
    db.add(
        LeaderboardScoreRow(
            submission_id=submission_id,
            version=version,
            n=score.n,
            correct=score.correct,
            low=score.low,
            high=score.high,
            outcomes=score.outcomes,
            is_disclosed=score.is_disclosed,
            code_version=score.code_version,
            scored_at=now,
        )
    )
    db.flush()


def count_submissions(
    db: Session, *, team_id: int, day: tuple[datetime, datetime], month: tuple[datetime, datetime]
) -> QuotaUse:
    """Count the submissions of a team on a day, in a month, and all.

    A period is given by its first moment and the first moment of the next period. A file that is sent before
    midnight and stored after it counts for the day on which it was sent.
    """

    def count(period: tuple[datetime, datetime] | None) -> int:
        statement = select(func.count()).where(LeaderboardSubmissionRow.team_id == team_id)
        if period is not None:
            start, end = period
            statement = statement.where(
                LeaderboardSubmissionRow.submitted_at >= start, LeaderboardSubmissionRow.submitted_at < end
            )
        return int(db.execute(statement).scalar_one())

    return QuotaUse(day=count(day), month=count(month), total=count(None))


def find_submission_by_file(db: Session, *, team_id: int, file_sha256: str) -> Submission | None:
    """Return the team's submission of a file; None if there is none."""
    row = db.execute(
        _select_submissions().where(
            LeaderboardSubmissionRow.team_id == team_id, LeaderboardSubmissionRow.file_sha256 == file_sha256
        )
    ).one_or_none()
    return None if row is None else _submission_from_row(row)


def load_submission(db: Session, *, submission_id: int) -> Submission:
    """Return the submission with that id, which must exist."""
    return _submission_from_row(
        db.execute(_select_submissions().where(LeaderboardSubmissionRow.id == submission_id)).one()
    )


def list_submissions(db: Session, *, team_ids: Sequence[int]) -> list[Submission]:
    """Return the submissions of teams, the newest first."""
    return [
        _submission_from_row(row)
        for row in db.execute(
            _select_submissions()
            .where(LeaderboardSubmissionRow.team_id.in_(team_ids))
            .order_by(LeaderboardSubmissionRow.id.desc())
        )
    ]


def list_disclosed_scores(
    db: Session, *, team_ids: Sequence[int], version: int | None = None
) -> list[DisclosedScore]:
    """Return the scores that teams may see, in the order of the submissions and versions."""
    statement = (
        select(
            LeaderboardScoreRow.submission_id,
            LeaderboardScoreRow.version,
            LeaderboardScoreRow.n,
            LeaderboardScoreRow.correct,
            LeaderboardScoreRow.low,
            LeaderboardScoreRow.high,
            LeaderboardScoreRow.code_version,
            LeaderboardScoreRow.scored_at,
        )
        .join(LeaderboardSubmissionRow, LeaderboardSubmissionRow.id == LeaderboardScoreRow.submission_id)
        .where(LeaderboardSubmissionRow.team_id.in_(team_ids), LeaderboardScoreRow.is_disclosed)
        .order_by(LeaderboardScoreRow.submission_id, LeaderboardScoreRow.version)
    )
    if version is not None:
        statement = statement.where(LeaderboardScoreRow.version == version)
    return [DisclosedScore(**row._mapping) for row in db.execute(statement)]


def load_outcomes(db: Session, *, submission_ids: Sequence[int], version: int) -> dict[int, str]:
    """Return the outcomes of submissions, which never leave the server, by the id of the submission."""
    statement = select(LeaderboardScoreRow.submission_id, LeaderboardScoreRow.outcomes).where(
        LeaderboardScoreRow.submission_id.in_(submission_ids), LeaderboardScoreRow.version == version
    )
    return {row.submission_id: row.outcomes for row in db.execute(statement)}


def list_disclosures(db: Session, *, team_ids: Sequence[int], version: int) -> dict[int, bool]:
    """Return whether the score of each submission is disclosed, by its id, in the order of the ids."""
    rows = db.execute(
        select(LeaderboardScoreRow.submission_id, LeaderboardScoreRow.is_disclosed)
        .join(LeaderboardSubmissionRow, LeaderboardSubmissionRow.id == LeaderboardScoreRow.submission_id)
        .where(LeaderboardSubmissionRow.team_id.in_(team_ids), LeaderboardScoreRow.version == version)
        .order_by(LeaderboardScoreRow.submission_id)
    )
    return {row.submission_id: row.is_disclosed for row in rows}


def list_first_versions(db: Session, *, team_ids: Sequence[int]) -> dict[int, int]:
    """Return the version to which each submission was made, by the id of the submission."""
    rows = db.execute(
        select(LeaderboardScoreRow.submission_id, func.min(LeaderboardScoreRow.version).label("version"))
        .join(LeaderboardSubmissionRow, LeaderboardSubmissionRow.id == LeaderboardScoreRow.submission_id)
        .where(LeaderboardSubmissionRow.team_id.in_(team_ids))
        .group_by(LeaderboardScoreRow.submission_id)
    )
    return {row.submission_id: row.version for row in rows}


def find_displayed_outcomes(db: Session, *, team_id: int, version: int) -> str | None:
    """Return the outcomes of the team's latest submission with a disclosed score; None if there is none."""
    return db.execute(
        select(LeaderboardScoreRow.outcomes)
        .join(LeaderboardSubmissionRow, LeaderboardSubmissionRow.id == LeaderboardScoreRow.submission_id)
        .where(
            LeaderboardSubmissionRow.team_id == team_id,
            LeaderboardScoreRow.version == version,
            LeaderboardScoreRow.is_disclosed,
        )
        .order_by(LeaderboardScoreRow.submission_id.desc())
        .limit(1)
    ).scalar_one_or_none()


def load_answers(db: Session, *, submission_id: int) -> list[Answer | None]:
    """Return the answers of a submission, in the order of the sorted ids of the questions."""
    text = db.execute(
        select(LeaderboardSubmissionRow.answers).where(LeaderboardSubmissionRow.id == submission_id)
    ).scalar_one()
    return [tuple(answer) if isinstance(answer, list) else answer for answer in json.loads(text)]


def load_code_version(db: Session, *, submission_id: int, version: int) -> str:
    """Return the version of the code that scored a submission on a version of the leaderboard."""
    return db.get_one(LeaderboardScoreRow, (submission_id, version)).code_version


def add_selection(db: Session, *, team_id: int, submission_id: int, by: int | None, now: datetime) -> None:
    """Store which submission a team has selected."""
    db.add(
        LeaderboardSelectionRow(team_id=team_id, submission_id=submission_id, selected_by=by, selected_at=now)
    )
    db.flush()


def list_selections(db: Session, *, leaderboard_id: int) -> dict[int, list[int]]:
    """Return the ids of the submissions that teams have selected, the latest first, by the id of the team."""
    statement = (
        select(LeaderboardSelectionRow.team_id, LeaderboardSelectionRow.submission_id)
        .join(LeaderboardTeamRow, LeaderboardTeamRow.id == LeaderboardSelectionRow.team_id)
        .where(LeaderboardTeamRow.leaderboard_id == leaderboard_id)
        .order_by(LeaderboardSelectionRow.id.desc())
    )
    selections: dict[int, list[int]] = {}
    for row in db.execute(statement):
        selections.setdefault(row.team_id, []).append(row.submission_id)
    return selections


def _select_submissions() -> AnySelect:
    return select(
        LeaderboardSubmissionRow.id,
        LeaderboardSubmissionRow.team_id,
        LeaderboardSubmissionRow.method,
        LeaderboardSubmissionRow.description,
        LeaderboardSubmissionRow.url,
        LeaderboardSubmissionRow.access,
        LeaderboardSubmissionRow.is_public,
        LeaderboardSubmissionRow.file_sha256,
        LeaderboardSubmissionRow.file_bytes,
        LeaderboardSubmissionRow.submitted_at,
        PersonRow.name.label("submitted_by"),
    ).outerjoin(PersonRow, PersonRow.id == LeaderboardSubmissionRow.submitted_by)


def _submission_from_row(row: AnyRow) -> Submission:
    return Submission(
        id=row.id,
        team_id=row.team_id,
        details=SubmissionDetails(
            method=row.method,
            description=row.description,
            url=row.url,
            access=ModelAccess(row.access),
            is_public=row.is_public,
        ),
        file_sha256=row.file_sha256,
        file_bytes=row.file_bytes,
        submitted_by=row.submitted_by,
        submitted_at=row.submitted_at,
    )
