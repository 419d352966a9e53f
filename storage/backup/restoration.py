"""Restoration of a backup: it is verified, written to an empty workspace, and compared with its hashes."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from domain.errors import Refused
from domain.file_errors import add_filename_to_errors
from domain.jobs import JobStatus
from storage.backup.archive import BackupDamaged, open_members
from storage.backup.databases import list_filled_tables, open_new_database
from storage.backup.manifest import Manifest, TableInBackup
from storage.backup.tables import TableShape, insert_lines, inspect_tables, iterate_lines, reset_sequence
from storage.backup.triggers import without_triggers
from storage.backup.verification import (
    decompress_part,
    iterate_blocks,
    parse_image_name,
    parse_table_name,
    validate_path,
    verify_archive,
)
from storage.engine import make_engine
from storage.images.files import ImageStore, get_image_store
from storage.rows.datasets import ImageRow
from storage.rows.jobs import JobRow
from storage.rows.people import SignInRow
from storage.rows.releases import ReleaseRow
from storage.schema import list_revisions, upgrade
from storage.schema_check import find_schema_differences
from storage.workspace import BACKED_UP, Workspace

Progress = Callable[[str, int, int], None]
#: The errors that mean that the database does not accept the content of the backup.
_DATABASE_ERRORS = (SQLAlchemyError, ValueError)
#: Tables that may be missing in a backup of these revisions, because they were added to migration 0007 after
#: databases had already been upgraded to it.
_OPTIONAL_TABLES = {"second_opinions": ("0007", "0008", "0009")}


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """A restored backup. ``missing_images`` are images that the workspace's image store does not have.

    ``previous_files`` is the folder to which the previous files were moved; None if there were none.
    """

    manifest: Manifest
    missing_images: tuple[str, ...]
    previous_files: Path | None


def check_backup(path: Path, *, progress: Progress = lambda *_: None) -> Manifest:
    """Prove that the backup can be restored. No workspace is needed.

    The whole file is read and compared with its hashes. Then all tables are restored into a temporary SQLite
    database, read back, and compared with the backup's row counts and digests, exactly as in a restore.
    Images and other files are not written anywhere.

    Raises:
        BackupDamaged: the file was truncated or altered; the message states what is wrong.
        Refused: a newer version made it; its tables cannot be restored; or there is no space for the
            temporary database.
    """
    with path.open("rb") as file:
        manifest = _verify(file, progress)
        try:
            with tempfile.TemporaryDirectory(prefix="overread-check-") as folder:
                home = Path(folder)
                scratch = Workspace(home=home, database_url=f"sqlite:///{home / 'scratch.sqlite'}")
                with open_new_database(scratch, previous_files=home / "aside") as connection:
                    _restore_tables(file, manifest=manifest, connection=connection, progress=progress)
        except (*_DATABASE_ERRORS, OSError) as error:
            if isinstance(error, OSError) or _is_disk_full(error):
                raise Refused(_describe_disk_full(path, _describe_error(error))) from error
            raise Refused(f"{path} is undamaged but cannot be restored: {_describe_error(error)}") from error
    return manifest


def restore_backup(
    path: Path,
    workspace: Workspace,
    *,
    replace: bool = False,
    now: datetime,
    progress: Progress = lambda *_: None,
) -> RestoreResult:
    """Restore the backup to an empty workspace on SQLite or PostgreSQL.

    Images are written first, then files. The database is put in place last and in one step, after each of its
    tables has been read back and matches the row count and hash in the backup. Sign-ins are revoked, running
    jobs become interrupted, and the folders of releases inside the workspace are updated to its new path. All
    other rows are unchanged.

    Args:
        path: the backup.
        workspace: the target; the backup may be from the other kind of database.
        replace: whether a workspace that is not empty may be replaced. Its files and an SQLite database are
            then set aside; a database on a server is emptied.
        now: the current time.
        progress: a function that is called with the progress.

    Raises:
        BackupDamaged: the backup was truncated or altered; nothing was written.
        Refused: the workspace is not empty, or a newer version made the backup; nothing was written. Or the
            restored tables differ from the backup; the old database is unchanged.
    """
    existing = [name for name in BACKED_UP if _has_content(workspace.home / name)]
    existing += [f"table {name}" for name in list_filled_tables(workspace)]
    if existing and not replace:
        raise Refused(
            f"The workspace {workspace.home} is not empty: it has {', '.join(existing[:6])}. Nothing was "
            "changed. Set OVERREAD_HOME and OVERREAD_DATABASE_URL to an empty workspace, or use --replace."
        )
    previous_files = workspace.home / f"before-restore-{now:%Y%m%dT%H%M%SZ}"
    with path.open("rb") as file:
        manifest = _verify(file, progress)
        workspace.home.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(dir=workspace.home, prefix=".restoring-"))
        store = get_image_store(workspace)
        try:
            with open_new_database(workspace, previous_files=previous_files) as connection:
                _restore_tables(
                    file,
                    manifest=manifest,
                    connection=connection,
                    store_member=lambda name, content: _store_member(
                        name, content, store=store, staged=staged
                    ),
                    progress=progress,
                )
                _update_restored_rows(connection, manifest, workspace, now)
                _move_into_place(staged, workspace.home, previous_files)
        except _DATABASE_ERRORS as error:
            raise Refused(
                "The backup could not be restored into the database, which was not changed: "
                f"{_describe_error(error)}"
            ) from error
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    return RestoreResult(
        manifest=manifest,
        missing_images=tuple(_find_missing_images(workspace)),
        previous_files=previous_files if previous_files.exists() else None,
    )


def _verify(file: IO[bytes], progress: Progress) -> Manifest:
    size = file.seek(0, 2)
    try:
        manifest = verify_archive(file, progress=lambda done: progress("checking", done, size))
    except BackupDamaged as error:
        raise BackupDamaged(f"{file.name}: {error}") from error
    if manifest.revision not in list_revisions():
        raise Refused(
            f"A newer version of Overread ({manifest.version}) made this backup. Update Overread first; "
            "nothing was changed."
        )
    return manifest


def _restore_tables(
    file: IO[bytes],
    *,
    manifest: Manifest,
    connection: Connection,
    store_member: Callable[[str, IO[bytes]], None] = lambda *_: None,
    progress: Progress,
) -> None:
    """Create the backup's tables, fill them, compare them with the backup, and upgrade them to this version.

    ``store_member`` is called with name and content of every member that is not part of a table.
    """
    upgrade(connection, manifest.revision)
    tables = inspect_tables(connection)
    _check_tables(tables, manifest)
    # The backup's order of columns is used, because the backed-up database may have been altered by hand.
    columns = {table.name: table.columns for table in manifest.tables}
    shapes = {
        shape.name: replace(shape, columns=columns[shape.name]) for shape in tables if shape.name in columns
    }
    size = file.seek(0, 2)
    with without_triggers(connection):
        for shape in reversed(tables):  # the backup also has the rows that migrations insert
            connection.exec_driver_sql(f'DELETE FROM "{shape.name}"')  # noqa: S608 - the database's own names
        with open_members(file) as members:
            for name, content in members:
                if (table := parse_table_name(name)) is not None:
                    insert_lines(connection, shapes[table], decompress_part(content).split(b"\n")[:-1])
                else:
                    store_member(name, content)
                progress("restoring", file.tell(), size)
    for done, expected in enumerate(manifest.tables, start=1):
        _compare_table(connection, shapes[expected.name], expected)
        reset_sequence(connection, shapes[expected.name])
        progress("comparing", done, len(manifest.tables))
    upgrade(connection)
    if differences := find_schema_differences(connection):
        raise ValueError(f"its tables do not match this version: {'; '.join(map(str, differences))}")


def _check_tables(tables: Sequence[TableShape], manifest: Manifest) -> None:
    """Raise ValueError with the differences unless the backup has the tables and columns of its revision."""
    expected = {shape.name: shape.columns for shape in tables}
    in_backup = {table.name: table.columns for table in manifest.tables}
    differing = [
        name
        for name in sorted({*expected, *in_backup})
        if expected.get(name) != in_backup.get(name)
        and not (name not in in_backup and manifest.revision in _OPTIONAL_TABLES.get(name, ()))
    ]
    if differing:
        raise ValueError(f"these tables of the backup do not match its revision: {', '.join(differing)}")


def _store_member(name: str, content: IO[bytes], *, store: ImageStore, staged: Path) -> None:
    """Write an image to the image store if it is missing there, or another file to the folder ``staged``."""
    if (sha256 := parse_image_name(name)) is not None:
        if not store.contains(sha256):
            store.write(sha256, content.read())
    elif name.startswith("files/"):
        _write_file(staged / validate_path(name), content)


def _compare_table(connection: Connection, shape: TableShape, expected: TableInBackup) -> None:
    """Read the table back and compare its rows and hash with the backup."""
    digest, count = hashlib.sha256(), 0
    for line in iterate_lines(connection, shape):
        digest.update(line)
        count += 1
    if (count, digest.hexdigest()) != (expected.rows, expected.sha256):
        raise ValueError(
            f"table {shape.name} has {count:,} of {expected.rows:,} rows, or its rows differ from the backup"
        )


def _describe_error(error: Exception) -> str:
    """Return the database's own message, without the statement and the values of rows."""
    return str(error.orig if isinstance(error, DBAPIError) else error)


def _is_disk_full(error: Exception) -> bool:
    """Return whether the error means that SQLite could not write its file."""
    cause = error.orig if isinstance(error, DBAPIError) else error.__cause__
    return str(getattr(cause, "sqlite_errorname", "")).startswith(("SQLITE_FULL", "SQLITE_IOERR"))


def _describe_disk_full(path: Path, reason: str) -> str:
    try:
        folder = Path(tempfile.gettempdir())
        free_space = f"{folder} has {shutil.disk_usage(folder).free / (1 << 30):,.1f} GiB free"
    except OSError:
        free_space = "There is no temporary folder that can be written"
    return (
        f"{path} is undamaged, but the test restore was not possible: {reason}. {free_space}, and the check "
        "needs up to twice the size of the database there. Set TMPDIR to another folder."
    )


def _update_restored_rows(
    connection: Connection, manifest: Manifest, workspace: Workspace, now: datetime
) -> None:
    """Revoke sign-ins, interrupt jobs and update moved folders, which must not be restored unchanged."""
    sign_in, release, job = SignInRow.__table__, ReleaseRow.__table__, JobRow.__table__
    connection.execute(sign_in.update().where(sign_in.c.revoked_at.is_(None)).values(revoked_at=now))
    interrupted = {
        "status": JobStatus.INTERRUPTED.value,
        "message": "This was running when the backup was made.",
        "finished_at": now,
    }
    connection.execute(job.update().where(job.c.finished_at.is_(None)).values(interrupted))
    old_prefix, new_prefix = f"{manifest.home}/releases/", f"{workspace.home}/releases/"
    for release_id, folder in connection.execute(select(release.c.id, release.c.folder)).all():
        if folder.startswith(old_prefix):
            new_folder = new_prefix + folder.removeprefix(old_prefix)
            connection.execute(release.update().where(release.c.id == release_id).values(folder=new_folder))


def _write_file(path: Path, content: IO[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with add_filename_to_errors(path), path.open("xb") as file:
        for block in iterate_blocks(content):
            file.write(block)


def _move_into_place(staged: Path, home: Path, previous_files: Path) -> None:
    """Move the restored files into the workspace, and files that they replace to ``previous_files``."""
    for name in BACKED_UP:
        if _has_content(home / name):
            previous_files.mkdir(exist_ok=True)
            (home / name).rename(previous_files / name)
        elif (home / name).is_dir():
            (home / name).rmdir()
        if (staged / name).exists():
            (staged / name).rename(home / name)


def _find_missing_images(workspace: Workspace) -> Iterator[str]:
    """Return the images that are in the table of images but not in the image store."""
    engine = make_engine(workspace.database_url)
    store = get_image_store(workspace)
    try:
        with engine.execution_options(overread_read_only=True).connect() as connection:
            names = connection.execute(select(ImageRow.sha256).order_by(ImageRow.sha256)).scalars().all()
    finally:
        engine.dispose()
    return (name for name in names if not store.contains(name))


def _has_content(path: Path) -> bool:
    return path.is_file() or (path.is_dir() and any(path.iterdir()))
