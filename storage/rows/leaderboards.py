"""Tables of leaderboards. All but the members of teams are append-only by trigger."""

from datetime import datetime

from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from storage.rows import people, releases  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import UtcDateTime


class LeaderboardRow(TableRow, table=True):
    """A leaderboard with the quotas of each team."""

    __tablename__ = "leaderboard"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    max_per_day: int
    max_per_month: int
    max_total: int
    uses_ladder: bool
    seed: int
    created_by: int | None = Field(default=None, foreign_key="person.id")
    created_at: datetime = Field(sa_type=UtcDateTime)


class LeaderboardReleaseRow(TableRow, table=True):
    """A release whose private split a leaderboard uses; the highest version counts.

    ``question_ids`` is JSON: the ids of the private questions in the file, sorted. ``clusters`` is JSON: the
    patient of each of them as a number from 0.
    """

    __tablename__ = "leaderboard_release"

    leaderboard_id: int = Field(foreign_key="leaderboard.id", primary_key=True)
    version: int = Field(primary_key=True)
    release_id: int = Field(foreign_key="release.id")
    question_ids: str
    clusters: str
    questions: int
    cluster_count: int
    keys_sha256: str
    added_at: datetime = Field(sa_type=UtcDateTime)


class LeaderboardTeamRow(TableRow, table=True):
    """A team of a leaderboard."""

    __tablename__ = "leaderboard_team"
    __table_args__ = (UniqueConstraint("leaderboard_id", "name"),)

    id: int | None = Field(default=None, primary_key=True)
    leaderboard_id: int = Field(foreign_key="leaderboard.id")
    name: str
    created_at: datetime = Field(sa_type=UtcDateTime)


class LeaderboardMemberRow(TableRow, table=True):
    """A member of a team; a person has at most one team on a leaderboard."""

    __tablename__ = "leaderboard_member"

    leaderboard_id: int = Field(foreign_key="leaderboard.id", primary_key=True)
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    team_id: int = Field(foreign_key="leaderboard_team.id")


class LeaderboardSubmissionRow(TableRow, table=True):
    """A submission. A row exists only if it counts for the quotas and has a score.

    ``answers`` is JSON: the answers to the private questions, sorted by the id of the question; null for a
    reply without a recognised answer.
    """

    __tablename__ = "leaderboard_submission"
    __table_args__ = (UniqueConstraint("team_id", "file_sha256"),)

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="leaderboard_team.id")
    method: str
    description: str
    url: str
    access: str
    is_public: bool
    file_sha256: str
    file_bytes: int
    answers: str
    submitted_by: int | None = Field(default=None, foreign_key="person.id")
    submitted_at: datetime = Field(sa_type=UtcDateTime)


class LeaderboardScoreRow(TableRow, table=True):
    """The score of a submission on one version of the leaderboard.

    ``outcomes`` has the result of each question and never leaves the server (leaderboard.outcomes).
    ``is_disclosed`` is False if the Ladder kept the former score of the team.
    """

    __tablename__ = "leaderboard_score"

    submission_id: int = Field(foreign_key="leaderboard_submission.id", primary_key=True)
    version: int = Field(primary_key=True)
    n: int
    correct: int
    low: float | None = None
    high: float | None = None
    outcomes: str
    is_disclosed: bool
    code_version: str
    scored_at: datetime = Field(sa_type=UtcDateTime)


class LeaderboardSelectionRow(TableRow, table=True):
    """The submission that a team has selected for the leaderboard; the latest counts."""

    __tablename__ = "leaderboard_selection"

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="leaderboard_team.id")
    submission_id: int = Field(foreign_key="leaderboard_submission.id")
    selected_by: int | None = Field(default=None, foreign_key="person.id")
    selected_at: datetime = Field(sa_type=UtcDateTime)


class LeaderboardReferenceRow(TableRow, table=True):
    """A reference row of a version of a leaderboard; of rows with the same kind, the latest counts."""

    __tablename__ = "leaderboard_reference"

    id: int | None = Field(default=None, primary_key=True)
    leaderboard_id: int = Field(foreign_key="leaderboard.id")
    version: int
    kind: str
    name: str
    n: int
    estimate: float
    low: float | None = None
    high: float | None = None
    note: str
    created_at: datetime = Field(sa_type=UtcDateTime)
