"""Databases of demo workspaces that older commits made, kept in old_workspaces.tar.xz as SQL text.

Each is the result of `cli.py demo` of that commit on SQLite, without unassigned questions, without the words
of the search index, and without images. ``python -m tests.storage.old_workspaces NAME DATABASE`` adds a
database to the archive.
"""

from __future__ import annotations

import io
import sqlite3
import sys
import tarfile
from pathlib import Path

ARCHIVE = Path(__file__).with_suffix(".tar.xz")
_SEARCH_INDEX = "question_words"


def list_names() -> tuple[str, ...]:
    """The commits, oldest first."""
    with tarfile.open(ARCHIVE) as archive:
        return tuple(name.removesuffix(".sql") for name in archive.getnames())


def unpack(name: str, database: Path) -> None:
    """Create the SQLite file as that commit left it."""
    with tarfile.open(ARCHIVE) as archive:
        statements = archive.extractfile(f"{name}.sql").read().decode("utf-8")
    connection = sqlite3.connect(database)
    connection.executescript(statements)
    connection.close()


def pack(name: str, database: Path) -> None:
    """Add a database to the archive; the database file is not changed."""
    contents = {}
    if ARCHIVE.exists():
        with tarfile.open(ARCHIVE) as archive:
            contents = {member.name: archive.extractfile(member).read() for member in archive}
    contents[f"{name}.sql"] = dump(database).encode("utf-8")
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for file, content in contents.items():
            entry = tarfile.TarInfo(file)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def dump(database: Path) -> str:
    """The database as SQL text, with the questions that are referenced by tables other than ``problem``."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as source:
        source.backup(connection)
    triggers = _read_statements(connection, "type = 'trigger'")
    virtual_tables = _read_statements(connection, f"name = '{_SEARCH_INDEX}'")
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(f"DROP TABLE {_SEARCH_INDEX}")
    used_question_ids = " UNION ".join(
        f"SELECT {column} FROM {table}"
        for table, column in connection.execute(
            "SELECT t.name, k.[from] FROM sqlite_schema t, pragma_foreign_key_list(t.name) k "
            "WHERE t.type = 'table' AND t.name <> 'problem' AND k.[table] = 'question'"
        )
    )
    connection.execute(f"DELETE FROM problem WHERE question_id NOT IN ({used_question_ids})")
    connection.execute(f"DELETE FROM question WHERE id NOT IN ({used_question_ids})")
    if dangling := connection.execute("PRAGMA foreign_key_check").fetchone():
        raise ValueError(f"table {dangling[0]} refers to a question that was left out")
    return "\n".join([*connection.iterdump(), *virtual_tables, *triggers])


def _read_statements(connection: sqlite3.Connection, condition: str) -> list[str]:
    return [f"{sql};" for (sql,) in connection.execute(f"SELECT sql FROM sqlite_schema WHERE {condition}")]


if __name__ == "__main__":
    pack(sys.argv[1], Path(sys.argv[2]))
