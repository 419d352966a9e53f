"""Submissions of ten teams in parallel processes, one of which is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import func, select

from leaderboard import service as leaderboards
from leaderboard.service import standings
from storage.rows.audit import AuditRow
from storage.rows.leaderboards import LeaderboardScoreRow, LeaderboardSubmissionRow
from storage.unit_of_work import read_only_session
from tests.storage.leaderboard_worlds import (
    BOARD,
    BY,
    add_board,
    add_team,
    answer_with_errors,
    make_leaderboard_world,
    write_predictions,
)

pytestmark = pytest.mark.full
ROOT = Path(__file__).resolve().parents[2]
TEAMS = [f"team {number}" for number in range(10)]
FILES, QUOTA, TIMEOUT_SECONDS = 11, 10, 900


def start_submitter(engine, folder: Path) -> subprocess.Popen[str]:
    url = engine.url.render_as_string(hide_password=False)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.storage.leaderboard_submitter", url, str(folder)],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def is_wrong(team: int, file: int, position: int) -> bool:
    """Team 0 has no errors, team 9 the most."""
    return (position * 7 + file) % 10 < team


def compute_ranks(engine):
    standings._RANKINGS.clear()
    with read_only_session(engine) as db:
        return leaderboards.load_standings(db, by=BY, leaderboard=BOARD)


def test_quotas_are_exact_and_nothing_is_stuck_after_a_kill(engine, tmp_path):
    """Two processes submit the same 110 files of ten teams with a quota of ten; one of them is killed."""
    world = make_leaderboard_world(engine, tmp_path / "home", questions=20)
    add_board(engine, quotas=(QUOTA, QUOTA, QUOTA))
    folder = tmp_path / "files"
    for number, team in enumerate(TEAMS):
        add_team(engine, team)
        (folder / team).mkdir(parents=True)
        for file in range(FILES):
            predictions = answer_with_errors(world, partial(is_wrong, number, file))
            write_predictions(folder / team / f"{file:02}.jsonl", predictions, explanation=f"{team} {file}")
    killed, survivor = start_submitter(engine, folder), start_submitter(engine, folder)
    assert killed.stdout.readline() == "begun\n"
    for _ in range(15):
        assert killed.stdout.readline() != ""
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait(TIMEOUT_SECONDS)
    killed.stdout.close()
    output, _ = survivor.communicate(timeout=TIMEOUT_SECONDS)
    answers = output.split("\n")[1:-1]
    assert (survivor.returncode, len(answers)) == (0, len(TEAMS) * FILES)
    with read_only_session(engine) as db:
        counts = db.execute(
            select(LeaderboardSubmissionRow.team_id, func.count())
            .join(LeaderboardScoreRow, LeaderboardScoreRow.submission_id == LeaderboardSubmissionRow.id)
            .group_by(LeaderboardSubmissionRow.team_id)
        ).all()
        ids = set(db.execute(select(LeaderboardSubmissionRow.id)).scalars())
        entries = db.execute(select(func.count()).where(AuditRow.what == "submit predictions")).scalar_one()
    assert [count for _, count in counts] == [QUOTA] * len(TEAMS)
    assert {int(answer) for answer in answers if answer != "refused"} == ids
    assert (len(ids), entries, answers.count("refused")) == (100, 100, len(TEAMS) * (FILES - QUOTA))
    first = compute_ranks(engine)
    assert compute_ranks(engine) == first
    assert [row.team for row in first.rows] == TEAMS
