"""Leaderboards: teams submit predictions for the private split of a release and see aggregate scores only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from domain.errors import InvalidValue

MAX_NAME_LENGTH = 80
#: No team may have this name: it heads the first column of the significance map, whose other columns are
#: teams.
RESERVED_TEAM_NAME = "Team"
_MAX_DESCRIPTION_LENGTH = 1_000
_MAX_QUOTA = 10_000
_URL = re.compile(r"https?://[^\s<>\"]{1,500}")


class ModelAccess(StrEnum):
    """Where the submitted answers were computed.

    OWN: on computers of the team.
    API: by a provider, who has received the private questions and images.
    """

    OWN = "own computers"
    API = "API of a provider"


class ReferenceKind(StrEnum):
    """The reference rows of a leaderboard, which have no rank."""

    CHANCE = "chance"
    TEXT_ONLY = "text only"
    READERS = "readers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """The number of submissions that a team may make per calendar day, per calendar month (UTC) and in total.

    Raises:
        InvalidValue: a number is not 1 to 10,000, or a longer period permits fewer submissions.
    """

    per_day: int
    per_month: int
    total: int

    def __post_init__(self) -> None:
        for name in ("per_day", "per_month", "total"):
            if not 1 <= getattr(self, name) <= _MAX_QUOTA:
                raise InvalidValue(
                    f"submissions {name.replace('_', ' ')}",
                    f"must be 1 to {_MAX_QUOTA:,}, not {getattr(self, name):,}",
                )
        if not self.per_day <= self.per_month <= self.total:
            raise InvalidValue(
                "quotas",
                f"{self.per_day:,} per day, {self.per_month:,} per month and {self.total:,} in total must "
                "not decrease in this order",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaUse:
    """The submissions that a team has made, or has left, on this day, in this month and in total."""

    day: int
    month: int
    total: int

    def remaining(self, quotas: Quotas) -> QuotaUse:
        """Return what is left of each quota, at least 0.

        >>> QuotaUse(day=1, month=4, total=9).remaining(Quotas(per_day=2, per_month=4, total=20))
        QuotaUse(day=1, month=0, total=11)
        """
        return QuotaUse(
            day=max(0, quotas.per_day - self.day),
            month=max(0, quotas.per_month - self.month),
            total=max(0, quotas.total - self.total),
        )

    @property
    def smallest(self) -> int:
        """The smallest of the three numbers; in :meth:`remaining`, the number of submissions possible now."""
        return min(self.day, self.month, self.total)


def quota_periods(now: datetime) -> tuple[tuple[datetime, datetime], tuple[datetime, datetime]]:
    """Return the calendar day and month of a time in UTC, each with its start and its end.

    >>> day, month = quota_periods(datetime(2026, 12, 31, 23, 30, tzinfo=UTC))
    >>> [f"{moment:%Y-%m-%d}" for moment in (*day, *month)]
    ['2026-12-31', '2027-01-01', '2026-12-01', '2027-01-01']
    """
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    month = day.replace(day=1)
    return (day, day + timedelta(days=1)), (month, (month + timedelta(days=31)).replace(day=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard:
    """A leaderboard over the private split of a release.

    Attributes:
        id: the id in the database.
        name: unique.
        dataset: the dataset of the release.
        release: the name of the release that submissions are scored on now.
        version: 1 for the first release of the leaderboard, 2 for the next.
        questions: the number of private questions.
        clusters: the number of patients (or exams, where no patient is stated).
        quotas: the submissions that each team may make.
        uses_ladder: whether the score of a team changes only on a significant gain.
        seed: determines the resamples of the ranking.
        manifest_sha256: the hash of the release's manifest.
        keys_sha256: the hash of the answer keys of the private split.
    """

    id: int
    name: str
    dataset: str
    release: str
    release_id: int
    version: int
    questions: int
    clusters: int
    quotas: Quotas
    uses_ladder: bool
    seed: int
    manifest_sha256: str
    keys_sha256: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A team of a leaderboard; ``members`` are sign-in names, sorted."""

    id: int
    leaderboard_id: int
    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionDetails:
    """What a team states about a submission.

    Raises:
        InvalidValue: a field is not valid.
    """

    method: str
    description: str = ""
    url: str = ""
    access: ModelAccess
    is_public: bool

    def __post_init__(self) -> None:
        check_name(self.method, field="method")
        if len(self.description) > _MAX_DESCRIPTION_LENGTH:
            raise InvalidValue("description", f"must have at most {_MAX_DESCRIPTION_LENGTH:,} characters")
        if not all(char.isprintable() or char == "\n" for char in self.description):
            raise InvalidValue("description", "must not have control characters")
        if self.url and not _URL.fullmatch(self.url):
            raise InvalidValue("URL", "must begin with http:// or https:// and have at most 500 characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A submission without its answers."""

    id: int
    team_id: int
    details: SubmissionDetails
    file_sha256: str
    file_bytes: int
    submitted_by: str | None
    submitted_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DisclosedScore:
    """The score of a submission that its team may see: ``correct`` of ``n`` with a 95 % interval.

    The interval is clustered by patient.
    """

    submission_id: int
    version: int
    n: int
    correct: int
    low: float | None
    high: float | None
    code_version: str
    scored_at: datetime

    @property
    def estimate(self) -> float:
        """The accuracy, 0 to 1."""
        return self.correct / self.n


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A reference row: the accuracy on ``n`` questions, with an interval if one is defined."""

    kind: ReferenceKind
    name: str
    n: int
    estimate: float
    low: float | None = None
    high: float | None = None
    note: str = ""


def check_name(name: str, *, field: str) -> None:
    """Check the name of a leaderboard, a team or a method.

    Raises:
        InvalidValue: the name does not have 1 to 80 printable characters, or has spaces at its ends.
    """
    if not 0 < len(name) <= MAX_NAME_LENGTH or not name.isprintable() or name != name.strip():
        raise InvalidValue(
            field, f"must have 1 to {MAX_NAME_LENGTH} printable characters, without space at its ends"
        )
