"""The folder and the database of a workspace are closed to other users of the machine."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from storage.workspace import DATABASE_FILE, restrict_permissions


def get_mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A workspace that a process with the umask 022 made."""
    home = tmp_path / "workspace"
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    for name in (DATABASE_FILE, f"{DATABASE_FILE}-wal"):
        (home / name).write_bytes(b"")
        (home / name).chmod(0o644)
    return home


def test_folder_and_database_lose_the_permissions_of_group_and_others(home):
    restrict_permissions(home)
    assert [get_mode(path) for path in (home, home / DATABASE_FILE, home / f"{DATABASE_FILE}-wal")] == [
        0o700,
        0o600,
        0o600,
    ]


def test_a_folder_without_a_database_and_a_folder_open_to_all_keep_their_permissions(home, tmp_path):
    home.chmod(0o1777)
    restrict_permissions(home)
    assert (get_mode(home), get_mode(home / DATABASE_FILE)) == (0o1777, 0o644)
    empty = tmp_path / "empty"
    empty.mkdir()
    empty.chmod(0o755)
    restrict_permissions(empty)
    assert get_mode(empty) == 0o755
