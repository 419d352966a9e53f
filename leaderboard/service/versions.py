"""The service that moves a leaderboard to another release and scores all submissions again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlmodel import Session

from accounts.service.audit import record_action
from domain.count_texts import count_text
from domain.errors import Refused
from domain.leaderboards import Leaderboard
from domain.people import Action, Person, require
from domain.questions import has_same_text
from leaderboard.outcomes import encode_outcomes
from leaderboard.scoring import code_version, compute_accuracy, is_scored, score_answers
from leaderboard.service.boards import add_version
from leaderboard.service.scorer import load_private_keys
from storage.leaderboard import boards, submissions
from storage.leaderboard.submissions import NewScore
from storage.release import releases


def change_release(db: Session, *, by: Person, leaderboard: str, release: str, now: datetime) -> Leaderboard:
    """Move a leaderboard to another release of its dataset, such as a corrected one.

    Locks the leaderboard's row.

    All submissions are scored again with their stored answers; the former scores stay. Nothing is charged. A
    score is disclosed if the former score was, so the Ladder does not decide again. The reference row of
    chance is computed again; the rows of text only and readers have to be set again.

    Args:
        db: a session that can write.
        by: the acting person.
        leaderboard: the name of the leaderboard.
        release: the name of a release whose private questions are among the present ones.
        now: the current time.

    Raises:
        NotFound: the leaderboard or the release does not exist.
        Refused: the release is the present one, or its private split has other closed questions, stems,
            answer formats or options, or only open questions.
        InvalidValue: a file of the release was changed.
    """
    require(by, Action.MANAGE_LEADERBOARDS)
    boards.lock_leaderboard(db, name=leaderboard)
    board = boards.load_leaderboard(db, name=leaderboard)
    teams = boards.list_teams(db, leaderboard_id=board.id)
    new_release = releases.load_release_by_name(db, dataset=board.dataset, name=release)
    if new_release.id == board.release_id:
        raise Refused(f"{board.name} uses release {release} already.")
    old_keys = load_private_keys(db, leaderboard=board)
    new_keys = load_private_keys(db, leaderboard=replace(board, release_id=new_release.id))
    changed = [
        key
        for key, keyed in new_keys.items()
        if is_scored(keyed.question)
        and (key not in old_keys or not has_same_text(keyed.question, old_keys[key].question))
    ]
    if changed:
        raise Refused(
            f"Release {release} has {count_text(len(changed), 'private question')} with a new id, stem, "
            f"answer format or options, such as {changed[0]!r}, so that stored answers cannot be scored. "
            "Create a leaderboard for this release."
        )
    add_version(db, leaderboard_id=board.id, version=board.version + 1, release_id=new_release.id, now=now)
    new_board = boards.load_leaderboard(db, name=leaderboard)
    team_ids = [team.id for team in teams]
    new_questions = boards.load_private_questions(db, leaderboard_id=board.id, version=new_board.version)
    question_ids = {
        version: boards.load_private_questions(db, leaderboard_id=board.id, version=version).question_ids
        for version in range(1, board.version + 1)
    }
    first_versions = submissions.list_first_versions(db, team_ids=team_ids)
    disclosures = submissions.list_disclosures(db, team_ids=team_ids, version=board.version)
    for submission_id, is_disclosed in disclosures.items():
        # The answers are in the order of the questions of the version to which they were submitted.
        answered_ids = question_ids[first_versions[submission_id]]
        answers = dict(
            zip(answered_ids, submissions.load_answers(db, submission_id=submission_id), strict=True)
        )
        outcomes = score_answers(
            [new_keys[key].question for key in new_questions.question_ids],
            [answers[key] for key in new_questions.question_ids],
        )
        share = compute_accuracy(outcomes, new_questions.clusters)
        submissions.add_score(
            db,
            submission_id=submission_id,
            version=new_board.version,
            score=NewScore(
                n=len(outcomes),
                correct=int(outcomes.sum()),
                low=share.low,
                high=share.high,
                outcomes=encode_outcomes(outcomes),
                is_disclosed=is_disclosed,
                code_version=code_version(),
            ),
            now=now,
        )
    record_action(
        db,
        by=by,
        action="change release of leaderboard",
        subject=f"leaderboard {board.id}",
        old={"release": board.release_id, "version": board.version, "questions": board.questions},
        new={"release": new_release.id, "version": new_board.version, "questions": new_board.questions},
        now=now,
    )
    return new_board
