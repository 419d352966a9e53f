"""A backup that cannot be made states the reason, and a file that is no backup is never overwritten."""

from __future__ import annotations

import os
import sqlite3

import pytest

from cli import main


@pytest.fixture
def closed(tmp_path, monkeypatch):
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


@pytest.mark.parametrize("command", [["backup", "{}/a.backup"], ["batch", "list"]])
def test_a_workspace_that_cannot_be_written_is_told_without_a_traceback(closed, capsys, command):
    assert main([word.format(closed.parent) for word in command]) == 1
    told = capsys.readouterr().err
    assert "unable to open database file" in told
    assert "can be written" in told
    assert list(closed.parent.glob("*a.backup*")) == []


def test_a_pipe_or_device_is_never_replaced_by_a_backup(closed, capsys):
    pipe = closed.parent / "pipe"
    os.mkfifo(pipe)
    assert main(["backup", str(pipe), "--replace"]) == 1
    assert "is no file" in capsys.readouterr().err
    assert pipe.is_fifo()
