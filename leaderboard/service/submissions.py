"""Services that check, score and store a submission.

A submission is stored together with its score in one transaction, or not at all. There is no state between
"not submitted" and "scored", so a process that is killed leaves nothing behind and charges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import numpy as np
from sqlmodel import Session

from accounts.service.audit import record_action
from domain.errors import NotAllowed, NotFound, Refused, StaleRevision
from domain.leaderboards import Leaderboard, QuotaUse, Submission, SubmissionDetails, Team, quota_periods
from domain.people import Action, Person, require
from domain.problems import Refusal
from leaderboard.ladder import is_significant_gain
from leaderboard.outcomes import decode_outcomes, encode_outcomes
from leaderboard.receipts import Receipt
from leaderboard.scoring import CheckedFile, check_file, code_version, compute_accuracy
from leaderboard.service.boards import find_team
from leaderboard.service.scorer import load_private_keys
from release.folder import hash_file
from storage.leaderboard import boards, submissions
from storage.leaderboard.submissions import NewScore


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSubmission:
    """A file that was checked for a team, without a charge. With ``refusals`` it cannot be submitted."""

    leaderboard: Leaderboard
    team: Team
    file: CheckedFile = field(repr=False)

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The invalid lines of the file."""
        return self.file.refusals


def check_submission(
    db: Session,
    *,
    by: Person,
    leaderboard: str,
    team: str | None = None,
    path: Path,
    file_name: str | None = None,
    now: datetime,
) -> CheckedSubmission:
    """Check and score a file in memory. Nothing is written.

    Args:
        db: a session, which may be read-only.
        by: the acting person: a member of the team, or a person who manages leaderboards.
        leaderboard: the name of the leaderboard.
        team: the name of the team; None for the person's own.
        path: the file of predictions.
        file_name: the name that refusals state; None for the name of ``path``.
        now: the current time.

    Raises:
        NotFound: the leaderboard or the team does not exist.
        NotAllowed: the person is not a member of the team.
        Refused: a quota is used up, reading took too long, or the leaderboard cannot score at the moment.
    """
    require(by, Action.SUBMIT_PREDICTIONS)
    board = boards.load_leaderboard(db, name=leaderboard)
    own_team = resolve_team(db, by=by, board=board, name=team)
    sha256, _ = hash_file(path)
    if submissions.find_submission_by_file(db, team_id=own_team.id, file_sha256=sha256) is None:
        _require_quota(board, _count_used(db, own_team, now))
    keys = load_private_keys(db, leaderboard=board)
    file = check_file(path, file_name=file_name or path.name, keys=keys)
    return CheckedSubmission(leaderboard=board, team=own_team, file=file)


def record_submission(
    db: Session, *, by: Person, checked: CheckedSubmission, details: SubmissionDetails, now: datetime
) -> Receipt:
    """Charge the quotas and store a checked submission with its score. Locks leaderboard and team.

    A file that the team has submitted before is not charged again: the first receipt is returned, and the
    first details are kept. A second click, or a retry after a lost connection, has no effect.

    Args:
        db: a session that can write.
        by: the acting person.
        checked: the result of :func:`check_submission`, without refusals.
        details: what the team states about the submission.
        now: the current time.

    Raises:
        NotAllowed: the person is no longer a member of the team.
        Refused: the file has invalid lines, or a quota is used up.
        StaleRevision: the leaderboard was moved to another release after the check.
    """
    require(by, Action.SUBMIT_PREDICTIONS)
    file = checked.file
    if file.refusals:
        raise Refused("The file has invalid lines. Correct them and submit again. Nothing was charged.")
    boards.lock_leaderboard(db, name=checked.leaderboard.name)
    boards.lock_team(db, team_id=checked.team.id)
    board = boards.load_leaderboard(db, name=checked.leaderboard.name)
    team = resolve_team(db, by=by, board=board, name=checked.team.name)
    if board.version != checked.leaderboard.version:
        raise StaleRevision(
            f"{board.name} moved to a corrected release while the file was checked. Submit again; "
            "nothing was charged."
        )
    existing = submissions.find_submission_by_file(db, team_id=team.id, file_sha256=file.file_sha256)
    if existing is not None:
        return _load_receipt(db, board=board, team=team, submission_id=existing.id, now=now, is_repeated=True)
    _require_quota(board, _count_used(db, team, now))
    submission_id = submissions.add_submission(
        db,
        team_id=team.id,
        details=details,
        file_sha256=file.file_sha256,
        file_bytes=file.file_bytes,
        answers=file.answers,
        by=by.id or None,
        now=now,
    )
    clusters = boards.load_private_questions(db, leaderboard_id=board.id, version=board.version).clusters
    displayed = submissions.find_displayed_outcomes(db, team_id=team.id, version=board.version)
    is_disclosed = (
        not board.uses_ladder
        or displayed is None
        or is_significant_gain(
            file.outcomes,
            decode_outcomes(displayed, n=board.questions),
            clusters=np.asarray(clusters, dtype=np.int64),
            total_quota=board.quotas.total,
        )
    )
    share = compute_accuracy(file.outcomes, clusters)
    submissions.add_score(
        db,
        submission_id=submission_id,
        version=board.version,
        score=NewScore(
            n=len(file.outcomes),
            correct=int(file.outcomes.sum()),
            low=share.low,
            high=share.high,
            outcomes=encode_outcomes(file.outcomes),
            is_disclosed=is_disclosed,
            code_version=code_version(),
        ),
        now=now,
    )
    record_action(
        db,
        by=by,
        action="submit predictions",
        subject=f"leaderboard {board.id} team {team.id} submission {submission_id}",
        new={"file_sha256": file.file_sha256, "method": details.method, "access": details.access.value},
        now=now,
    )
    return _load_receipt(db, board=board, team=team, submission_id=submission_id, now=now)


def load_receipt(
    db: Session, *, by: Person, leaderboard: str, team: str | None = None, submission_id: int, now: datetime
) -> Receipt:
    """Return the receipt of a submission for the present version of the leaderboard.

    Raises:
        NotFound: the leaderboard, the team or the team's submission does not exist.
        NotAllowed: the person is not a member of the team.
    """
    require(by, Action.SEE_LEADERBOARDS)
    board = boards.load_leaderboard(db, name=leaderboard)
    own_team = resolve_team(db, by=by, board=board, name=team)
    require_own_submission(db, team=own_team, submission_id=submission_id)
    return _load_receipt(db, board=board, team=own_team, submission_id=submission_id, now=now)


def require_own_submission(db: Session, *, team: Team, submission_id: int) -> Submission:
    """Return the submission of a team. Checks no permission.

    Raises:
        NotFound: the team has no such submission.
    """
    for submission in submissions.list_submissions(db, team_ids=[team.id]):
        if submission.id == submission_id:
            return submission
    raise NotFound(f"The team {team.name} has no submission {submission_id}.")


def _load_receipt(
    db: Session,
    *,
    board: Leaderboard,
    team: Team,
    submission_id: int,
    now: datetime,
    is_repeated: bool = False,
) -> Receipt:
    scores = submissions.list_disclosed_scores(db, team_ids=[team.id], version=board.version)
    return Receipt(
        leaderboard=board,
        team=team,
        submission=submissions.load_submission(db, submission_id=submission_id),
        score=next((score for score in scores if score.submission_id == submission_id), None),
        displayed=scores[-1] if scores else None,
        remaining=_count_used(db, team, now).remaining(board.quotas),
        code_version=submissions.load_code_version(db, submission_id=submission_id, version=board.version),
        is_repeated=is_repeated,
    )


def resolve_team(db: Session, *, by: Person, board: Leaderboard, name: str | None) -> Team:
    """Return the team that a person acts for.

    Raises:
        NotFound: the person has no team on the leaderboard, or there is no team of that name.
        NotAllowed: the person is not a member of the team and does not manage leaderboards.
    """
    own_id = boards.find_team_id_of_person(db, leaderboard_id=board.id, person_id=by.id)
    if name is not None and by.may(Action.MANAGE_LEADERBOARDS):
        return find_team(db, board=board, name=name)
    for team in boards.list_teams(db, leaderboard_id=board.id):
        if team.id == own_id and name in (None, team.name):
            return team
    if name is None or own_id is None:
        raise NotFound(
            f"You are not in a team of the leaderboard {board.name}. Ask the coordinator to add you to one."
        )
    raise NotAllowed("You are not a member of this team.")


def count_remaining(db: Session, *, board: Leaderboard, team: Team, now: datetime) -> QuotaUse:
    """Return the submissions that a team has left. Checks no permission."""
    return _count_used(db, team, now).remaining(board.quotas)


def _count_used(db: Session, team: Team, now: datetime) -> QuotaUse:
    day, month = quota_periods(now)
    return submissions.count_submissions(db, team_id=team.id, day=day, month=month)


def _require_quota(board: Leaderboard, used: QuotaUse) -> None:
    remaining = used.remaining(board.quotas)
    if remaining.total == 0:
        raise Refused(f"Your team has used all {board.quotas.total:,} submissions of {board.name}.")
    if remaining.month == 0:
        raise Refused(
            f"Your team has used its {board.quotas.per_month:,} submissions of this month. Submit again "
            "from the first day of the next month (UTC)."
        )
    if remaining.day == 0:
        raise Refused(
            f"Your team has used its {board.quotas.per_day:,} submissions of today. Submit again tomorrow "
            "(UTC)."
        )
