"""Every command creates the tables of a new database, one process at a time, or reports why it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine

from storage.schema import downgrade, is_current

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]


def start_command(engine: Engine, home: Path) -> subprocess.Popen[str]:
    """Start a command on the workspace; each command prepares the workspace first."""
    settings = {
        "OVERREAD_HOME": str(home),
        "OVERREAD_DATABASE_URL": engine.url.render_as_string(hide_password=False),
    }
    return subprocess.Popen(
        [sys.executable, "cli.py", "user", "list"],
        cwd=ROOT, env=os.environ | settings, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_concurrent_first_starts_succeed(engine, tmp_path):
    downgrade(engine, "base")
    processes = [start_command(engine, tmp_path) for _ in range(3)]
    error_outputs = [process.communicate(timeout=200)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], error_outputs
    assert is_current(engine)


def test_tables_of_a_newer_version_are_refused(sqlite_engine, tmp_path):
    with sqlite_engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    process = start_command(sqlite_engine, tmp_path)
    _, error = process.communicate(timeout=200)
    assert process.returncode == 1
    assert error.startswith("The workspace was made by a newer version of Overread (its schema is 9999;")


@pytest.mark.parametrize(
    "url", ["postgresql://nobody@127.0.0.1:9/none", "sqlite:////proc/none/overread.sqlite"]
)
def test_unreachable_database_is_reported_in_at_most_two_lines(tmp_path, url):
    result = subprocess.run(
        [sys.executable, "cli.py", "user", "list"], cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | {"OVERREAD_HOME": str(tmp_path), "OVERREAD_DATABASE_URL": url},
    )  # fmt: skip
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert result.stderr.count("\n") <= 2
