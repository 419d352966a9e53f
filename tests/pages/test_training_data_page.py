"""Training data on the page Releases: written as a job, and downloaded as a zip file."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile

import httpx
import pytest
from sqlmodel import select
from starlette.applications import Starlette
from starlette.middleware import Middleware

from accounts.service import command_line_person
from domain.people import Role
from release.service import record_release
from release.splits import SplitPlan
from storage.rows.audit import AuditRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import current_workspace
from tests.golden.formats_world import make_formats_world, make_question_records
from tests.pages.conftest import get_text, wait_for_jobs
from tests.storage.worlds import NOW
from web.files.downloads import RELEASE_ROUTES
from web.gate import Gate

pytestmark = pytest.mark.slow
ADDRESS = "/files/training/1/trl-gemex.zip"


@pytest.fixture
def release_page(workspace, sign_in_as, run_page, tmp_path):
    """Opens the page Releases with release 1, which is written with the given options."""

    def open_page(**options):
        world = make_formats_world(workspace, tmp_path)
        folder = current_workspace().releases / "formats" / "v1"
        written_release = world.write(folder, **options)
        with unit_of_work() as db:
            record_release(db, by=command_line_person(), release=written_release, now=NOW)
        sign_in_as("cora", Role.COORDINATOR)
        return run_page("pages/releases.py")

    return open_page


def fetch(browser, address):
    app = Starlette(routes=RELEASE_ROUTES, middleware=[Middleware(Gate)])

    async def send():
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            client.cookies.update(browser.cookies)
            return await client.get(address)

    return asyncio.run(send())


def click_write(page):
    next(button for button in page.button if button.label == "Write training data").click()
    page.run()
    wait_for_jobs()
    return page.run()


def test_training_data_are_written_linked_and_downloaded(release_page, browser, sign_in_as):
    page = release_page(with_images=True)
    assert "has no split train" in get_text(page)
    click_write(page)
    assert not page.exception
    assert f"(ZIP)]({ADDRESS})" in get_text(page)
    response = fetch(browser, ADDRESS)
    assert response.headers["content-disposition"].startswith("attachment; filename=")
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        names = [name.partition("/")[2] for name in archive.namelist()]
        [train_file] = [name for name in archive.namelist() if name.endswith("/train.jsonl")]
        lines = [json.loads(line) for line in archive.read(train_file).splitlines()]
    assert {"train.jsonl", "training.json", "train_trl.py"} <= set(names)
    assert {image for line in lines for image in line["images"]} == {
        name for name in names if name.startswith("images/")
    }
    with read_only_session() as db:
        entries = db.exec(select(AuditRow).where(AuditRow.what == "write training data")).all()
    assert [entry.subject for entry in entries] == ["release 1"]

    assert fetch(browser, "/files/training/1/ms-swift-pixels.zip").status_code == 404
    sign_in_as("ruth", Role.REVIEWER)
    assert fetch(browser, ADDRESS).status_code == 403


def test_private_questions_are_not_in_training_data(release_page, browser):
    page = release_page(with_images=True, split=SplitPlan(private_share=0.5, seed=1))
    click_write(page)
    path = current_workspace().releases / "formats" / "v1" / "private" / "questions.jsonl"
    private_ids = {json.loads(line)["id"] for line in path.read_text("utf-8").splitlines()}
    assert private_ids
    text = (current_workspace().training / "1" / "trl-gemex" / "train.jsonl").read_text("utf-8")
    stems = {
        json.dumps(record["stem"])[1:-1] for record in make_question_records() if record["id"] in private_ids
    }
    assert not [stem for stem in stems if stem in text]


def test_page_states_that_training_data_need_a_release_with_images(release_page):
    assert "Training data need a release with images." in get_text(release_page())
