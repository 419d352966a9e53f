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
from tests.storage.backup_worlds import LATER, fill_workspace, make_workspace
from tests.storage.worlds import NOW

#: The seal detects an altered bit, unless its part is unreadable before the seal is compared.
REASONS = (
    "does not match its SHA-256",
    "cannot be read",
    "cannot be unpacked",
    "its end is missing",
    "different content",
)


@pytest.fixture
def empty_workspace(tmp_path) -> Workspace:
    """An empty workspace on SQLite."""
    home = tmp_path / "elsewhere"
    return Workspace(home=home, database_url=f"sqlite:///{home / 'overread.sqlite'}")


@pytest.fixture(scope="module")
def intact_backup(sqlite_template, tmp_path_factory) -> bytes:
    """The bytes of an undamaged backup, made once."""
    folder = tmp_path_factory.mktemp("sound")
    shutil.copyfile(sqlite_template, folder / "overread.sqlite")
    engine = make_engine(f"sqlite:///{folder / 'overread.sqlite'}")
    result = make_backup(fill_workspace(engine, folder), folder / "a.backup", now=NOW)
    engine.dispose()
    return result.path.read_bytes()


def restore_and_expect_refusal(content: bytes, empty_workspace: Workspace, tmp_path: Path) -> str:
    """The reason of the refusal; nothing was written."""
    path = tmp_path / "altered.backup"
    path.write_bytes(content)
    with pytest.raises(BackupDamaged) as caught:
        restore_backup(path, empty_workspace, now=LATER)
    assert not empty_workspace.home.exists()
    return str(caught.value)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.7, 0.999])
def test_truncated_backup_is_refused(intact_backup, empty_workspace, tmp_path, share):
    reason = restore_and_expect_refusal(
        intact_backup[: int(len(intact_backup) * share)], empty_workspace, tmp_path
    )
    assert "its end is missing" in reason


@pytest.mark.parametrize("seed", range(12))
def test_a_backup_with_one_altered_bit_is_refused(intact_backup, empty_workspace, tmp_path, seed):
    bit = int(np.random.default_rng(seed).integers(0, len(intact_backup) * 8))
    content = bytearray(intact_backup)
    content[bit // 8] ^= 1 << (bit % 8)
    reason = restore_and_expect_refusal(bytes(content), empty_workspace, tmp_path)
    assert any(expected in reason for expected in REASONS), reason


def test_backup_with_trailing_bytes_is_refused(intact_backup, empty_workspace, tmp_path):
    assert "its end is missing" in restore_and_expect_refusal(
        intact_backup + b"\n", empty_workspace, tmp_path
    )


def read_members(intact_backup: bytes) -> list[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(intact_backup)) as tar:
        return [(member.name, tar.extractfile(member).read()) for member in tar.getmembers()]


def write_sealed(archive_members: list[tuple[str, bytes]], tmp_path: Path) -> bytes:
    """A backup of those members with a valid seal, as an attacker could make it."""
    writer = ArchiveWriter(tmp_path / "crafted")
    for name, content in archive_members:
        writer.add(name, content)
    writer.seal()
    return (tmp_path / "crafted").read_bytes()


@pytest.mark.parametrize(
    "name", ["files/../../escaped", "/etc/escaped", "files//etc/escaped", "files/cache/../../x",
             "files/.ssh/keys", "files/releases/..", "files/overread.sqlite", "images/../x", "else"],
)  # fmt: skip
def test_member_outside_the_workspace_is_refused(intact_backup, empty_workspace, tmp_path, name):
    reason = restore_and_expect_refusal(
        write_sealed([(name, b"x"), *read_members(intact_backup)], tmp_path), empty_workspace, tmp_path
    )
    assert "would be written outside the workspace" in reason


def test_link_in_a_backup_is_refused(intact_backup, empty_workspace, tmp_path):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        link = tarfile.TarInfo("files/releases/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        tar.addfile(link)
    archive = content.getvalue()
    seal = f"overread-backup {hashlib.sha256(archive).hexdigest()}\n".encode()
    assert "not a regular file" in restore_and_expect_refusal(archive + seal, empty_workspace, tmp_path)


def test_file_missing_from_the_manifest_is_refused(intact_backup, empty_workspace, tmp_path):
    crafted = write_sealed([("files/refusals/more.csv", b"x"), *read_members(intact_backup)], tmp_path)
    assert "does not match its manifest" in restore_and_expect_refusal(crafted, empty_workspace, tmp_path)


def test_image_with_other_bytes_is_refused(intact_backup, empty_workspace, tmp_path):
    members = [
        (name, b"x" if name.startswith("images/") else content)
        for name, content in read_members(intact_backup)
    ]
    assert "has different content" in restore_and_expect_refusal(
        write_sealed(members, tmp_path), empty_workspace, tmp_path
    )


def test_a_backup_without_a_table_is_refused(intact_backup, empty_workspace, tmp_path):
    members = [member for member in read_members(intact_backup) if not member[0].startswith("tables/person/")]
    assert "does not match its manifest" in restore_and_expect_refusal(
        write_sealed(members, tmp_path), empty_workspace, tmp_path
    )


def test_backup_of_a_newer_version_is_refused_with_advice(intact_backup, empty_workspace, tmp_path):
    members = read_members(intact_backup)
    manifest = msgspec.json.decode(members[-1][1])
    manifest["revision"] = "9999"
    crafted = write_sealed(
        [*members[:-1], ("manifest.json", msgspec.json.format(msgspec.json.encode(manifest)))], tmp_path
    )
    path = tmp_path / "newer.backup"
    path.write_bytes(crafted)
    with pytest.raises(Refused, match=r"A newer version of Overread .* Update Overread first"):
        restore_backup(path, empty_workspace, now=LATER)


def test_failed_restore_leaves_the_workspace_unchanged(intact_backup, postgres_engine, tmp_path):
    """PostgreSQL refuses a NUL in a text, which SQLite accepts; rows inserted before it are rolled back."""
    workspace = make_workspace(postgres_engine, tmp_path / "there")
    members = read_members(intact_backup)
    name, content = next(member for member in members if member[0].startswith("tables/person/"))
    lines = gzip.decompress(content).replace(b'"Ruth"', b'"Ru\\u0000"')
    assert b"u0000" in lines
    manifest = msgspec.json.decode(members[-1][1])
    for table in manifest["tables"]:
        if table["name"] == "person":
            table["sha256"] = hashlib.sha256(lines).hexdigest()
    members_with_nul = [
        (name, gzip.compress(lines)) if member[0] == name else member for member in members[:-1]
    ]
    path = tmp_path / "nul.backup"
    path.write_bytes(
        write_sealed(
            [*members_with_nul, ("manifest.json", msgspec.json.format(msgspec.json.encode(manifest)))],
            tmp_path,
        )
    )
    with pytest.raises(
        Refused, match="could not be restored into the database, which was not changed: table person"
    ):
        restore_backup(path, workspace, now=LATER)
    with postgres_engine.connect() as connection:
        assert count_rows(connection, "person") == 0
        assert count_rows(connection, "dataset") == 0
