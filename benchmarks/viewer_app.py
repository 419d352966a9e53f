"""Runs the app for `benchmarks.viewer`: its server process, and windows in which a person is signed in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, FloatRect, Locator, Page

from benchmarks.viewer_workspace import PASSWORD

ROOT = Path(__file__).resolve().parent.parent
PROBE = Path(__file__).with_name("viewer_probe.js")


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewerBench:
    """A browser and the address of the app."""

    browser: Browser
    address: str

    @contextmanager
    def open_review(self, name: str, *scripts: str) -> Iterator[Page]:
        """Open a new window in which the person is signed in and has opened the review page."""
        with self.open_signed_in(name, *scripts) as page:
            page.goto("/review")
            wait_until(page, "bench.isPainted()")
            yield page

    @contextmanager
    def open_signed_in(self, name: str, *scripts: str) -> Iterator[Page]:
        context = self.browser.new_context(
            viewport={"width": 1440, "height": 900}, color_scheme="dark", base_url=self.address
        )
        for script in scripts:
            context.add_init_script(script)
        context.add_init_script(path=PROBE)
        page = context.new_page()
        page.goto("/sign-in")
        page.get_by_label("Name").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.get_by_role("button", name="Sign out").wait_for(timeout=30_000)
        yield page
        context.close()


def wait_until(page: Page, expression: str) -> None:
    """Wait until a JavaScript expression is true in the page."""
    # Polled twice a second: polling more often would distort the measurement.
    page.wait_for_function(f"() => {expression}", polling=500, timeout=30_000)


def bounding_box(locator: Locator) -> FloatRect:
    """Return the position of an element in the window in CSS pixels."""
    box = locator.bounding_box()
    if box is None:
        sys.exit(f"{locator} is not on screen")
    return box


@contextmanager
def run_app(home: Path, port: int) -> Iterator[str]:
    """Run the app's server on a workspace and yield its address."""
    address = f"http://localhost:{port}"
    log = home / "server.log"
    with log.open("wb") as log_file:
        server = subprocess.Popen(  # noqa: S603 - our own app
            [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
            cwd=ROOT, env={**os.environ, "OVERREAD_HOME": str(home), "OVERREAD_DATABASE_URL": ""},
            stdout=log_file, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            _wait_until_ready(address, server, log)
            yield address
        finally:
            server.terminate()
            server.wait(timeout=20)


def _wait_until_ready(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=2):  # noqa: S310 - our own server
                return
        except OSError:
            time.sleep(0.2)
    sys.exit(f"The app did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")


def find_chromium() -> str | None:
    """Return the path of the system's Chromium, or None to use Playwright's own."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
