"""The lint for landed migrations reports changed and missing ones, and new ones without a hash."""

from __future__ import annotations

from pathlib import Path

import pytest

from lints.__main__ import main
from lints.migrations import VERSIONS, find_changed_migrations, hash_migrations, read_landed, record_landed

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two landed migrations."""
    (tmp_path / VERSIONS).mkdir(parents=True)
    for name in ("0001_first.py", "0002_second.py"):
        (tmp_path / VERSIONS / name).write_text(f"revision = {name[:4]!r}\n", encoding="utf-8")
    record_landed(tmp_path)
    return tmp_path


def list_violations(project: Path) -> list[str]:
    return [
        f"{Path(violation.path).name}: {violation.text}" for violation in find_changed_migrations(project)
    ]


def test_every_migration_of_the_project_is_recorded() -> None:
    assert read_landed(ROOT) == hash_migrations(ROOT)


def test_unchanged_landed_migrations_pass(project: Path) -> None:
    assert list_violations(project) == []


def test_one_added_byte_is_reported(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = project / VERSIONS / "0001_first.py"
    file.write_bytes(file.read_bytes() + b" ")
    assert main([str(project)]) == 1
    assert capsys.readouterr().out == (
        f"{VERSIONS}/0001_first.py:1: landed-migration: it was changed after it landed; undo that, and write "
        "a new migration\n"
    )


def test_a_missing_landed_migration_is_found(project: Path) -> None:
    (project / VERSIONS / "0002_second.py").unlink()
    assert list_violations(project) == [
        "0002_second.py: it has landed and is missing; workspaces that ran it need it"
    ]


def test_a_new_migration_is_reported_until_its_hash_is_recorded(project: Path) -> None:
    (project / VERSIONS / "0003_third.py").write_text("revision = '0003'\n", encoding="utf-8")
    assert list_violations(project) == [
        "0003_third.py: it has no hash in landed.sha256; run `make landed` and commit the result"
    ]
    record_landed(project)
    assert list_violations(project) == []


def test_recording_does_not_accept_a_changed_migration(project: Path) -> None:
    """``make landed`` only adds lines to landed.sha256."""
    (project / VERSIONS / "0001_first.py").write_text("revision = '1'\n", encoding="utf-8")
    record_landed(project)
    assert len(list_violations(project)) == 1
