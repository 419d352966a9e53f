"""Two app processes, PostgreSQL and a bucket: from import to release, behind nginx and without it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import create_engine, make_url, select, text

from accounts import service as accounts
from domain.people import Role
from storage.rows.batches import AssignmentRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.e2e import review_helpers
from tests.e2e.app_processes import HOST, Processes, find_answering_ports, run_nginx, two_processes
from tests.e2e.conftest import _CHROMIUM_ARGUMENTS, _CHROMIUM_PROGRAMS, PASSWORD, fill_sign_in
from tests.e2e.review_helpers import COLUMNS, ROWS, draw, open_review, press, wait_for_question
from tests.storage.bucket_server import running_bucket_server

pytestmark = [pytest.mark.browser, pytest.mark.postgresql, pytest.mark.full]

KEYS_OF_ALL_RATINGS = "5443yym"  # four ratings, needs radiology, more than recall, medium


@pytest.fixture(scope="module")
def bucket_server():
    with running_bucket_server() as running:
        yield running


@pytest.fixture
def processes(postgres_server, bucket_server, tmp_path):
    name = f"several_{tmp_path.name.replace('-', '_')}"[:60].lower()
    administration = create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with administration.connect() as connection:
        connection.execute(text(f'CREATE DATABASE "{name}"'))
    url = make_url(postgres_server).set(database=name).render_as_string(hide_password=False)
    try:
        with two_processes(tmp_path / "workspace", url, bucket_server.settings(name)) as running:
            yield running
    finally:
        with administration.connect() as connection:
            connection.execute(text(f'DROP DATABASE "{name}" WITH (FORCE)'))
        administration.dispose()


@pytest.fixture
def host_mapping_chromium(chromium: Browser) -> Iterator[Browser]:
    """Chromium that resolves the example's host name to this machine."""
    executable = next(filter(None, map(shutil.which, _CHROMIUM_PROGRAMS)), None)
    arguments = [*_CHROMIUM_ARGUMENTS, f"--host-resolver-rules=MAP {HOST} 127.0.0.1"]
    browser = chromium.browser_type.launch(executable_path=executable, args=arguments)
    yield browser
    browser.close()


def import_and_assign_questions(processes: Processes) -> list[int]:
    """Import, draw and assign by command; return the question ids in the order of ruth's queue."""
    source = processes.home.parent / "source"
    source.mkdir()
    grey = np.linspace(20, 235, COLUMNS, dtype=np.uint8)
    Image.fromarray(np.tile(grey, (ROWS, 1))).save(source / "pa.png")
    records = [
        {
            "id": f"q-{number}",
            "exam": {"id": f"exam-{number}", "radiographs": [{"id": "pa", "file": "pa.png", "view": "PA"}]},
            "format": "single",
            "stem": f"Which finding is on radiograph {number}?",
            "options": ["Effusion", "Pneumothorax", "Consolidation"],
            "answer": [1],
            "explanation": "The line of the pleura is away from the wall.",
            "boxes": [{"radiograph": "pa", "label": "right", "box": review_helpers.MACHINE_BOX}],
            "task": "presence",
            "difficulty": "medium",
        }
        for number in range(1, 5)
    ]
    (source / "questions.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    with unit_of_work(processes.engine) as db:
        for name, role in {"ruth": Role.REVIEWER, "cora": Role.COORDINATOR}.items():
            accounts.add_person(
                db, by=accounts.command_line_person(), name=name, display_name=name.title(), roles=[role],
                password=PASSWORD, now=datetime.now(UTC),
            )  # fmt: skip
    processes.command("import", "questions", str(source / "questions.jsonl"), "--dataset", "demo",
                      "--images", str(source))  # fmt: skip
    processes.command("sample", "demo", "--n", "4", "--seed", "7", "--batch", "first")
    processes.command("assign", "first", "--to", "ruth")
    with read_only_session(processes.engine) as db:
        return list(db.execute(select(AssignmentRow.question_id).order_by(AssignmentRow.position)).scalars())


def open_window(browser: Browser, url: str) -> Page:
    """A fresh browser window on that address."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, base_url=url, ignore_https_errors=True
    )
    return context.new_page()


def sign_in_on_page(page: Page, name: str) -> Page:
    fill_sign_in(page, name, PASSWORD)
    page.get_by_role("button", name="Sign out").wait_for(timeout=30_000)
    return page


def review_two_questions(page: Page, queue: list[int]) -> list[float]:
    """Accept the first, correct key and boxes of the second; return the drawn box."""
    open_review(page, queue[0])
    press(page, KEYS_OF_ALL_RATINGS + "a")
    wait_for_question(page, queue[1])
    review_helpers.wait_for_painted_image(page)
    drawn_box = draw(page, (0.5, 0.3), (0.7, 0.55))
    page.get_by_role("button", name="C is not the key").click()
    press(page, KEYS_OF_ALL_RATINGS + "fcv")  # wrong key; revise
    wait_for_question(page, queue[2])
    return drawn_box


def reject_third_question(page: Page, queue: list[int]) -> None:
    press(page, KEYS_OF_ALL_RATINGS + "fax")  # more than one right answer; reject
    wait_for_question(page, queue[3])


def create_release(page: Page) -> None:
    page.goto("/releases")
    page.get_by_label("Release name").fill("v1")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Create release").click()
    expect(page.get_by_text("Release v1 of demo contains 2 questions")).to_be_visible(timeout=20_000)


def load_release_records(page: Page, name: str) -> list[dict]:
    """The lines of a file of the newest release, downloaded by the browser through the page's link."""
    status, content = page.evaluate(
        "async url => { const reply = await fetch(url); return [reply.status, await reply.text()]; }",
        page.get_by_role("link", name=name, exact=True).get_attribute("href"),
    )
    assert status == 200
    return [json.loads(line) for line in content.splitlines()]


def assert_release_matches_verdicts(page: Page, drawn_box: list[float]) -> None:
    accepted, revised = sorted(load_release_records(page, "gold.jsonl"), key=lambda record: record["answer"])
    assert (accepted["answer"], revised["answer"]) == ([1], [2])
    [machine, own_box] = revised["boxes"]
    assert machine["box"] == review_helpers.MACHINE_BOX
    assert own_box["box"] == pytest.approx(drawn_box, abs=1)
    [rejected] = load_release_records(page, "left_out.jsonl")
    assert "rejected" in rejected.values()


def test_from_import_to_release_by_two_processes(processes, host_mapping_chromium):
    """Ruth judges in one process, Cora releases in the other; no image is written to the local disk."""
    assert [httpx.get(f"{url}/health/ready").text for url in processes.urls] == ["ready", "ready"]
    queue = import_and_assign_questions(processes)
    first, second = processes.urls
    ruth = sign_in_on_page(open_window(host_mapping_chromium, first), "ruth")
    cora = sign_in_on_page(open_window(host_mapping_chromium, second), "cora")
    drawn_box = review_two_questions(ruth, queue)
    reject_third_question(ruth, queue)
    create_release(cora)
    assert_release_matches_verdicts(cora, drawn_box)
    assert not (processes.home / "images").exists()


@pytest.mark.nginx
def test_from_import_to_release_behind_nginx_while_a_process_stops(
    processes, host_mapping_chromium, tmp_path
):
    """Each window stays with one process; when that process stops, the other continues with saved data."""
    queue = import_and_assign_questions(processes)
    folder = tmp_path / "nginx"
    with run_nginx(list(processes.running), folder) as url:
        ruth = sign_in_on_page(open_window(host_mapping_chromium, url), "ruth")
        drawn_box = review_two_questions(ruth, queue)
        [her_port] = set(find_answering_ports(folder, "/review/verdict"))
        processes.stop(her_port)
        ruth.reload()
        wait_for_question(ruth, queue[2])
        review_helpers.wait_for_painted_image(ruth)
        reject_third_question(ruth, queue)
        [other_port] = processes.running
        assert find_answering_ports(folder, "/review/verdict")[-1] == other_port
        processes.start(her_port)
        processes.wait_for(her_port)
        cora = sign_in_on_page(open_window(host_mapping_chromium, url), "cora")
        create_release(cora)
        assert_release_matches_verdicts(cora, drawn_box)
