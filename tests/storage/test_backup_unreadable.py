"""The command states why a backup cannot be made, and never overwrites a pipe or a device."""

from __future__ import annotations

import os
import sqlite3

import pytest

from cli import main


@pytest.fixture
def unwritable_home(tmp_path, monkeypatch):
    """A workspace whose database cannot be opened, as on a read-only disk: its log cannot be created."""
    home = tmp_path / "ws"
    home.mkdir()
    with sqlite3.connect(home / "overread.sqlite") as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE alembic_version (version_num TEXT)")
    database.close()
    (home / "overread.sqlite-wal").mkdir()
    monkeypatch.setenv("OVERREAD_HOME", str(home))
    monkeypatch.delenv("OVERREAD_DATABASE_URL", raising=False)
    return home


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (["backup", "{}/a.backup"], "Make the workspace writable"),
        (["batch", "list"], "Check that it runs, that OVERREAD_DATABASE_URL and OVERREAD_HOME are right"),
    ],
)
def test_unwritable_workspace_is_reported_without_a_traceback(unwritable_home, capsys, command, advice):
    assert main([argument.format(unwritable_home.parent) for argument in command]) == 1
    error_output = capsys.readouterr().err
    assert "unable to open database file" in error_output
    assert advice in error_output
    assert list(unwritable_home.parent.glob("*a.backup*")) == []


def test_backup_never_replaces_a_pipe_or_device(unwritable_home, capsys):
    pipe = unwritable_home.parent / "pipe"
    os.mkfifo(pipe)
    assert main(["backup", str(pipe), "--replace"]) == 1
    assert "is not a regular file" in capsys.readouterr().err
    assert pipe.is_fifo()
