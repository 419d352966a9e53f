"""Whether a workspace can be worked in: its database, its tables, its disk, its image store."""

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

#: Below so many free bytes saving may fail at any moment: SQLite's log alone can grow by hundreds of MB.
LEAST_FREE = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """One thing that was looked at; ``said`` is for whoever runs the server, not for strangers."""

    name: str
    good: bool
    said: str


def health_of(workspace: Workspace) -> list[HealthCheck]:
    """Look at everything; nothing is raised, whatever is wrong."""
    return [check(workspace, name) for name in CHECKS]


def check(workspace: Workspace, name: str) -> HealthCheck:
    """Look at one thing; it may take as long as that thing lets a caller wait."""
    try:
        return HealthCheck(name=name, good=True, said=CHECKS[name](workspace))
    except DomainError as error:
        return HealthCheck(name=name, good=False, said=str(error))
    except (SQLAlchemyError, OSError) as error:
        return HealthCheck(name=name, good=False, said=f"{type(error).__name__}: {error}")


class _Unfit(DomainError):
    """What was looked at is not as it must be."""


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


#: What is looked at, by name, in the order of the answer.
CHECKS: dict[str, Callable[[Workspace], str]] = {
    "database": _database,
    "tables": _tables,
    "disk": _disk,
    "images": _images,
}
