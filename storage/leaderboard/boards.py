"""Storage of leaderboards, their releases, teams and reference rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select
from sqlmodel import Session

from domain.errors import NotFound
from domain.leaderboards import Leaderboard, Quotas, Reference, ReferenceKind, Team
from storage.rows.datasets import DatasetRow
from storage.rows.leaderboards import (
    LeaderboardMemberRow,
    LeaderboardReferenceRow,
    LeaderboardReleaseRow,
    LeaderboardRow,
    LeaderboardTeamRow,
)
from storage.rows.people import PersonRow
from storage.rows.releases import ReleaseRow
from storage.types import AnyRow, AnySelect


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateQuestions:
    """The ids of the private questions of a version, sorted, and the patient of each as a number from 0."""

    question_ids: tuple[str, ...]
    clusters: tuple[int, ...]


def add_leaderboard(
    db: Session, *, name: str, quotas: Quotas, uses_ladder: bool, seed: int, by: int | None, now: datetime
) -> int:
    """Store a leaderboard without a release and return its id."""
    row = LeaderboardRow(
        name=name,
        max_per_day=quotas.per_day,
        max_per_month=quotas.per_month,
        max_total=quotas.total,
        uses_ladder=uses_ladder,
        seed=seed,
        created_by=by,
        created_at=now,
    )
    db.add(row)
    db.flush()
    return row.id or 0


def add_version(
    db: Session,
    *,
    leaderboard_id: int,
    version: int,
    release_id: int,
    questions: PrivateQuestions,
    keys_sha256: str,
    now: datetime,
) -> None:
    """Store the release of a version of a leaderboard."""
    db.add(
        LeaderboardReleaseRow(
            leaderboard_id=leaderboard_id,
            version=version,
            release_id=release_id,
            question_ids=json.dumps(questions.question_ids, ensure_ascii=False),
            clusters=json.dumps(questions.clusters, separators=(",", ":")),
            questions=len(questions.question_ids),
            cluster_count=len(set(questions.clusters)),
            keys_sha256=keys_sha256,
            added_at=now,
        )
    )
    db.flush()


def lock_leaderboard(db: Session, *, name: str) -> None:
    """Lock a leaderboard until the end of the transaction, so that its release and submissions agree."""
    db.execute(select(LeaderboardRow.id).where(LeaderboardRow.name == name).with_for_update())


def find_leaderboard(db: Session, *, name: str) -> Leaderboard | None:
    """Return the leaderboard of that name with its newest version; None if there is none."""
    row = db.execute(_select_leaderboards().where(LeaderboardRow.name == name)).one_or_none()
    return None if row is None else _leaderboard_from_row(row)


def load_leaderboard(db: Session, *, name: str, version: int | None = None) -> Leaderboard:
    """Return the leaderboard of that name with one of its versions; None is the newest.

    Raises:
        NotFound: there is no such leaderboard or version.
    """
    if version is None:
        leaderboard = find_leaderboard(db, name=name)
    else:
        row = db.execute(_select_leaderboards(version).where(LeaderboardRow.name == name)).one_or_none()
        leaderboard = None if row is None else _leaderboard_from_row(row)
    if leaderboard is None:
        raise NotFound(
            f"There is no leaderboard {name!r}" + ("." if version is None else f" with version {version}.")
        )
    return leaderboard


def list_leaderboards(db: Session) -> list[Leaderboard]:
    """Return all leaderboards, the newest first."""
    return [
        _leaderboard_from_row(row)
        for row in db.execute(_select_leaderboards().order_by(LeaderboardRow.id.desc()))
    ]


def load_private_questions(db: Session, *, leaderboard_id: int, version: int) -> PrivateQuestions:
    """Return the private questions of a version, without keys."""
    row = db.get_one(LeaderboardReleaseRow, (leaderboard_id, version))
    return PrivateQuestions(
        question_ids=tuple(json.loads(row.question_ids)), clusters=tuple(json.loads(row.clusters))
    )


def add_team(db: Session, *, leaderboard_id: int, name: str, now: datetime) -> int:
    """Store a team and return its id."""
    row = LeaderboardTeamRow(leaderboard_id=leaderboard_id, name=name, created_at=now)
    db.add(row)
    db.flush()
    return row.id or 0


def lock_team(db: Session, *, team_id: int) -> None:
    """Lock a team until the end of the transaction, so that its submissions are counted one by one."""
    db.execute(select(LeaderboardTeamRow.id).where(LeaderboardTeamRow.id == team_id).with_for_update())


def list_teams(db: Session, *, leaderboard_id: int) -> list[Team]:
    """Return the teams of a leaderboard, sorted by name, with their members."""
    members: dict[int, list[str]] = {}
    statement = (
        select(LeaderboardMemberRow.team_id, PersonRow.name)
        .join(PersonRow, PersonRow.id == LeaderboardMemberRow.person_id)
        .where(LeaderboardMemberRow.leaderboard_id == leaderboard_id)
        .order_by(PersonRow.name)
    )
    for row in db.execute(statement):
        members.setdefault(row.team_id, []).append(row.name)
    teams = db.execute(
        select(LeaderboardTeamRow)
        .where(LeaderboardTeamRow.leaderboard_id == leaderboard_id)
        .order_by(LeaderboardTeamRow.name)
    ).scalars()
    return [
        Team(
            id=team.id or 0,
            leaderboard_id=leaderboard_id,
            name=team.name,
            members=tuple(members.get(team.id or 0, ())),
        )
        for team in teams
    ]


def find_team_id_of_person(db: Session, *, leaderboard_id: int, person_id: int) -> int | None:
    """Return the id of the person's team on a leaderboard; None if the person has none."""
    return db.execute(
        select(LeaderboardMemberRow.team_id).where(
            LeaderboardMemberRow.leaderboard_id == leaderboard_id, LeaderboardMemberRow.person_id == person_id
        )
    ).scalar_one_or_none()


def list_leaderboards_of_person(db: Session, *, person_id: int) -> set[int]:
    """Return the ids of the leaderboards on which the person is in a team."""
    statement = select(LeaderboardMemberRow.leaderboard_id).where(LeaderboardMemberRow.person_id == person_id)
    return set(db.execute(statement).scalars())


def add_member(db: Session, *, leaderboard_id: int, team_id: int, person_id: int) -> None:
    """Store that a person is a member of a team."""
    db.add(LeaderboardMemberRow(leaderboard_id=leaderboard_id, team_id=team_id, person_id=person_id))
    db.flush()


def remove_member(db: Session, *, leaderboard_id: int, person_id: int) -> None:
    """Remove a person from their team on a leaderboard."""
    db.execute(
        delete(LeaderboardMemberRow).where(
            LeaderboardMemberRow.leaderboard_id == leaderboard_id, LeaderboardMemberRow.person_id == person_id
        )
    )


def add_references(
    db: Session, *, leaderboard_id: int, version: int, references: Sequence[Reference], now: datetime
) -> None:
    """Store reference rows of a version."""
    for reference in references:
        db.add(
            LeaderboardReferenceRow(
                leaderboard_id=leaderboard_id,
                version=version,
                kind=reference.kind.value,
                name=reference.name,
                n=reference.n,
                estimate=reference.estimate,
                low=reference.low,
                high=reference.high,
                note=reference.note,
                created_at=now,
            )
        )
    db.flush()


def list_references(db: Session, *, leaderboard_id: int, version: int) -> list[Reference]:
    """Return the reference rows of a version in the order of their kinds; the latest of each kind."""
    rows = db.execute(
        select(LeaderboardReferenceRow)
        .where(
            LeaderboardReferenceRow.leaderboard_id == leaderboard_id,
            LeaderboardReferenceRow.version == version,
        )
        .order_by(LeaderboardReferenceRow.id)
    ).scalars()
    latest = {ReferenceKind(row.kind): row for row in rows}
    return [
        Reference(
            kind=kind,
            name=latest[kind].name,
            n=latest[kind].n,
            estimate=latest[kind].estimate,
            low=latest[kind].low,
            high=latest[kind].high,
            note=latest[kind].note,
        )
        for kind in ReferenceKind
        if kind in latest
    ]


def _select_leaderboards(version: int | None = None) -> AnySelect:
    """Select leaderboards with ``version``; None is their newest."""
    newest = (
        select(LeaderboardReleaseRow.leaderboard_id, func.max(LeaderboardReleaseRow.version).label("version"))
        .group_by(LeaderboardReleaseRow.leaderboard_id)
        .subquery()
    )
    return (
        select(
            LeaderboardRow.id,
            LeaderboardRow.name,
            LeaderboardRow.max_per_day,
            LeaderboardRow.max_per_month,
            LeaderboardRow.max_total,
            LeaderboardRow.uses_ladder,
            LeaderboardRow.seed,
            LeaderboardRow.created_at,
            DatasetRow.name.label("dataset"),
            ReleaseRow.name.label("release"),
            ReleaseRow.manifest_sha256,
            LeaderboardReleaseRow.release_id,
            LeaderboardReleaseRow.version,
            LeaderboardReleaseRow.questions,
            LeaderboardReleaseRow.cluster_count,
            LeaderboardReleaseRow.keys_sha256,
        )
        .join(newest, newest.c.leaderboard_id == LeaderboardRow.id)
        .join(
            LeaderboardReleaseRow,
            (LeaderboardReleaseRow.leaderboard_id == LeaderboardRow.id)
            & (LeaderboardReleaseRow.version == (newest.c.version if version is None else version)),
        )
        .join(ReleaseRow, ReleaseRow.id == LeaderboardReleaseRow.release_id)
        .join(DatasetRow, DatasetRow.id == ReleaseRow.dataset_id)
    )


def _leaderboard_from_row(row: AnyRow) -> Leaderboard:
    return Leaderboard(
        id=row.id,
        name=row.name,
        dataset=row.dataset,
        release=row.release,
        release_id=row.release_id,
        version=row.version,
        questions=row.questions,
        clusters=row.cluster_count,
        quotas=Quotas(per_day=row.max_per_day, per_month=row.max_per_month, total=row.max_total),
        uses_ladder=row.uses_ladder,
        seed=row.seed,
        manifest_sha256=row.manifest_sha256,
        keys_sha256=row.keys_sha256,
        created_at=row.created_at,
    )
