"""A new workspace over HTTP: the first admin, errors and their numbers, escaped text, and the log."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import update

from storage.rows import BatchRow, DatasetRow, ExamRow, QuestionRow
from storage.unit_of_work import unit_of_work
from tests.e2e import judging
from tests.e2e.conftest import PASSWORD, RunningApp, running_app
from tests.storage.worlds import World

pytestmark = [pytest.mark.browser, pytest.mark.full]

#: Text that must not be interpreted, in every field that comes from outside.
PLANTED = (
    "<img src=https://elsewhere.example/a.png onerror=window.pwned=1><script>window.pwned=1</script>"
    "![beacon](https://elsewhere.example/b.png) [click](javascript:window.pwned=1) <b id=bold>x</b> $x^2$"
)
BROKEN = "SECRET-broken of Jane Roe"
OVERRIDE = "\u202egnp.exe"


@pytest.fixture(scope="module")
def app(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """A workspace without accounts, and a log of JSON lines."""
    home = tmp_path_factory.mktemp("workspace")
    shutil.copyfile(sqlite_template, home / "overread.sqlite")
    log = home.parent / f"{home.name}.log"
    with running_app(home, log, OVERREAD_LOG="json", FORWARDED_ALLOW_IPS="192.0.2.1") as running:
        yield running


@pytest.fixture(scope="module")
def world(app: RunningApp) -> World:
    """Six questions assigned to ruth; the second is unreadable, all others contain markup or scripts."""
    made = judging.world_to_judge(app, questions=6)
    with unit_of_work(app.engine) as db:
        db.execute(
            update(QuestionRow).values(
                stem=f"Stem radiograph {PLANTED} {OVERRIDE}",
                options=json.dumps([f"A {PLANTED}", f"B {OVERRIDE}", "C"]),
                explanation=f"Explanation {PLANTED}",
                category=PLANTED[:60],
            )
        )
        db.execute(update(ExamRow).values(indication=PLANTED, report=PLANTED))
        db.execute(update(QuestionRow).where(QuestionRow.id == 2).values(options=BROKEN))
        db.execute(update(DatasetRow).values(name=f"[d](javascript:window.pwned=1) {OVERRIDE}"))
        db.execute(update(BatchRow).values(name="<b id=bold>first</b> ![x](https://elsewhere.example/c.png)"))
    return made


def log_lines(app: RunningApp) -> list[dict[str, object]]:
    """The log so far; lines that the server prints before the app's log is set up are not JSON."""
    text = (app.home.parent / f"{app.home.name}.log").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


# --------------------------------------------------------------------------------------- the first admin
def test_where_nobody_is_the_door_says_how_to_become_the_first_admin(app, page):
    page.goto("/")
    expect(page).to_have_url(f"{app.url}/first-admin")
    expect(page.get_by_text("python cli.py user first-admin")).to_be_visible()


def become_admin(page: Page, code: str, name: str = "ada-the-first") -> None:
    page.goto("/first-admin")
    page.get_by_label("Code").fill(code)
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create first admin").click()


def test_a_code_that_was_not_made_lets_nobody_in(page):
    become_admin(page, "AAAAA-BBBBB")
    expect(page.get_by_role("alert")).to_contain_text("This code does not hold")
    expect(page.get_by_label("Name", exact=True)).to_have_value("ada-the-first")


def test_the_code_of_the_command_makes_the_first_admin_once(app, page):
    code = app.command("user", "first-admin").strip()
    become_admin(page, code)
    page.get_by_role("link", name="People").wait_for(timeout=30_000)
    page.context.clear_cookies()
    page.goto("/first-admin")
    expect(page).to_have_url(f"{app.url}/sign-in")


# ----------------------------------------------------------------------------------- errors and their numbers
def test_a_page_that_fails_shows_a_number_that_is_in_the_log_and_no_value(app, world, sign_in):
    page = sign_in("ruth")
    page.goto("/review?batch=1&question=2")
    said = page.get_by_text("Error number").inner_text(timeout=30_000)
    number = said.split("Error number ")[1].split(".")[0]
    assert BROKEN not in page.locator("body").inner_text()
    [line] = [each for each in log_lines(app) if each.get("error") == number]
    assert line["level"] == "error"
    assert "storage/" in str(line["message"])  # the log names where the error was raised
    assert BROKEN not in json.dumps(log_lines(app))


def test_a_route_that_fails_answers_500_with_a_number_that_is_in_the_log(app, world, sign_in):
    page = sign_in("ruth")
    headers = {"X-Overread": "1", "X-Overread-Person": str(world.people["ruth"].id), "Origin": app.url}
    body = {"batch": 1, "question": 2, "part": "boxes", "revision": 0, "body": {"drawings": {}}}
    answer = page.context.request.post("/judging/draft", data=body, headers=headers)
    assert answer.status == 500
    assert answer.json()["kind"] == "Fault"
    number = answer.json()["error"].split("Error number ")[1].split(".")[0]
    found = [each for each in log_lines(app) if each.get("error") == number]
    assert {each["logger"] for each in found} == {"overread.errors", "overread.requests"}
    assert BROKEN not in answer.text() + json.dumps(log_lines(app))


# ------------------------------------------------------------------------------------ text is shown as text
class Elsewhere:
    """Requests that a page sends to other hosts, and whether a planted script has run."""

    def __init__(self, page: Page, app: RunningApp) -> None:
        self.asked: list[str] = []
        self._page = page
        page.on("request", lambda request: self._note(request.url, app.url))
        page.on("dialog", lambda dialog: self.asked.append(dialog.message))

    def _note(self, url: str, own: str) -> None:
        if not url.startswith((own, own.replace("http", "ws"), "data:", "blob:")):
            self.asked.append(url)

    def found(self) -> list[str]:
        made = self._page.evaluate(
            """() => [document, ...[...document.querySelectorAll('*')].map(each => each.shadowRoot)]
                .filter(Boolean).flatMap(root => [...root.querySelectorAll(
                    '#bold, a[href^="javascript:"], img[src*="elsewhere"], script:not([src])')]
                    .filter(each => !each.closest('head') && each.tagName !== 'SCRIPT'
                        || each.textContent.includes('pwned')).map(each => each.outerHTML))
                .concat(window.pwned ? ['ran'] : [])"""
        )
        return [*self.asked, *made]


def test_what_is_planted_in_a_question_is_shown_as_text_to_the_reviewer(app, world, sign_in):
    page = sign_in("ruth")
    elsewhere = Elsewhere(page, app)
    page.goto("/")
    page.get_by_role("heading", name="Home").wait_for()
    page.goto("/review?batch=1&question=1")
    expect(page.get_by_label("Stem", exact=True)).to_have_value(
        f"Stem radiograph {PLANTED} {OVERRIDE}", timeout=30_000
    )
    page.wait_for_timeout(500)
    assert elsewhere.found() == []


def test_what_is_planted_is_text_to_the_coordinator_too(app, world, sign_in):
    app.command("user", "password", "cora", "--password-stdin", stdin=f"{PASSWORD}\n")
    page = sign_in("cora")
    elsewhere = Elsewhere(page, app)
    for title in ("Checks", "Draw a batch", "Batches", "Progress", "Releases"):
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=title).click()
        page.get_by_role("heading", name=title).first.wait_for(timeout=30_000)
        page.wait_for_timeout(500)
        assert elsewhere.found() == []


def test_a_name_that_turns_what_follows_around_is_not_taken(app):
    with pytest.raises(AssertionError, match="without control characters"):
        app.command(
            "user", "add", "eve", "--role", "reader", "--display-name", f"Eve {OVERRIDE}", "--no-password"
        )


# -------------------------------------------------------------------------------------- limits of a request
def test_a_large_body_is_refused_before_it_is_sent(app):
    place = urlsplit(app.url)
    with socket.create_connection((place.hostname, place.port), timeout=20) as connection:
        head = f"POST /sign-in HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: 1000000000\r\n\r\n"
        connection.sendall(head.encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
    assert answer.status == 413


def test_a_proxy_that_is_not_named_is_not_believed(app, world):
    """FORWARDED_ALLOW_IPS names another address, so a request that claims "https" gets plain-HTTP cookies."""
    with httpx.Client(base_url=app.url) as client:
        answer = client.get("/sign-in", headers={"X-Forwarded-Proto": "https", "X-Forwarded-For": "1.2.3.4"})
    assert "strict-transport-security" not in answer.headers
    assert answer.headers["set-cookie"].startswith("overread-form=")


def test_after_signing_out_the_browser_is_told_to_forget_what_it_kept(app, world, sign_in):
    page = sign_in("ruth")
    page.goto("/radiographs/1/pa?longest=300")
    page.goto("/")
    page.get_by_role("button", name="Sign out").click()
    with page.expect_response("**/sign-in") as told:
        page.get_by_role("button", name="Sign in", exact=True).wait_for()
    assert told.value.all_headers()["clear-site-data"] == '"cache"'
    again = page.goto("/radiographs/1/pa?longest=300")
    assert again is not None
    assert again.url.endswith("/sign-in")  # and not one byte of the image


# ------------------------------------------------------------------------------------------------- the log
def test_the_log_of_all_this_has_routes_and_numbers_and_nothing_of_a_patient(app, world):
    lines = log_lines(app)
    asked = [each for each in lines if each["logger"] == "overread.requests"]
    assert {"/sign-in", "/first-admin", "/judging/draft", "/_stcore/stream"} <= {
        each["route"] for each in asked
    }
    assert all(isinstance(each["ms"], int) and each["method"] and "status" in each for each in asked)
    assert any(each.get("person") == world.people["ruth"].id for each in asked)
    text = (app.home.parent / f"{app.home.name}.log").read_text(encoding="utf-8")
    for planted in (
        BROKEN,
        "pwned",
        "elsewhere.example",
        OVERRIDE,
        PASSWORD,
        "ruth",
        "ada-the-first",
        "Jane",
    ):
        assert planted not in text
