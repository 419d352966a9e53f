"""Whether a workspace exists already. Kept apart, because `make app` asks this at every start."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.engine import make_url

from storage.workspace import Workspace


def workspace_exists(workspace: Workspace) -> bool:
    """Whether a workspace exists: an SQLite file, or a database on a server that has accounts."""
    file = database_file(workspace)
    if file is not None:
        return file.exists()
    from sqlalchemy import inspect  # noqa: PLC0415 - a file needs none of these, and they take a second

    from accounts.service import has_people  # noqa: PLC0415 - the same
    from storage.engine import make_engine  # noqa: PLC0415 - the same
    from storage.unit_of_work import read_only_session  # noqa: PLC0415 - the same

    engine = make_engine(workspace.database_url)
    try:
        if not inspect(engine).has_table("person"):
            return False
        with read_only_session(engine) as db:
            return has_people(db)
    finally:
        engine.dispose()


def database_file(workspace: Workspace) -> Path | None:
    """The file of an SQLite database; None for a database on a server."""
    url = make_url(workspace.database_url)
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
