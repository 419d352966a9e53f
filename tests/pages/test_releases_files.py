"""GET /files/…: which people get a file, tested with HTTP requests through the gate."""

from __future__ import annotations

import asyncio
import hashlib
import io
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware

from accounts.service import command_line_person
from domain.people import Role
from release.service import WrittenRelease, record_release, verify_release
from storage.engine import make_engine
from storage.unit_of_work import unit_of_work
from storage.workspace import current_workspace
from tests.golden.release_world import GOLDEN, make_judged_world, write_test_release
from tests.storage.worlds import NOW
from web.files.downloads import IMPORT_ROUTES, RELEASE_ROUTES
from web.files.statistics import ROUTES as STATISTICS
from web.gate import Gate

FILE, ZIP = "/files/releases/1/gold.jsonl", "/files/releases/1.zip"
REFUSALS = "/files/refusals/20260302-demo.csv"
FIGURE = "/files/statistics/task.svg?dataset=demo"


@pytest.fixture(scope="module")
def stored_release(sqlite_template, tmp_path_factory) -> tuple[Path, WrittenRelease]:
    """Write release 1 into a workspace once, for each test to copy. Return the workspace and the release."""
    home = tmp_path_factory.mktemp("released")
    shutil.copyfile(sqlite_template, home / "overread.sqlite")
    engine = make_engine(f"sqlite:///{home / 'overread.sqlite'}")
    written_release = write_test_release(make_judged_world(engine), home / "releases" / "demo" / "v1")
    with unit_of_work(engine) as db:
        record_release(db, by=command_line_person(), release=written_release, now=NOW)
    engine.dispose()
    return home, written_release


@pytest.fixture
def release_folder(workspace, stored_release):
    """Copy release 1 to the workspace of the test, and write a list of refused records. Return its folder."""
    home, written_release = stored_release
    shutil.copyfile(home / "overread.sqlite", current_workspace().home / "overread.sqlite")
    shutil.copytree(home / "releases", current_workspace().releases)
    written_release = replace(written_release, folder=current_workspace().releases / "demo" / "v1")
    with unit_of_work(workspace) as db:  # already recorded: this updates its folder only
        record_release(db, by=command_line_person(), release=written_release, now=NOW)
    current_workspace().refusals.mkdir()
    (current_workspace().refusals / "20260302-demo.csv").write_text("file,record,field,reason\n")
    (current_workspace().home / "secret.csv").write_text("SECRET")
    return written_release.folder


@pytest.fixture
def get(release_folder, browser) -> Callable[[str], httpx.Response]:
    """Call the routes behind the gate with the cookies of the browser."""
    app = Starlette(routes=[*IMPORT_ROUTES, *RELEASE_ROUTES, *STATISTICS], middleware=[Middleware(Gate)])

    def fetch(address: str) -> httpx.Response:
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                client.cookies.update(browser.cookies)
                return await client.get(httpx.URL(address) if "%" not in address else address)

        return asyncio.run(send())

    return fetch


def test_coordinator_downloads_a_file_with_hash_and_no_caching(get, sign_in_as):
    sign_in_as("cora", Role.COORDINATOR)
    response = get(FILE)
    assert response.status_code == 200
    assert response.content == (GOLDEN / "gold.jsonl").read_bytes()
    assert response.headers["x-content-sha256"] == hashlib.sha256(response.content).hexdigest()
    assert response.headers["content-disposition"].startswith('attachment; filename="demo-v1-gold.jsonl"')
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["content-length"] == str(len(response.content))


def test_statistics_are_served_as_figures_and_tables(get, sign_in_as):
    sign_in_as("cora", Role.COORDINATOR)
    figure, table = get(FIGURE), get("/files/statistics/statistics.csv?dataset=demo")
    assert figure.headers["content-type"].startswith("image/svg+xml")
    assert figure.headers["content-disposition"] == 'attachment; filename="task.svg"'
    assert "Questions by task (demo, n = " in figure.text
    assert table.text.splitlines()[0] == "table,name,value,questions,percent"
    assert get("/files/statistics/weather.svg?dataset=demo").status_code == 404
    assert get("/files/statistics/task.svg?dataset=other").status_code == 404


def test_zip_is_a_complete_release_that_passes_verification(get, sign_in_as, tmp_path):
    sign_in_as("cora", Role.COORDINATOR)
    response = get(ZIP)
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert archive.testzip() is None
        archive.extractall(tmp_path / "out")
    assert verify_release(tmp_path / "out" / "demo-v1").ok
    assert response.content == get(ZIP).content


@pytest.mark.parametrize("address", [FILE, ZIP, REFUSALS, FIGURE])
def test_without_a_sign_in_no_file_is_served(get, address):
    response = get(address)
    assert response.status_code == 401
    assert b"Q1" not in response.content
    assert "content-disposition" not in response.headers


@pytest.mark.parametrize("address", [FILE, ZIP, REFUSALS, FIGURE])
@pytest.mark.parametrize("role", [Role.ADMIN, Role.REVIEWER, Role.READER])
def test_other_roles_get_no_file(get, sign_in_as, role, address):
    sign_in_as("jo", role)
    response = get(address)
    assert (response.status_code, response.json()["kind"]) == (403, "NotAllowed")
    assert "content-disposition" not in response.headers


@pytest.mark.parametrize(
    "address",
    [
        "/files/releases/2/gold.jsonl",
        "/files/releases/2.zip",
        "/files/releases/1/nothing.jsonl",
        "/files/releases/1/../../../secret.csv",
        "/files/releases/1/..%2f..%2f..%2fsecret.csv",
        "/files/releases/1/%2fetc%2fpasswd",
        "/files/releases/1/gold.jsonl%00.csv",
        "/files/refusals/..%2fsecret.csv",
        "/files/refusals/%2e%2e%2fsecret.csv",
        "/files/refusals/.hidden",
        "/files/refusals/nothing.csv",
    ],
)
def test_unknown_path_is_not_found(get, sign_in_as, address):
    sign_in_as("cora", Role.COORDINATOR)
    response = get(address)
    assert response.status_code == 404
    assert b"SECRET" not in response.content
    assert b"root:" not in response.content


def test_changed_file_is_not_served(get, sign_in_as, release_folder):
    sign_in_as("cora", Role.COORDINATOR)
    path = release_folder / "gold.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"answer":[0]', b'"answer":[1]'))
    response = get(FILE)
    assert (response.status_code, response.json()["kind"]) == (422, "Refused")


def test_release_with_a_missing_file_serves_no_zip(get, sign_in_as, release_folder):
    sign_in_as("cora", Role.COORDINATOR)
    (release_folder / "gold.csv").unlink()
    assert get(ZIP).status_code == 404


def test_coordinator_downloads_the_list_of_refused_records(get, sign_in_as):
    sign_in_as("cora", Role.COORDINATOR)
    response = get(REFUSALS)
    assert response.text == "file,record,field,reason\n"
    assert response.headers["content-type"].startswith("text/csv")


def test_symbolic_link_among_the_refusals_is_not_followed(get, sign_in_as):
    sign_in_as("cora", Role.COORDINATOR)
    (current_workspace().refusals / "link.csv").symlink_to(current_workspace().home / "secret.csv")
    assert get("/files/refusals/link.csv").status_code == 404
