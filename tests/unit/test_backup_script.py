"""docs/deploy/overread-backup: weekday and monthly files, encryption, and a copy elsewhere."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from storage.metrics import load_workspace_figures

ROOT = Path(__file__).resolve().parents[2]
#: Replaces the program age, which may not be installed. It takes the same arguments and applies ROT13.
AGE = """#!/bin/sh
[ "$1 $2 $3 $4" = "--encrypt --recipient age1test --output" ] && tr a-z n-za-m < "$6" > "$5"
"""


@pytest.fixture
def back_up(workspace_engine, tmp_path):
    """Run the script on a workspace on a given day; return the names of the backup files afterwards."""
    folder, programs = tmp_path / "backups", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    (programs / "age").write_text(AGE)
    (programs / "age").chmod(0o755)

    def run(day: str, **settings: str) -> list[str]:
        environment = os.environ | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "OVERREAD_CODE": str(ROOT),
            "OVERREAD_BACKUP_FOLDER": str(folder),
            "OVERREAD_BACKUP_DAY": day,
        }
        command = ["sh", str(ROOT / "docs" / "deploy" / "overread-backup")]
        subprocess.run(command, env=environment | settings, check=True, capture_output=True)
        return sorted(path.name for path in folder.iterdir())

    return run


@pytest.mark.full
def test_first_of_month_also_keeps_a_monthly_backup(back_up):
    assert back_up("2026-11-23") == ["Mon.backup"]
    assert back_up("2026-12-01") == ["Mon.backup", "Tue.backup", "month-12.backup"]


@pytest.mark.full
def test_with_a_recipient_only_encrypted_backups_are_kept_and_copied_elsewhere(back_up, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    names = back_up(
        "2026-12-01",
        OVERREAD_BACKUP_RECIPIENT="age1test",
        OVERREAD_BACKUP_COPY=f"cp -t '{elsewhere}' --",
    )
    assert names == ["Tue.backup.age", "month-12.backup.age"]
    assert [path.name for path in elsewhere.iterdir()] == ["Tue.backup.age"]


@pytest.mark.full
def test_an_encrypted_backup_replaces_the_unencrypted_backups_of_its_day_and_month(back_up):
    assert back_up("2026-12-01") == ["Tue.backup", "month-12.backup"]
    names = back_up("2026-12-01", OVERREAD_BACKUP_RECIPIENT="age1test")
    assert names == ["Tue.backup.age", "month-12.backup.age"]


def test_without_a_working_encryption_no_backup_is_recorded(back_up, tmp_path, workspace_engine):
    (tmp_path / "bin" / "age").write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(subprocess.CalledProcessError):
        back_up("2026-11-23", OVERREAD_BACKUP_RECIPIENT="age1test")
    assert list((tmp_path / "backups").iterdir()) == []
    figures = load_workspace_figures(workspace_engine, used_since=datetime(2026, 11, 1, tzinfo=UTC))
    assert figures.last_backup_at is None


@pytest.mark.full
def test_failed_copy_ends_the_script_with_an_error_and_keeps_the_backup(back_up, tmp_path):
    with pytest.raises(subprocess.CalledProcessError):
        back_up("2026-11-23", OVERREAD_BACKUP_COPY="false")
    assert (tmp_path / "backups" / "Mon.backup").exists()
