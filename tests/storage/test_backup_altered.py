"""Backups that were truncated, altered or crafted are refused before anything is written."""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import tarfile
from pathlib import Path

import msgspec
import numpy as np
import pytest

from domain.errors import Refused
from storage.backup import BackupDamaged, make_backup, restore_backup
from storage.backup.archive import ArchiveWriter
from storage.backup.tables import count_rows
from storage.engine import make_engine
from storage.workspace import Workspace
from tests.storage.backup_worlds import LATER, furnish, workspace_on
from tests.storage.worlds import NOW

#: The seal detects an altered bit, unless its part is unreadable before the seal is compared.
FOUND_BY = ("don't match its seal", "can't be read", "can't be unpacked", "its end is missing", "other bytes")


@pytest.fixture
def elsewhere(tmp_path) -> Workspace:
    """An empty workspace on SQLite."""
    home = tmp_path / "elsewhere"
    return Workspace(home=home, database_url=f"sqlite:///{home / 'overread.sqlite'}")


@pytest.fixture(scope="module")
def sound(sqlite_template, tmp_path_factory) -> bytes:
    """The bytes of an undamaged backup, made once."""
    folder = tmp_path_factory.mktemp("sound")
    shutil.copyfile(sqlite_template, folder / "overread.sqlite")
    engine = make_engine(f"sqlite:///{folder / 'overread.sqlite'}")
    made = make_backup(furnish(engine, folder), folder / "a.backup", now=NOW)
    engine.dispose()
    return made.path.read_bytes()


def refused(content: bytes, elsewhere: Workspace, tmp_path: Path) -> str:
    """The reason of the refusal; nothing was written."""
    path = tmp_path / "altered.backup"
    path.write_bytes(content)
    with pytest.raises(BackupDamaged) as caught:
        restore_backup(path, elsewhere, now=LATER)
    assert not elsewhere.home.exists()
    return str(caught.value)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.7, 0.999])
def test_a_truncated_backup_is_refused(sound, elsewhere, tmp_path, share):
    said = refused(sound[: int(len(sound) * share)], elsewhere, tmp_path)
    assert "its end is missing" in said


@pytest.mark.parametrize("seed", range(12))
def test_a_backup_with_one_altered_bit_is_refused(sound, elsewhere, tmp_path, seed):
    place = int(np.random.default_rng(seed).integers(0, len(sound) * 8))
    content = bytearray(sound)
    content[place // 8] ^= 1 << (place % 8)
    said = refused(bytes(content), elsewhere, tmp_path)
    assert any(each in said for each in FOUND_BY), said


def test_a_backup_with_something_after_its_end_is_refused(sound, elsewhere, tmp_path):
    assert "its end is missing" in refused(sound + b"\n", elsewhere, tmp_path)


def members(sound: bytes) -> list[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(sound)) as tar:
        return [(each.name, tar.extractfile(each).read()) for each in tar.getmembers()]


def sealed(parts: list[tuple[str, bytes]], tmp_path: Path) -> bytes:
    """A backup of those members with a valid seal, as an attacker could make it."""
    writer = ArchiveWriter(tmp_path / "crafted")
    for name, content in parts:
        writer.add(name, content)
    writer.seal()
    return (tmp_path / "crafted").read_bytes()


@pytest.mark.parametrize(
    "name", ["files/../../escaped", "/etc/escaped", "files//etc/escaped", "files/cache/../../x",
             "files/.ssh/keys", "files/releases/..", "files/overread.sqlite", "images/../x", "else"],
)  # fmt: skip
def test_a_member_that_leads_out_of_the_workspace_is_refused(sound, elsewhere, tmp_path, name):
    said = refused(sealed([(name, b"x"), *members(sound)], tmp_path), elsewhere, tmp_path)
    assert "would be written where no backup writes" in said


def test_a_link_in_a_backup_is_refused(sound, elsewhere, tmp_path):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        link = tarfile.TarInfo("files/releases/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        tar.addfile(link)
    tarred = content.getvalue()
    seal = f"overread-backup {hashlib.sha256(tarred).hexdigest()}\n".encode()
    assert "no plain file" in refused(tarred + seal, elsewhere, tmp_path)


def test_a_file_that_the_manifest_does_not_name_is_refused(sound, elsewhere, tmp_path):
    crafted = sealed([("files/refusals/more.csv", b"x"), *members(sound)], tmp_path)
    assert "does not hold what its manifest says" in refused(crafted, elsewhere, tmp_path)


def test_an_image_under_another_name_is_refused(sound, elsewhere, tmp_path):
    parts = [(name, b"x" if name.startswith("images/") else content) for name, content in members(sound)]
    assert "has other bytes" in refused(sealed(parts, tmp_path), elsewhere, tmp_path)


def test_a_backup_without_a_table_is_refused(sound, elsewhere, tmp_path):
    parts = [each for each in members(sound) if not each[0].startswith("tables/person/")]
    assert "does not hold what its manifest says" in refused(sealed(parts, tmp_path), elsewhere, tmp_path)


def test_a_backup_of_a_newer_version_is_refused_with_the_way_out(sound, elsewhere, tmp_path):
    parts = members(sound)
    manifest = msgspec.json.decode(parts[-1][1])
    manifest["revision"] = "9999"
    crafted = sealed(
        [*parts[:-1], ("manifest.json", msgspec.json.format(msgspec.json.encode(manifest)))], tmp_path
    )
    path = tmp_path / "newer.backup"
    path.write_bytes(crafted)
    with pytest.raises(Refused, match=r"A newer version of Overread .* Update Overread first"):
        restore_backup(path, elsewhere, now=LATER)


def test_a_row_that_does_not_fit_leaves_the_workspace_as_it_was(sound, postgres_engine, tmp_path):
    """PostgreSQL stores no NUL in a text, SQLite does: the rows inserted before it are rolled back."""
    workspace = workspace_on(postgres_engine, tmp_path / "there")
    parts = members(sound)
    name, content = next(each for each in parts if each[0].startswith("tables/person/"))
    lines = gzip.decompress(content).replace(b'"Ruth"', b'"Ru\\u0000"')
    assert b"u0000" in lines
    manifest = msgspec.json.decode(parts[-1][1])
    for table in manifest["tables"]:
        if table["name"] == "person":
            table["sha256"] = hashlib.sha256(lines).hexdigest()
    replaced = [(name, gzip.compress(lines)) if each[0] == name else each for each in parts[:-1]]
    path = tmp_path / "nul.backup"
    path.write_bytes(
        sealed([*replaced, ("manifest.json", msgspec.json.format(msgspec.json.encode(manifest)))], tmp_path)
    )
    with pytest.raises(Refused, match="did not take the backup, and was left as it was: table person"):
        restore_backup(path, workspace, now=LATER)
    with postgres_engine.connect() as connection:
        assert count_rows(connection, "person") == 0
        assert count_rows(connection, "dataset") == 0
