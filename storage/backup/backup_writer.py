"""Creation of a backup: a snapshot of the database while it is in use, with all files that belong to it."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, cast

from sqlalchemy import Connection, Engine

from domain.errors import AlreadyThere, NotFound, NotNow, Refused
from domain.version import VERSION
from storage.backup.archive import ArchiveWriter
from storage.backup.databases import has_database
from storage.backup.manifest import FORMAT, NAME, FileInBackup, ImagesInBackup, Manifest, TableInBackup
from storage.backup.tables import TableShape, inspect_tables, iterate_lines
from storage.database_errors import (
    DATABASE_ERRORS,
    DatabaseDamaged,
    find_cause,
    is_damaged,
    to_domain_error,
)
from storage.engine import make_engine
from storage.images.files import get_image_store
from storage.schema import list_revisions, read_revision
from storage.schema_check import describe_differences, find_schema_differences, list_expected_tables
from storage.workspace import BACKED_UP, Workspace

#: The lines of a table are compressed in parts of about this size in bytes.
_PART_BYTES = 4 << 20
_STALE_AFTER_SECONDS = 24 * 3600
#: Called with the current step, the amount done and the total.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupResult:
    """A finished backup; ``sha256`` is the hash in its last line."""

    path: Path
    bytes: int
    sha256: str
    manifest: Manifest

    @property
    def is_current(self) -> bool:
        """Whether the tables have the schema of this version."""
        return self.manifest.revision == list_revisions()[-1]


def make_backup(
    workspace: Workspace,
    path: Path,
    *,
    with_images: bool = True,
    replace: bool = False,
    now: datetime,
    progress: Progress = lambda *_: None,
) -> BackupResult:
    """Write the whole workspace to one file, which is moved to ``path`` when it is complete.

    The backup has everything that was committed before the call. Writers continue without waiting.

    Args:
        workspace: the workspace; its database may have any revision.
        path: the file to write.
        with_images: whether the backup contains the images; False if they are backed up in another way.
        replace: whether an existing file may be replaced, once the new one is complete.
        now: the current time.
        progress: a function that is called with the progress.

    Raises:
        AlreadyThere: ``path`` exists and may not be replaced.
        NotNow: the database is damaged or cannot be read, or there is no space for its copy.
        OSError: the file cannot be written.
        Refused: there is no workspace, or the backup could not be restored because a table or column is not
            as expected.
    """
    path = path.resolve()  # a symbolic link is kept, and its target is replaced
    if path.exists() and not path.is_file():  # /dev/stdout would be replaced by a file
        raise Refused(f"{path} is not a regular file. Choose a file name for the backup.")
    if path.exists() and not replace:
        raise AlreadyThere(f"{path} already exists. Choose another name, or use --replace.")
    if not has_database(workspace):
        raise Refused(f"There is nothing to back up: {workspace.home} is not a workspace.")
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_stale_files(path, now=now)
    work_folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.making-"))
    try:
        with _open_snapshot(workspace.database_url, work_folder, progress) as connection:
            revision = read_revision(connection)
            if revision is None:
                raise Refused(f"There is nothing to back up: {workspace.home} is not a workspace.")
            expected = None
            if revision == list_revisions()[-1]:
                _check_restorable(connection)
                expected = list_expected_tables(connection.dialect.name)
            writer = ArchiveWriter(work_folder / "backup")
            try:
                images = _add_images(
                    writer, workspace, connection, with_images=with_images, progress=progress
                )
                files = tuple(_add_files(writer, workspace.home, progress))
                manifest = Manifest(
                    format=FORMAT,
                    made_at=now,
                    version=VERSION,
                    revision=revision,
                    database=connection.dialect.name,
                    home=str(workspace.home),
                    tables=tuple(
                        _add_tables(
                            writer, inspect_tables(connection, include=expected), connection, progress
                        )
                    ),
                    images=images,
                    files=files,
                )
                writer.add(NAME, manifest.to_bytes())
                digest = writer.seal()
            finally:
                writer.close()
        (work_folder / "backup").replace(path)
        _fsync(path.parent)
    except DATABASE_ERRORS as error:
        raise to_domain_error(error, problem=f"No backup was written to {path}") from error
    finally:
        shutil.rmtree(work_folder, ignore_errors=True)
    return BackupResult(path=path, bytes=path.stat().st_size, sha256=digest, manifest=manifest)


def _check_restorable(connection: Connection) -> None:
    """Raise Refused if a table or column is missing, altered or added: such a backup cannot be restored."""
    differences = find_schema_differences(connection)
    if not all(difference.rows_are_complete for difference in differences):
        raise Refused(f"{describe_differences(differences)} No backup was written: it could not be restored.")


@contextmanager
def _open_snapshot(url: str, work_folder: Path, progress: Progress) -> Iterator[Connection]:
    """Open a connection that sees one snapshot of the database."""
    engine = make_engine(url)
    try:
        with _open_engine_snapshot(engine, work_folder, progress) as connection:
            yield connection
    finally:
        engine.dispose()


@contextmanager
def _open_engine_snapshot(engine: Engine, work_folder: Path, progress: Progress) -> Iterator[Connection]:
    if engine.dialect.name == "sqlite":
        _copy_sqlite(engine, work_folder / "copy.sqlite", progress)
        copy = make_engine(f"sqlite:///{work_folder / 'copy.sqlite'}")
        try:
            with copy.execution_options(overread_read_only=True).connect() as connection:
                check_result = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
                if check_result != "ok":
                    raise DatabaseDamaged(str(check_result))
                yield connection
        finally:
            copy.dispose()
        return
    options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    with engine.connect().execution_options(**options) as connection:
        connection.exec_driver_sql("SET TIME ZONE 'UTC'")
        yield connection


def _copy_sqlite(engine: Engine, target: Path, progress: Progress) -> None:
    """Copy the database to a file with SQLite's backup function.

    Reading the database itself for so long would block the checkpoint of its write-ahead log. The copy is
    made within one read transaction, so that writes do not restart it.
    """
    try:
        connection = engine.raw_connection()
    except DATABASE_ERRORS as error:
        if is_damaged(error):
            raise
        raise NotNow(
            f"The database could not be opened: {find_cause(error)}. SQLite must write files next to the"
            " database even to read it. Make the workspace writable, or back up a copy of the folder."
        ) from error
    source = cast("sqlite3.Connection", connection.driver_connection)
    try:
        source.execute("BEGIN")
        source.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # the first read fixes the snapshot
        with sqlite3.connect(target) as copy:
            source.backup(
                copy, pages=4096, sleep=0,
                progress=lambda _, remaining, pages: progress("database", pages - remaining, pages),
            )  # fmt: skip
        copy.close()
    finally:
        source.rollback()
        connection.close()


def _add_images(
    writer: ArchiveWriter,
    workspace: Workspace,
    connection: Connection,
    *,
    with_images: bool,
    progress: Progress,
) -> ImagesInBackup:
    rows = connection.exec_driver_sql("SELECT sha256 FROM image").scalars()
    names = sorted(rows)
    digest, size, count, missing = hashlib.sha256(), 0, 0, []
    store = get_image_store(workspace)
    for done, name in enumerate(names if with_images else (), start=1):
        try:
            content = store.read(name)
        except (NotFound, Refused):
            missing.append(name)
            continue
        writer.add(f"images/{name}", content)
        digest.update(f"{name}\n".encode())
        size, count = size + len(content), count + 1
        progress("images", done, len(names))
    return ImagesInBackup(
        count=count,
        bytes=size,
        sha256=digest.hexdigest(),
        missing=tuple(missing),
        left_out=not with_images,
    )


def _add_files(writer: ArchiveWriter, home: Path, progress: Progress) -> Iterator[FileInBackup]:
    for done, path in enumerate(_iterate_files(home), start=1):
        relative = path.relative_to(home).as_posix()
        try:
            file = path.open("rb")
        except FileNotFoundError:
            continue  # the file was removed in the meantime
        with file:
            length = os.fstat(file.fileno()).st_size
            reader = _HashingReader(file)
            writer.add_file(f"files/{relative}", reader, length)
        yield FileInBackup(path=relative, bytes=length, sha256=reader.hash.hexdigest())
        progress("files", done, done)


def _iterate_files(home: Path) -> Iterator[Path]:
    """Yield the complete files. Files that are still being written and symbolic links are omitted."""
    for name in BACKED_UP:
        top = home / name
        paths = [top] if top.is_file() else sorted(top.rglob("*"))
        for path in paths:
            is_hidden = any(part.startswith(".") for part in path.relative_to(home).parts)
            if path.is_file() and not path.is_symlink() and not is_hidden:
                yield path


def _add_tables(
    writer: ArchiveWriter, shapes: Sequence[TableShape], connection: Connection, progress: Progress
) -> Iterator[TableInBackup]:
    for done, shape in enumerate(shapes, start=1):
        yield _add_table(writer, connection, shape)
        progress("tables", done, len(shapes))


def _add_table(writer: ArchiveWriter, connection: Connection, shape: TableShape) -> TableInBackup:
    digest, row_count, buffer, part_number = hashlib.sha256(), 0, bytearray(), 0
    for line in iterate_lines(connection, shape):
        digest.update(line)
        buffer += line
        row_count += 1
        if len(buffer) >= _PART_BYTES:
            part_number += 1
            writer.add(_part_name(shape.name, part_number), gzip.compress(buffer, 5, mtime=0))
            buffer.clear()
    if buffer:
        writer.add(_part_name(shape.name, part_number + 1), gzip.compress(buffer, 5, mtime=0))
    return TableInBackup(name=shape.name, columns=shape.columns, rows=row_count, sha256=digest.hexdigest())


def _part_name(table: str, number: int) -> str:
    return f"tables/{table}/{number:06d}.jsonl.gz"


class _HashingReader:
    """A file that is hashed while it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.hash = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size)
        self.hash.update(content)
        return content


def _remove_stale_files(path: Path, *, now: datetime) -> None:
    """Remove temporary files of an interrupted backup to this path."""
    for folder in path.parent.glob(f".{path.name}.making-*"):
        if folder.stat().st_mtime < now.timestamp() - _STALE_AFTER_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def _fsync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
