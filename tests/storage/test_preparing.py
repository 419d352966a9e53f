"""Every start migrates the tables to this version, in one process, or states clearly why it cannot."""

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


def started(engine: Engine, home: Path) -> subprocess.Popen[str]:
    """Run a command on that workspace; each command prepares it first."""
    settings = {
        "OVERREAD_HOME": str(home),
        "OVERREAD_DATABASE_URL": engine.url.render_as_string(hide_password=False),
    }
    return subprocess.Popen(
        [sys.executable, "cli.py", "user", "list"],
        cwd=ROOT, env=os.environ | settings, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_processes_that_start_at_once_on_an_empty_database_do_no_harm(engine, tmp_path):
    downgrade(engine, "base")
    at_once = [started(engine, tmp_path) for _ in range(3)]
    said = [process.communicate(timeout=200)[1] for process in at_once]
    assert [process.returncode for process in at_once] == [0, 0, 0], said
    assert is_current(engine)


def test_tables_of_a_newer_version_are_left_alone(sqlite_engine, tmp_path):
    with sqlite_engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    process = started(sqlite_engine, tmp_path)
    _, error = process.communicate(timeout=200)
    assert process.returncode == 1
    assert error.startswith("The workspace was made by a newer version of Overread (its tables are 9999;")


@pytest.mark.parametrize(
    "url", ["postgresql://nobody@127.0.0.1:9/none", "sqlite:////proc/none/overread.sqlite"]
)
def test_a_database_out_of_reach_is_said_in_one_line(tmp_path, url):
    done = subprocess.run(
        [sys.executable, "cli.py", "user", "list"], cwd=ROOT, capture_output=True, text=True, check=False,
        env=os.environ | {"OVERREAD_HOME": str(tmp_path), "OVERREAD_DATABASE_URL": url},
    )  # fmt: skip
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") <= 2
