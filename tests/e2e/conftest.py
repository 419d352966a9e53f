"""The real app on a free port with a fresh workspace, and Chromium: the system's, else Playwright's."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from sqlalchemy import Engine

from accounts import service as accounts
from benchmarks.app_source import AppForker
from domain.people import Person, Role
from storage.engine import make_engine
from storage.unit_of_work import unit_of_work

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "a password for tests"
# As long as Playwright waits for a click: a busy machine may need more than the default of 5 seconds.
expect.set_options(timeout=30_000)
_CHROMIUM_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_CHROMIUM_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RunningApp:
    """A running app: address, workspace folder, database and process."""

    url: str
    home: Path
    engine: Engine
    process: int = 0

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that name this workspace to a command."""
        return {**os.environ, "OVERREAD_HOME": str(self.home), "OVERREAD_DATABASE_URL": ""}

    def command(self, *arguments: str, stdin: str = "") -> str:
        """Run ``cli.py`` on this workspace and return its standard output."""
        result = subprocess.run(
            [sys.executable, "cli.py", *arguments],
            cwd=ROOT, env=self.environment, input=stdin, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert result.returncode == 0, f"cli.py {' '.join(arguments)}: {result.stderr}"
        return result.stdout

    def add_person(self, name: str, *roles: Role, demo: bool = False) -> Person:
        """Add a person with an account and the password of these tests."""
        with unit_of_work(self.engine) as db:
            return accounts.add_person(
                db,
                by=accounts.command_line_person(),
                name=name,
                display_name=name.title(),
                roles=roles,
                password=PASSWORD,
                demo=demo,
                now=datetime.now(UTC),
            )


@contextmanager
def running_app(
    home: Path, log: Path, *, arguments: Sequence[str] = (), **settings: str
) -> Iterator[RunningApp]:
    """Start ``streamlit run app.py`` on a free port, wait until it answers, and stop it at the end.

    ``arguments`` are further arguments of ``streamlit run``; ``settings`` are further environment variables.
    """
    port = _free_port()
    engine = make_engine(f"sqlite:///{home / 'overread.sqlite'}")
    app = RunningApp(url=f"http://localhost:{port}", home=home, engine=engine)
    with log.open("wb") as log_file:
        server = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), *arguments],
            cwd=ROOT, env=app.environment | settings, stdout=log_file, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            _wait_until_app_answers(app.url, lambda: server.poll() is None, log)
            yield replace(app, process=server.pid)
        finally:
            server.terminate()
            try:
                server.wait(timeout=20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
            engine.dispose()


@pytest.fixture(scope="session")
def app_source() -> Iterator[AppForker]:
    """The app's modules, imported once for all test modules."""
    source = AppForker()
    yield source
    source.close()


@pytest.fixture(scope="module")
def app(
    sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory, app_source: AppForker
) -> Iterator[RunningApp]:
    """The app on a workspace that all tests of a module share, so that it starts once per module."""
    home = tmp_path_factory.mktemp("workspace")
    shutil.copyfile(sqlite_template, home / "overread.sqlite")
    port, log = _free_port(), home.parent / f"{home.name}.log"
    engine = make_engine(f"sqlite:///{home / 'overread.sqlite'}")
    running = RunningApp(url=f"http://localhost:{port}", home=home, engine=engine)
    server = psutil.Process(app_source.start(port=port, environment=running.environment, log=log))
    try:
        _wait_until_app_answers(running.url, server.is_running, log)
        yield replace(running, process=server.pid)
    finally:
        with suppress(psutil.NoSuchProcess):
            server.terminate()
        for process in psutil.wait_procs([server], timeout=20)[1]:
            process.kill()
        engine.dispose()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests; each test opens a context of its own."""
    executable = next(filter(None, map(shutil.which, _CHROMIUM_PROGRAMS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=_CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, app: RunningApp) -> Iterator[Page]:
    """A fresh browser window on the app, 1440 x 900, dark."""
    context = chromium.new_context(
        viewport={"width": 1440, "height": 900}, color_scheme="dark", base_url=app.url
    )
    yield context.new_page()
    context.close()


@pytest.fixture
def sign_in(page: Page) -> Callable[..., Page]:
    """``sign_in("anna")``: sign in through the sign-in page, and wait for the app's navigation."""

    def sign_in_person(name: str, password: str = PASSWORD) -> Page:
        fill_sign_in(page, name, password)
        page.get_by_role("button", name="Sign out").wait_for(timeout=30_000)
        return page

    return sign_in_person


@pytest.fixture
def signed_in(page: Page, app: RunningApp) -> Callable[[str], Page]:
    """``signed_in("anna")``: a window whose cookie holds a sign-in of that person; no page is open yet."""

    def open_signed_in_window(name: str) -> Page:
        token, now = secrets.token_urlsafe(32), datetime.now(UTC)
        with unit_of_work(app.engine) as db:
            person = accounts.load_person_by_name(db, name=name)
            accounts.start_sign_in(db, person=person, token=token, previous_token=None, now=now)
        page.context.add_cookies([{"name": "overread", "value": token, "url": app.url}])
        return page

    return open_signed_in_window


def fill_sign_in(page: Page, name: str, password: str) -> None:
    """Enter name and password on the sign-in page and press the button."""
    page.goto("/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_out(page: Page) -> None:
    """Sign out, and wait for the sign-in page.

    The page may be redirected twice, by its script and by the gate. The browser then aborts the first
    navigation, so this waits for an element of the page, not for the navigation.
    """
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in", exact=True).wait_for()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_app_answers(url: str, is_running: Callable[[], bool], log: Path) -> None:
    for _ in range(600):
        if not is_running():
            break
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2):  # noqa: S310 - our own server
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the app did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")
