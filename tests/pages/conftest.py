"""Pages by AppTest: a workspace on tmp_path, and a person who is signed in."""

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
from ui.background_jobs.running import worker

ROOT = Path(__file__).resolve().parents[2]
# AppTest puts pages/ before everything else on the path, where files are named like these.
for _name in ("statistics", "review.service", "sampling.service"):
    importlib.import_module(_name)
SLOW = 20  # seconds that a page may take before AppTest gives up; on a busy machine the first run is slow


@dataclass
class Browser:
    """What Streamlit knows of the browser that a page is for: its cookies and headers."""

    cookies: dict[str, str] = field(default_factory=dict)
    headers: list[tuple[str, str]] = field(default_factory=list)
    remote_ip: str | None = None


@pytest.fixture(autouse=True, scope="session")
def packages_scanned_once() -> Iterator[None]:
    """Each AppTest looks for components in every installed package, which takes longer than most pages."""
    with pytest.MonkeyPatch.context() as patch:
        scan = manifest_scanner.scan_component_manifests
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(scan))
        yield


@pytest.fixture(autouse=True)
def main_module_as_it_was() -> Iterator[None]:
    """Streamlit runs a page as ``__main__`` and leaves it there; processes that are spawned later would run
    that page again."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(autouse=True)
def nothing_behind_the_page() -> Iterator[None]:
    """Jobs end with their test: they would look for their workspace in the next."""
    yield
    settled()


def settled(within: float = SLOW) -> None:
    """Wait until no job is running in this process."""
    worker().wait(within)


@pytest.fixture(autouse=True, scope="module")
def passwords_at_little_cost(cheap_passwords: None) -> None:
    """None of these tests is about what a password costs."""


@pytest.fixture
def workspace(workspace_engine: Engine) -> Engine:
    """A workspace of the test's own, which ``unit_of_work()`` finds by the environment; its engine."""
    return workspace_engine


@pytest.fixture
def browser(workspace: Engine, monkeypatch: pytest.MonkeyPatch) -> Browser:
    """The browser of the page under test, without a sign-in at first. AppTest has none of its own."""
    there = Browser()
    monkeypatch.setattr("streamlit.runtime.context._get_client_context", lambda: there)
    return there


@pytest.fixture
def sign_in_as(browser: Browser) -> Callable[..., Person]:
    """``sign_in_as("anna", Role.REVIEWER)``: make the person where there is none, and sign them in."""

    def sign_in(name: str, *roles: Role) -> Person:
        now = datetime.now(UTC)
        with unit_of_work() as db:
            known = {person.name: person for person in accounts.list_people(db, by=COMMAND_LINE)}
            person = known.get(name) or accounts.add_person(
                db, by=COMMAND_LINE, name=name, display_name=name.title(), roles=roles, password=None, now=now
            )
            token = f"token-of-{name}"
            accounts.begin_sign_in(
                db, person=person, token=token, replaces=browser.cookies.get("overread"), now=now
            )
        browser.cookies["overread"] = token
        return person

    return sign_in


@pytest.fixture
def open_page(browser: Browser) -> Callable[[str], AppTest]:
    """``open_page("pages/home.py")``: run the app's shell, go to that page by its navigation, and run it."""

    def open_at(file: str) -> AppTest:
        shell = AppTest.from_file(str(ROOT / "ui" / "shell.py"), default_timeout=SLOW).run()
        return shell if file == "pages/home.py" else shell.switch_page(str(ROOT / file)).run()

    return open_at


@pytest.fixture
def run_page(browser: Browser) -> Callable[[str], AppTest]:
    """``run_page("pages/people.py")``: run the page's file alone, past the navigation."""

    def run(file: str) -> AppTest:
        return AppTest.from_file(str(ROOT / file), default_timeout=SLOW).run()

    return run


COMMAND_LINE = accounts.command_line_person()


def texts(page: AppTest) -> str:
    """All text that a page shows, one element a line; escaped signs as they look on screen."""
    kinds = (
        page.title, page.header, page.subheader, page.markdown, page.caption, page.error, page.info,
        page.success, page.warning,
    )  # fmt: skip
    shown = [element.value for kind in kinds for element in kind]
    whole = "\n".join([*shown, *(button.label for button in page.button)])
    return re.sub(r"\\([^A-Za-z0-9\s])", r"\1", whole)


def a_moment_later(page: AppTest) -> AppTest:
    """The page as it is when a click is no longer the second half of a double click."""
    page.session_state["overread-last-action"] = None
    return page
