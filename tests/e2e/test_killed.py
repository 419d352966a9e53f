"""Kill -9 while verdicts are posted loses none of them.

This is the short form of benchmarks/soak_kill.py; `make soak` kills the app 200 times and PostgreSQL 50
times.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.soak_kill import KillOutcome, kill_repeatedly, open_postgres_soak, open_sqlite_soak
from tests.e2e.several_processes import free_ports

pytestmark = pytest.mark.full


def test_no_verdict_is_lost_when_the_app_is_killed(tmp_path: Path) -> None:
    with open_sqlite_soak(tmp_path) as (place, _):
        found = kill_repeatedly(place, kills=2, reviewers=2, port=free_ports(1)[0])
    assert_whole(found, kills=2)


def test_no_verdict_is_lost_when_postgres_is_killed_and_work_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # the server's package warns where there is none
    with open_postgres_soak(tmp_path) as (place, server):
        found = kill_repeatedly(place, kills=1, reviewers=2, port=free_ports(1)[0], postgres=server)
    assert_whole(found, kills=1)


def assert_whole(found: KillOutcome, *, kills: int) -> None:
    assert found.faults == ()
    assert found.kills == kills
    assert found.saved >= found.acknowledged > kills
