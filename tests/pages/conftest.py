"""Pages in AppTest: a workspace on tmp_path, and a person who is signed in."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
from sqlalchemy import Engine
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from accounts import service as accounts
from domain.people import Person, Role
from storage.unit_of_work import unit_of_work
from ui.background_jobs.job_control import worker

ROOT = Path(__file__).resolve().parents[2]
# AppTest puts pages/ first on the path, where files have the same names as modules here.
for _name in ("statistics", "review.service", "sampling.service"):
    importlib.import_module(_name)
#: Seconds that a page may take before AppTest gives up; on a busy machine the first run is slow.
PAGE_TIMEOUT = 60


@dataclass
class Browser:
    """What Streamlit knows about the browser of a page: its cookies and headers."""

    cookies: dict[str, str] = field(default_factory=dict)
    headers: list[tuple[str, str]] = field(default_factory=list)
    remote_ip: str | None = None


@pytest.fixture(autouse=True, scope="session")
def packages_scanned_once() -> Iterator[None]:
    """Scan the installed packages for components once; each AppTest does so, at more cost than most pages."""
    with pytest.MonkeyPatch.context() as patch:
        scan = manifest_scanner.scan_component_manifests
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(scan))
        yield


@pytest.fixture(autouse=True)
def main_module_as_it_was() -> Iterator[None]:
    """Restore ``__main__`` after each test.

    Streamlit runs a page as ``__main__`` and leaves it there; processes that are spawned later would run that
    page again.
    """
    original_main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = original_main


@pytest.fixture(autouse=True)
def nothing_behind_the_page() -> Iterator[None]:
    """Stop all jobs at the end of their test; they would look for their workspace in the next one."""
    yield
    wait_for_jobs()


def wait_for_jobs(timeout: float = PAGE_TIMEOUT) -> None:
    """Wait until no job is running in this process."""
    worker().wait_until_idle(timeout)


@pytest.fixture(autouse=True, scope="module")
def password_hashes_are_cheap(cheap_passwords: None) -> None:
    """Make password hashes cheap: none of these tests is about their cost."""


@pytest.fixture
def workspace(workspace_engine: Engine) -> Iterator[Engine]:
    """A workspace for one test, which ``unit_of_work()`` finds through the environment; its engine."""
    yield workspace_engine
    # All tests share one worker: it would not take a job with the same number in the next workspace.
    wait_for_jobs()


@pytest.fixture
def browser(workspace: Engine, monkeypatch: pytest.MonkeyPatch) -> Browser:
    """The browser of the page under test, at first without a sign-in. AppTest has no browser."""
    fake_browser = Browser()
    monkeypatch.setattr("streamlit.runtime.context._get_client_context", lambda: fake_browser)
    return fake_browser


@pytest.fixture
def sign_in_as(browser: Browser) -> Callable[..., Person]:
    """``sign_in_as("anna", Role.REVIEWER)``: sign in that person, who is created if necessary."""

    def sign_in(name: str, *roles: Role, method: str = "password") -> Person:
        now = datetime.now(UTC)
        with unit_of_work() as db:
            people_by_name = {person.name: person for person in accounts.list_people(db, by=COMMAND_LINE)}
            person = people_by_name.get(name) or accounts.add_person(
                db, by=COMMAND_LINE, name=name, display_name=name.title(), roles=roles, password=None, now=now
            )
            token = f"token-of-{name}" if method == "password" else f"token-of-{name}-by-{method}"
            accounts.start_sign_in(
                db, person=person, token=token, previous_token=browser.cookies.get("overread"),
                method=method, now=now,
            )  # fmt: skip
        browser.cookies["overread"] = token
        return person

    return sign_in


@pytest.fixture
def open_page(browser: Browser) -> Callable[[str], AppTest]:
    """``open_page("pages/home.py")``: run the app's shell, open that page through its navigation, run it."""

    def open_file(file: str) -> AppTest:
        shell = AppTest.from_file(str(ROOT / "ui" / "shell.py"), default_timeout=PAGE_TIMEOUT).run()
        return shell if file == "pages/home.py" else shell.switch_page(str(ROOT / file)).run()

    return open_file


@pytest.fixture
def run_page(browser: Browser) -> Callable[[str], AppTest]:
    """``run_page("pages/people.py")``: run the page's file alone, without the navigation."""

    def run(file: str) -> AppTest:
        return AppTest.from_file(str(ROOT / file), default_timeout=PAGE_TIMEOUT).run()

    return run


COMMAND_LINE = accounts.command_line_person()


def get_text(page: AppTest) -> str:
    """All text of a page, one element per line; escaped characters as they appear on screen."""
    element_lists = (
        page.title, page.header, page.subheader, page.markdown, page.caption, page.error, page.info,
        page.success, page.warning,
    )  # fmt: skip
    values = [element.value for elements in element_lists for element in elements]
    text = "\n".join([*values, *(button.label for button in page.button)])
    return re.sub(r"\\([^A-Za-z0-9\s])", r"\1", text)


def skip_double_click_time(page: AppTest) -> AppTest:
    """Let the time pass in which a further click counts as a double click; return the page."""
    page.session_state["overread-last-action"] = None
    return page
