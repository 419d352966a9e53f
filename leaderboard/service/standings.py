"""Services that compute the ranking of a leaderboard and show a team its own submissions.

The ranking is computed from stored outcomes when it is needed and held in memory. It depends on the
submissions that count and on the seed only, so each process computes the same, and nothing has to be repaired
after a crash.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import Refused
from domain.leaderboards import DisclosedScore, Leaderboard, QuotaUse, Submission, Team
from domain.people import Action, Person, require
from leaderboard.outcomes import decode_outcomes
from leaderboard.service.submissions import count_remaining, require_own_submission, resolve_team
from leaderboard.standings import Standings, build_standings, choose_submission
from measures.ranking import Ranking, rank_systems
from storage.leaderboard import boards, submissions

_MAX_CACHED = 32
_RANKINGS: OrderedDict[tuple[object, ...], Ranking] = OrderedDict()
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamStatus:
    """What a team sees about itself.

    ``scores`` has the disclosed scores by submission and version: after a new version, old scores stay beside
    the new ones. ``counted_submission_id`` is the submission on the leaderboard, None if there is none.
    """

    leaderboard: Leaderboard
    team: Team
    remaining: QuotaUse
    submissions: tuple[Submission, ...]
    scores: tuple[DisclosedScore, ...]
    counted_submission_id: int | None


def load_standings(db: Session, *, by: Person, leaderboard: str, version: int | None = None) -> Standings:
    """Return the ranked teams, the reference rows and the significance map of a leaderboard.

    Args:
        db: a session that reads.
        by: the acting person.
        leaderboard: the name of the leaderboard.
        version: the version; None for the newest.

    Raises:
        NotFound: there is no such leaderboard or version.
    """
    require(by, Action.SEE_LEADERBOARDS)
    board = boards.load_leaderboard(db, name=leaderboard, version=version)
    teams = boards.list_teams(db, leaderboard_id=board.id)
    scores = {
        score.submission_id: score
        for score in submissions.list_disclosed_scores(
            db, team_ids=[team.id for team in teams], version=board.version
        )
    }
    chosen = _choose_submissions(db, board, teams, scores)
    return build_standings(
        board,
        teams=teams,
        chosen=chosen,
        scores=scores,
        ranking=_rank(db, board, [submission.id for submission in chosen]),
        references=boards.list_references(db, leaderboard_id=board.id, version=board.version),
    )


def load_team_status(
    db: Session, *, by: Person, leaderboard: str, team: str | None = None, now: datetime
) -> TeamStatus:
    """Return a team's remaining quotas, submissions and scores.

    Raises:
        NotFound: the leaderboard or the team does not exist, or the person has no team.
        NotAllowed: the person is not a member of the team.
    """
    require(by, Action.SEE_LEADERBOARDS)
    board = boards.load_leaderboard(db, name=leaderboard)
    own_team = resolve_team(db, by=by, board=board, name=team)
    scores = submissions.list_disclosed_scores(db, team_ids=[own_team.id])
    current = {score.submission_id: score for score in scores if score.version == board.version}
    chosen = _choose_submissions(db, board, [own_team], current)
    return TeamStatus(
        leaderboard=board,
        team=own_team,
        remaining=count_remaining(db, board=board, team=own_team, now=now),
        submissions=tuple(submissions.list_submissions(db, team_ids=[own_team.id])),
        scores=tuple(scores),
        counted_submission_id=chosen[0].id if chosen else None,
    )


def select_submission(
    db: Session, *, by: Person, leaderboard: str, team: str | None = None, submission_id: int, now: datetime
) -> Submission:
    """Select the submission that counts for a team. Locks the team's row.

    A submission that was not public becomes public. Otherwise a team whose score on the Ladder comes from
    such a submission could not appear on the leaderboard.

    Raises:
        NotFound: the leaderboard, the team or the team's submission does not exist.
        NotAllowed: the person is not a member of the team.
        Refused: the submission has no disclosed score, because it did not change the score of the team.
    """
    require(by, Action.SUBMIT_PREDICTIONS)
    board = boards.load_leaderboard(db, name=leaderboard)
    own_team = resolve_team(db, by=by, board=board, name=team)
    boards.lock_team(db, team_id=own_team.id)
    submission = require_own_submission(db, team=own_team, submission_id=submission_id)
    disclosed = submissions.list_disclosed_scores(db, team_ids=[own_team.id], version=board.version)
    if all(score.submission_id != submission_id for score in disclosed):
        raise Refused(
            f"Submission {submission_id} did not change the score of the team, so it cannot be selected."
        )
    submissions.add_selection(db, team_id=own_team.id, submission_id=submission_id, by=by.id or None, now=now)
    record_action(
        db,
        by=by,
        action="select submission",
        subject=f"leaderboard {board.id} team {own_team.id} submission {submission_id}",
        old=None if submission.details.is_public else {"public": False},
        new=None if submission.details.is_public else {"public": True},
        now=now,
    )
    return submission


def _choose_submissions(
    db: Session, board: Leaderboard, teams: Sequence[Team], scores: dict[int, DisclosedScore]
) -> list[Submission]:
    """Return the submissions that count, at most one per team, ordered by the id of the submission."""
    selected = submissions.list_selections(db, leaderboard_id=board.id)
    submissions_by_team: dict[int, list[Submission]] = {}
    for submission in submissions.list_submissions(db, team_ids=[team.id for team in teams]):
        submissions_by_team.setdefault(submission.team_id, []).append(submission)
    chosen = (
        choose_submission(
            items, scores, selected_ids=selected.get(team_id, []), uses_ladder=board.uses_ladder
        )
        for team_id, items in submissions_by_team.items()
    )
    return sorted(
        (submission for submission in chosen if submission is not None), key=lambda submission: submission.id
    )


def _rank(db: Session, board: Leaderboard, submission_ids: list[int]) -> Ranking:
    """Return the ranking of submissions, from memory if it was computed before."""
    key = (str(db.get_bind().engine.url), board.id, board.version, board.created_at, tuple(submission_ids))
    with _LOCK:
        if key in _RANKINGS:
            _RANKINGS.move_to_end(key)
            return _RANKINGS[key]
    private = boards.load_private_questions(db, leaderboard_id=board.id, version=board.version)
    outcomes = submissions.load_outcomes(db, submission_ids=submission_ids, version=board.version)
    correct = np.zeros((board.questions, len(submission_ids)), dtype=np.bool_)
    for column, submission_id in enumerate(submission_ids):
        correct[:, column] = decode_outcomes(outcomes[submission_id], n=board.questions)
    ranking = rank_systems(correct, clusters=np.asarray(private.clusters), seed=board.seed)
    with _LOCK:
        _RANKINGS[key] = ranking
        while len(_RANKINGS) > _MAX_CACHED:
            _RANKINGS.popitem(last=False)
    return ranking
