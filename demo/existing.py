"""Checks whether a workspace exists. The module imports little, because `make app` runs it at each start."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.engine import make_url

from storage.workspace import Workspace


def workspace_exists(workspace: Workspace) -> bool:
    """Return whether a workspace exists: an SQLite file, or a database server with accounts."""
    file = database_file(workspace)
    if file is not None:
        return file.exists()
    from sqlalchemy import inspect  # noqa: PLC0415 - slow, and not needed for SQLite

    from accounts.service import has_people  # noqa: PLC0415 - slow, and not needed for SQLite
    from storage.engine import make_engine  # noqa: PLC0415 - slow, and not needed for SQLite
    from storage.unit_of_work import read_only_session  # noqa: PLC0415 - slow, and not needed for SQLite

    engine = make_engine(workspace.database_url)
    try:
        if not inspect(engine).has_table("person"):
            return False
        with read_only_session(engine) as db:
            return has_people(db)
    finally:
        engine.dispose()


def database_file(workspace: Workspace) -> Path | None:
    """Return the file of an SQLite database; None for a database server."""
    url = make_url(workspace.database_url)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
