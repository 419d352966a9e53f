"""Commands on a damaged database or a full disk end with a sentence that says what to do."""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli import main
from domain.people import Role
from storage.backup import restore_backup
from storage.engine import get_engine, make_engine
from storage.images.files import store_image
from storage.unit_of_work import unit_of_work
from storage.workspace import current_workspace
from tests.e2e.small_disks import small_disk
from tests.storage.sign_ins import NOON, add_person

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]
PAGE = 4096


def overwrite_header(file: Path) -> None:
    with file.open("r+b") as content:
        content.write(b"\x7f" * 100)


def overwrite_pages(file: Path) -> None:
    """Overwrite every page but the first, which has the list of tables."""
    with file.open("r+b") as content:
        for page in range(1, file.stat().st_size // PAGE):
            content.seek(page * PAGE)
            content.write(b"\x7f" * 200)


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2 // PAGE * PAGE)


@pytest.fixture(scope="module")
def filled_file(sqlite_template, cheap_passwords, tmp_path_factory) -> Path:
    """A database with a hundred people and their audit entries."""
    file = tmp_path_factory.mktemp("filled") / "overread.sqlite"
    shutil.copyfile(sqlite_template, file)
    engine = make_engine(f"sqlite:///{file}")
    for number in range(100):
        add_person(engine, f"anna{number}", Role.ADMIN)
    engine.dispose()  # closing the last connection merges the write-ahead log into the file
    return file


@pytest.fixture
def database(workspace_engine, filled_file) -> Path:
    """The database file of a workspace with a hundred people and their audit entries."""
    workspace_engine.dispose()
    get_engine.cache_clear()
    file = current_workspace().home / "overread.sqlite"
    shutil.copyfile(filled_file, file)
    return file


@pytest.mark.parametrize("damage", [overwrite_header, overwrite_pages, truncate])
@pytest.mark.parametrize("command", ["audit verify", "backup {}", "health", "user list", "batch list"])
def test_a_command_on_a_damaged_database_says_that_a_backup_restores_it(
    database: Path, damage: Callable[[Path], None], command: str, tmp_path: Path, capsys
):
    damage(database)
    assert main(command.format(tmp_path / "a.backup").split()) == 1
    output = "".join(capsys.readouterr())
    assert "is damaged" in output
    assert "restore --replace FILE" in output
    assert "sqlalche" not in output.lower()


@pytest.mark.parametrize("damage", [overwrite_header, overwrite_pages, truncate])
def test_a_backup_replaces_a_damaged_database_and_the_damaged_file_is_kept(database, damage, tmp_path):
    backup = tmp_path / "a.backup"
    assert main(["backup", str(backup)]) == 0
    get_engine(current_workspace().database_url).dispose()
    damage(database)
    restored = restore_backup(backup, current_workspace(), replace=True, now=NOON)
    assert restored.previous_files is not None
    assert (restored.previous_files / "overread.sqlite").exists()
    get_engine.cache_clear()
    assert main(["audit", "verify"]) == 0


@pytest.mark.parametrize("seed", range(12))
def test_no_command_on_a_randomly_altered_database_prints_a_traceback(database, seed, tmp_path, capsys):
    """Single bytes change: pages may stay readable with other values in them."""
    content = bytearray(database.read_bytes())
    generator = random.Random(seed)  # noqa: S311 - the same damage in each run
    for _ in range(40):
        content[generator.randrange(PAGE, len(content))] = generator.randrange(256)
    database.write_bytes(content)
    for command in ("audit verify", f"backup {tmp_path / 'a.backup'} --replace", "health"):
        assert main(command.split()) in (0, 1)
    assert "Traceback" not in "".join(capsys.readouterr())


def test_health_finds_a_damaged_page_that_no_other_check_reads(database, capsys):
    with database.open("r+b") as content:
        content.seek(database.stat().st_size - PAGE)
        content.write(b"\x7f" * PAGE)
    assert main(["health"]) == 1
    output = capsys.readouterr().out
    assert "integrity BAD" in output


def run_with_limited_files(arguments: list[str], *, limit: int) -> subprocess.CompletedProcess[str]:
    """Run a command that fails to write more than ``limit`` bytes to a file, as on a full disk."""
    return subprocess.run(
        [sys.executable, "cli.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )


@pytest.mark.parametrize("size", ["64k", "1m", "2m", "4m"])
def test_a_backup_to_a_full_disk_reports_it_and_leaves_no_file(database, tmp_path, size):
    """The disk fills while the database is copied, or while images are added."""
    with unit_of_work() as db:
        for _ in range(40):
            content = os.urandom(100_000)
            sha256 = store_image(current_workspace(), content=content)
            db.connection().exec_driver_sql(
                "INSERT INTO image VALUES (?, 'image/png', ?, 8, 8, 8, 'MONOCHROME2')",
                (sha256, len(content)),
            )
    get_engine(current_workspace().database_url).dispose()
    with small_disk(tmp_path / "small", size=size) as mounted:
        target = tmp_path / "small" / "a.backup"
        if mounted:
            result = subprocess.run(
                [sys.executable, "cli.py", "backup", str(target)],
                cwd=ROOT, capture_output=True, text=True, check=False,
            )  # fmt: skip
        else:
            kib = int(size[:-1]) * (1024 if size.endswith("m") else 1)
            result = run_with_limited_files(["backup", str(target)], limit=kib * 1024)
        assert result.returncode == 1
        assert "Traceback" not in result.stderr
        assert "The disk is full" in result.stderr or "the disk is full" in result.stderr or not mounted
        assert list(target.parent.iterdir()) == []
