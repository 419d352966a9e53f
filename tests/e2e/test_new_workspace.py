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

from storage.rows.batches import BatchRow
from storage.rows.datasets import DatasetRow, ExamRow, QuestionRow
from storage.unit_of_work import unit_of_work
from tests.e2e import review_helpers
from tests.e2e.conftest import PASSWORD, RunningApp, running_app
from tests.storage.worlds import World

pytestmark = [pytest.mark.browser, pytest.mark.full]

#: Text that must not be interpreted, in every field that comes from outside.
MARKUP = (
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
    review_world = review_helpers.create_review_world(app, questions=6)
    with unit_of_work(app.engine) as db:
        db.execute(
            update(QuestionRow).values(
                stem=f"Stem radiograph {MARKUP} {OVERRIDE}",
                options=json.dumps([f"A {MARKUP}", f"B {OVERRIDE}", "C"]),
                explanation=f"Explanation {MARKUP}",
                category=MARKUP[:60],
            )
        )
        db.execute(update(ExamRow).values(indication=MARKUP, report=MARKUP))
        db.execute(update(QuestionRow).where(QuestionRow.id == 2).values(options=BROKEN))
        db.execute(update(DatasetRow).values(name=f"[d](javascript:window.pwned=1) {OVERRIDE}"))
        db.execute(update(BatchRow).values(name="<b id=bold>first</b> ![x](https://elsewhere.example/c.png)"))
    return review_world


def load_log_entries(app: RunningApp) -> list[dict[str, object]]:
    """The log so far; lines that the server prints before the app's log is set up are not JSON."""
    text = (app.home.parent / f"{app.home.name}.log").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


# --------------------------------------------------------------------------------------- the first admin
def test_empty_workspace_explains_how_to_create_the_first_admin(app, page):
    page.goto("/")
    expect(page).to_have_url(f"{app.url}/first-admin")
    expect(page.get_by_text("python cli.py user first-admin")).to_be_visible()


def become_admin(page: Page, code: str, name: str = "ada-the-first") -> None:
    page.goto("/first-admin")
    page.get_by_label("Code").fill(code)
    page.get_by_label("Sign-in name", exact=True).fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create first admin").click()


def test_invalid_code_creates_no_admin(page):
    become_admin(page, "AAAAA-BBBBB")
    expect(page.get_by_role("alert")).to_contain_text("This code is wrong")
    expect(page.get_by_label("Sign-in name", exact=True)).to_have_value("ada-the-first")


def test_code_from_the_command_creates_one_admin(app, page):
    code = app.command("user", "first-admin").strip()
    become_admin(page, code)
    page.get_by_role("link", name="People").wait_for(timeout=30_000)
    page.context.clear_cookies()
    page.goto("/first-admin")
    expect(page).to_have_url(f"{app.url}/sign-in")


# ----------------------------------------------------------------------------------- errors and their numbers
def test_failing_page_shows_the_error_number_of_the_log(app, world, sign_in):
    page = sign_in("ruth")
    page.goto("/review?batch=1&question=2")
    error_text = page.get_by_text("Error number").inner_text(timeout=30_000)
    number = error_text.split("Error number ")[1].split(".")[0]
    assert BROKEN not in page.locator("body").inner_text()
    [line] = [entry for entry in load_log_entries(app) if entry.get("error") == number]
    assert line["level"] == "error"
    assert "storage/" in str(line["message"])  # the log names where the error was raised
    assert BROKEN not in json.dumps(load_log_entries(app))


def test_failing_route_returns_500_with_the_error_number(app, world, sign_in):
    page = sign_in("ruth")
    headers = {"X-Overread": "1", "X-Overread-Person": str(world.people["ruth"].id), "Origin": app.url}
    body = {"batch": 1, "question": 2, "part": "boxes", "revision": 0, "body": {"drawings": {}}}
    response = page.context.request.post("/review/draft", data=body, headers=headers)
    assert response.status == 500
    assert response.json()["kind"] == "Fault"
    number = response.json()["error"].split("Error number ")[1].split(".")[0]
    entries = [entry for entry in load_log_entries(app) if entry.get("error") == number]
    assert {entry["logger"] for entry in entries} == {"overread.errors", "overread.requests"}
    assert BROKEN not in response.text() + json.dumps(load_log_entries(app))


# ------------------------------------------------------------------------------------ text is shown as text
class ExternalRequestLog:
    """Requests that a page sends to other hosts, and whether a planted script has run."""

    def __init__(self, page: Page, app: RunningApp) -> None:
        self.events: list[str] = []
        self._page = page
        page.on("request", lambda request: self._note(request.url, app.url))
        page.on("dialog", lambda dialog: self.events.append(dialog.message))

    def _note(self, url: str, own_url: str) -> None:
        if not url.startswith((own_url, own_url.replace("http", "ws"), "data:", "blob:")):
            self.events.append(url)

    def list_injections(self) -> list[str]:
        injected_elements = self._page.evaluate(
            """() => [document, ...[...document.querySelectorAll('*')].map(element => element.shadowRoot)]
                .filter(Boolean).flatMap(root => [...root.querySelectorAll(
                    '#bold, a[href^="javascript:"], img[src*="elsewhere"], script:not([src])')]
                    .filter(element => !element.closest('head') && element.tagName !== 'SCRIPT'
                        || element.textContent.includes('pwned')).map(element => element.outerHTML))
                .concat(window.pwned ? ['ran'] : [])"""
        )
        return [*self.events, *injected_elements]


def test_markup_in_a_question_is_shown_to_the_reviewer_as_text(app, world, sign_in):
    page = sign_in("ruth")
    request_log = ExternalRequestLog(page, app)
    page.goto("/")
    page.get_by_role("heading", name="Home").wait_for()
    page.goto("/review?batch=1&question=1")
    expect(page.get_by_label("Stem", exact=True)).to_have_value(
        f"Stem radiograph {MARKUP} {OVERRIDE}", timeout=30_000
    )
    page.wait_for_timeout(500)
    assert request_log.list_injections() == []


def test_markup_is_shown_to_the_coordinator_as_text(app, world, sign_in):
    app.command("user", "password", "cora", "--password-stdin", stdin=f"{PASSWORD}\n")
    page = sign_in("cora")
    request_log = ExternalRequestLog(page, app)
    for title in ("Checks", "Draw a batch", "Batches", "Progress", "Releases"):
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=title).click()
        page.get_by_role("heading", name=title).first.wait_for(timeout=30_000)
        page.wait_for_timeout(500)
        assert request_log.list_injections() == []


def test_display_name_with_control_characters_is_refused(app):
    with pytest.raises(AssertionError, match="no control characters"):
        app.command(
            "user", "add", "eve", "--role", "reader", "--display-name", f"Eve {OVERRIDE}", "--no-password"
        )


# -------------------------------------------------------------------------------------- limits of a request
def test_a_large_body_is_refused_before_it_is_sent(app):
    address = urlsplit(app.url)
    with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
        head = f"POST /sign-in HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: 1000000000\r\n\r\n"
        connection.sendall(head.encode())
        response = http.client.HTTPResponse(connection)
        response.begin()
    assert response.status == 413


def test_headers_of_an_unlisted_proxy_are_ignored(app, world):
    """FORWARDED_ALLOW_IPS names another address, so a request that claims "https" gets plain-HTTP cookies."""
    with httpx.Client(base_url=app.url) as client:
        response = client.get(
            "/sign-in", headers={"X-Forwarded-Proto": "https", "X-Forwarded-For": "1.2.3.4"}
        )
    assert "strict-transport-security" not in response.headers
    assert response.headers["set-cookie"].startswith("overread-form=")


def test_signing_out_clears_the_browser_cache(app, world, sign_in):
    page = sign_in("ruth")
    page.goto("/radiographs/1/pa?longest=300")
    page.goto("/")
    with page.expect_response("**/sign-in") as response_info:
        page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in", exact=True).wait_for()
    assert response_info.value.all_headers()["clear-site-data"] == '"cache"'
    page_response = page.goto("/radiographs/1/pa?longest=300")
    assert page_response is not None
    assert page_response.url.endswith("/sign-in")  # and not the image


# ------------------------------------------------------------------------------------------------- the log
def test_log_has_routes_and_numbers_but_no_patient_data(app, world):
    lines = load_log_entries(app)
    request_entries = [entry for entry in lines if entry["logger"] == "overread.requests"]
    assert {"/sign-in", "/first-admin", "/review/draft", "/_stcore/stream"} <= {
        entry["route"] for entry in request_entries
    }
    assert all(
        isinstance(entry["ms"], int) and entry["method"] and "status" in entry for entry in request_entries
    )
    assert any(entry.get("person") == world.people["ruth"].id for entry in request_entries)
    text = (app.home.parent / f"{app.home.name}.log").read_text(encoding="utf-8")
    for forbidden_text in (
        BROKEN,
        "pwned",
        "elsewhere.example",
        OVERRIDE,
        PASSWORD,
        "ruth",
        "ada-the-first",
        "Jane",
    ):
        assert forbidden_text not in text
