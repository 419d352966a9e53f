"""No posted verdict is lost when the app or the database is killed (SIGKILL).

This is the short form of benchmarks/soak_kill.py; `make soak` kills the app 200 times and PostgreSQL 50
times.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.soak_kill import KillOutcome, kill_repeatedly, open_postgres_soak, open_sqlite_soak
from tests.e2e.app_processes import free_ports

pytestmark = pytest.mark.full


def test_no_verdict_is_lost_when_the_app_is_killed(tmp_path: Path) -> None:
    with open_sqlite_soak(tmp_path) as (workspace, _):
        outcome = kill_repeatedly(workspace, kills=2, reviewers=2, port=free_ports(1)[0])
    assert_nothing_lost(outcome, kills=2)


def test_no_verdict_is_lost_when_postgres_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # pgserver warns if this is not set
    with open_postgres_soak(tmp_path) as (workspace, server):
        outcome = kill_repeatedly(workspace, kills=1, reviewers=2, port=free_ports(1)[0], postgres=server)
    assert_nothing_lost(outcome, kills=1)


def assert_nothing_lost(outcome: KillOutcome, *, kills: int) -> None:
    assert outcome.faults == ()
    assert outcome.kills == kills
    assert outcome.saved >= outcome.acknowledged > kills
