"""The first start of an installation: an empty database, and a folder or bucket that does not exist yet."""

from __future__ import annotations

import os

import pytest
from sqlalchemy import make_url

from domain.errors import NotNow
from storage.engine import get_engine
from storage.health import run_health_checks
from storage.images.files import _bucket_store
from storage.schema import prepare_workspace
from storage.workspace import current_workspace
from tests.storage.bucket_server import running_bucket_server

pytestmark = pytest.mark.database


@pytest.fixture(scope="module")
def bucket_server():
    with running_bucket_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def empty_database(request, monkeypatch):
    """An empty PostgreSQL database named in the environment, or SQLite's default in the workspace."""
    if request.param == "sqlite":
        monkeypatch.delenv("OVERREAD_DATABASE_URL", raising=False)
        yield
    else:
        name = f"overread_empty_{os.getpid()}"
        admin_connection = request.getfixturevalue("administration")
        admin_connection.exec_driver_sql(f'CREATE DATABASE "{name}"')
        server = request.getfixturevalue("postgres_server")
        url = make_url(server).set(database=name).render_as_string(hide_password=False)
        monkeypatch.setenv("OVERREAD_DATABASE_URL", url)
        yield
        get_engine(url).dispose()
        admin_connection.exec_driver_sql(f'DROP DATABASE "{name}" WITH (FORCE)')
    get_engine.cache_clear()


@pytest.fixture(params=["folder", "bucket"])
def installation(request, empty_database, tmp_path, monkeypatch):
    """Set the environment of an installation whose folder does not exist yet; return its workspace."""
    if request.param == "bucket":
        server = request.getfixturevalue("bucket_server")
        for name, value in server.settings(tmp_path.name).items():
            monkeypatch.setenv(name, value)
    _bucket_store.cache_clear()
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "not" / "there" / "yet"))
    yield current_workspace()
    _bucket_store.cache_clear()


@pytest.mark.slow
def test_first_start_prepares_the_workspace(installation):
    prepare_workspace()
    assert [check for check in run_health_checks(installation) if not check.passed] == []


def test_the_message_names_the_workspace_folder_that_cannot_be_created(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path / "file" / "workspace"))
    with pytest.raises(NotNow, match=r"The workspace folder .*workspace could not be created"):
        prepare_workspace()
