"""Health checks of a workspace: its database, tables, disk and image store."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from domain.errors import DomainError
from domain.file_errors import describe_file_error
from storage.database_errors import DatabaseDamaged, to_domain_error
from storage.engine import get_engine
from storage.images.files import get_image_store
from storage.schema import describe_other_revision, is_current, read_revision
from storage.schema_check import describe_remedy, find_schema_differences
from storage.unit_of_work import read_only_session
from storage.workspace import Workspace

#: With less free space, saving may fail at any moment: SQLite's log alone can grow by hundreds of MB.
MIN_FREE_BYTES = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """The result of one check; ``detail`` is for the server's administrator and must not be public."""

    name: str
    passed: bool
    detail: str


def run_health_checks(workspace: Workspace) -> list[HealthCheck]:
    """Run all checks, including the thorough ones. Failures are returned, never raised."""
    return [run_health_check(workspace, name) for name in (*CHECKS, *THOROUGH_CHECKS)]


def run_health_check(workspace: Workspace, name: str) -> HealthCheck:
    """Run one check. It may take as long as the timeout of the service that it checks."""
    try:
        return HealthCheck(name=name, passed=True, detail=(CHECKS | THOROUGH_CHECKS)[name](workspace))
    except DomainError as error:
        detail = str(error)
    except SQLAlchemyError as error:
        detail = str(to_domain_error(error, problem="the database could not be read"))
    except OSError as error:
        detail = describe_file_error(error)
    return HealthCheck(name=name, passed=False, detail=detail)


class _CheckFailed(DomainError):
    """A check did not pass; the message is its detail."""


def _check_database(workspace: Workspace) -> str:
    engine = get_engine(workspace.database_url)
    with read_only_session(engine) as db:
        db.execute(text("SELECT 1"))
    return f"{engine.dialect.name} answers"


def _check_tables(workspace: Workspace) -> str:
    engine = get_engine(workspace.database_url)
    if not is_current(engine):
        raise _CheckFailed(describe_other_revision(read_revision(engine)))
    with engine.execution_options(overread_read_only=True).connect() as connection:
        differences = find_schema_differences(connection)
    if differences:
        raise _CheckFailed("\n".join([*map(str, differences), describe_remedy(differences)]))
    return "the tables match this version"


def _check_disk(workspace: Workspace) -> str:
    free = shutil.disk_usage(workspace.home).free
    free_space = f"{free / (1 << 30):,.1f} GiB free for {workspace.home}"
    if free < MIN_FREE_BYTES:
        raise _CheckFailed(f"{free_space}; at least {MIN_FREE_BYTES >> 30} GiB are needed")
    return free_space


def _check_images(workspace: Workspace) -> str:
    get_image_store(workspace).check()
    return f"{workspace.bucket or workspace.images} can be written and read"


def _check_integrity(workspace: Workspace) -> str:
    engine = get_engine(workspace.database_url)
    with engine.execution_options(overread_read_only=True).connect() as connection:
        if engine.dialect.name != "sqlite":
            checksums = connection.exec_driver_sql("SHOW data_checksums").scalar()
            return f"PostgreSQL checks its pages while it reads them (data_checksums is {checksums})"
        problem = connection.exec_driver_sql("PRAGMA quick_check(1)").scalar()
    if problem != "ok":
        raise DatabaseDamaged(str(problem))
    return "the database file is undamaged"


#: The checks by name, in the order of the results.
CHECKS: dict[str, Callable[[Workspace], str]] = {
    "database": _check_database,
    "tables": _check_tables,
    "disk": _check_disk,
    "images": _check_images,
}
#: Checks that read the whole database. They are too slow for monitoring, which runs every few seconds.
THOROUGH_CHECKS: dict[str, Callable[[Workspace], str]] = {"integrity": _check_integrity}
