"""Health checks of a workspace: its database, tables, disk and image store."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from domain.errors import DomainError
from storage.engine import engine_for
from storage.images.files import image_store
from storage.schema import is_current
from storage.schema_check import schema_differences, way_out
from storage.unit_of_work import reading
from storage.workspace import Workspace

#: With fewer free bytes, saving may fail at any moment: SQLite's log alone can grow by hundreds of MB.
LEAST_FREE = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """The result of one check; ``said`` is for the server's administrator and must not be public."""

    name: str
    good: bool
    said: str


def health_of(workspace: Workspace) -> list[HealthCheck]:
    """Run all checks. Failures are returned, never raised."""
    return [check(workspace, name) for name in CHECKS]


def check(workspace: Workspace, name: str) -> HealthCheck:
    """Run one check. It may take as long as the timeout of the service that it checks."""
    try:
        return HealthCheck(name=name, good=True, said=CHECKS[name](workspace))
    except DomainError as error:
        return HealthCheck(name=name, good=False, said=str(error))
    except (SQLAlchemyError, OSError) as error:
        return HealthCheck(name=name, good=False, said=f"{type(error).__name__}: {error}")


class _Unfit(DomainError):
    """A check failed."""


def _database(workspace: Workspace) -> str:
    engine = engine_for(workspace.database_url)
    with reading(engine) as db:
        db.execute(text("SELECT 1"))
    return f"{engine.dialect.name} answers"


def _tables(workspace: Workspace) -> str:
    engine = engine_for(workspace.database_url)
    if not is_current(engine):
        raise _Unfit("not those of this version; they are brought up when the app starts")
    with engine.execution_options(overread_read_only=True).connect() as connection:
        differences = schema_differences(connection)
    if differences:
        raise _Unfit("\n".join([*map(str, differences), way_out(differences)]))
    return "those of this version"


def _disk(workspace: Workspace) -> str:
    free = shutil.disk_usage(workspace.home).free
    said = f"{free / (1 << 30):,.1f} GiB free for {workspace.home}"
    if free < LEAST_FREE:
        raise _Unfit(f"{said}; at least {LEAST_FREE >> 30} GiB are needed")
    return said


def _images(workspace: Workspace) -> str:
    image_store(workspace).check()
    return f"{workspace.bucket or workspace.images} can be written and read"


#: The checks by name, in the order of the results.
CHECKS: dict[str, Callable[[Workspace], str]] = {
    "database": _database,
    "tables": _tables,
    "disk": _disk,
    "images": _images,
}
