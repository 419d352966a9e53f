"""Walks through the demo in Chromium as each role, and measures what radiologists notice.

A reviewer judges 100 questions: 50 with all fields and 50 in a batch in which one key accepts. An eighth of
each is judged in each combination of width (1024, 1440, 1920, 2560 pixels) and scheme (dark, light). A reader
answers all cases of the pilot study. An adjudicator decides the disputes. Everybody opens every page that
they may see, with its tabs. The program prints the keys and the seconds per question, from the first key to
the radiographs of the next question; the radiographs' share of the window at four widths and in full screen;
and texts that are cut. The keys are pressed without thinking time: the seconds are those of app and browser.

Run ``python -m benchmarks.walk [--questions 100] [--port PORT] [--pictures FOLDER]``. It makes a new demo
workspace each time. ``--pictures`` keeps a picture of each page and tab per width, dark and light in turn.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import TimeoutError as StepTimeout
from sqlalchemy import func, select

from accounts.service import DEMO_PASSWORD
from benchmarks.viewer_app import ROOT, find_chromium, run_app
from storage.engine import make_engine
from storage.rows.verdicts import VerdictRow
from storage.unit_of_work import read_only_session
from tests.e2e.layout_helpers import FIND_FAULTS, WINDOWS, measure_layout, set_window
from ui.navigation import PAGES

QUESTIONS = 100
RATINGS = ("5", "5", "5", "5", "y", "y", "m")
#: Of ten questions, two are rejected for a wrong key and one is revised; the others are accepted.
REJECTED, REVISED = (3, 7), (5,)
_FORMS = {"review", "adjudicate", "read"}
_SCHEMES: tuple[Literal["dark", "light"], ...] = ("dark", "light")
#: Widths and colour schemes in which questions are judged.
_VIEWS = [(width, scheme) for width in WINDOWS for scheme in _SCHEMES]
_WAIT = 30_000  # milliseconds
_GUARD = 600  # milliseconds; the form saves nothing in the first 500 after a question is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One decision: the number of keys and clicks, and the seconds until the next one could begin."""

    keys: int
    seconds: float


def main() -> int:
    """Walk and print the figures; return 1 if a page has a cut text."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="that the reviewer judges")
    parser.add_argument("--port", type=int, default=8598)
    parser.add_argument("--pictures", type=Path, help="folder for pictures of the pages")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="overread-walk-") as folder:
        home = Path(folder)
        _prepare(home, args.questions // 2)
        with run_app(home, args.port) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"]
            )
            print(f"load {os.getloadavg()[0]:.1f}, Chromium {browser.version}")
            _walk_reviews(browser, address, home, args.questions // 2)
            _walk_readings(browser, address)
            _walk_disputes(browser, address)
            faults = [
                fault
                for name in ("rosa", "leo", "dana", "ada")
                for fault in _walk_pages(browser, address, name, args.pictures)
            ]
            browser.close()
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def _prepare(home: Path, questions_each: int) -> None:
    """Create the demo, and two batches for rosa: one with all fields, one in which one key accepts."""
    _run_command(home, "demo", "--if-missing")
    for seed, name, options in ((11, "All fields", []), (12, "One key", ["--one-key-accept"])):
        _run_command(
            home, "sample", "Demo", "--batch", name, "--n", f"{questions_each + 1}",
            "--seed", f"{seed}", *options,
        )  # fmt: skip
        _run_command(home, "assign", name, "--to", "rosa")


def _run_command(home: Path, *arguments: str) -> None:
    environment = {**os.environ, "OVERREAD_HOME": str(home), "OVERREAD_DATABASE_URL": ""}
    subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "cli.py", *arguments], cwd=ROOT, env=environment, check=True, capture_output=True
    )


@contextmanager
def _open_window(browser: Browser, address: str, name: str) -> Iterator[Page]:
    """Open a window of 1440 x 900 in which the person is signed in."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=address)
    page = context.new_page()
    page.goto("/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(DEMO_PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Sign out").wait_for(timeout=_WAIT)
    yield page
    context.close()


def _walk_reviews(browser: Browser, address: str, home: Path, questions_each: int) -> None:
    with _open_window(browser, address, "rosa") as page:
        for batch, ratings in (("All fields", RATINGS), ("One key", ())):
            page.goto(f"/review?batch={_find_batch(page, batch)}")
            _wait_for_images(page)
            count_before = _count_verdicts(home)
            steps: dict[int, list[Step]] = {}
            for number in range(questions_each):
                width, scheme = _VIEWS[number * len(_VIEWS) // questions_each]
                page.emulate_media(color_scheme=scheme)
                set_window(page, width)
                _wait_for_images(page)
                steps.setdefault(width, []).append(_judge_question(page, number, ratings))
            for width, width_steps in steps.items():
                _print_steps(f"review, {batch.lower()}, {width}", width_steps)
            _print_steps(f"review, {batch.lower()}", [step for group in steps.values() for step in group])
            if _count_verdicts(home) - count_before != questions_each:
                raise SystemExit(
                    f"{_count_verdicts(home) - count_before} of {questions_each} verdicts were saved"
                )
        _print_shares("review", page)


def _count_verdicts(home: Path) -> int:
    engine = make_engine(f"sqlite:///{home / 'overread.sqlite'}")
    try:
        with read_only_session(engine) as db:
            return int(db.execute(select(func.count()).select_from(VerdictRow)).scalar_one())
    finally:
        engine.dispose()


def _find_batch(page: Page, name: str) -> int:
    """Return the id of a batch from the choice on the review page."""
    page.goto("/review")
    _wait_for_images(page)
    choice = page.get_by_role("combobox", name="Batch")
    value = choice.locator("option", has_text=name).get_attribute("value")
    if value is None:
        raise LookupError(f"the reviewer has no batch {name}")
    return int(value)


def _judge_question(page: Page, number: int, ratings: Sequence[str]) -> Step:
    before, keys = _read_form(page), list(ratings)
    if number % 10 in REJECTED:
        keys = [*RATINGS, "f", "c", "x"]
    elif number % 10 in REVISED:
        page.get_by_label("Explanation", exact=True).fill("Corrected on the walk.")
        keys = ["Escape", *RATINGS, "v"]
    else:
        keys.append("a")
    return _press_keys(page, keys, before)


def _walk_readings(browser: Browser, address: str) -> None:
    with _open_window(browser, address, "leo") as page:
        page.goto("/read")
        page.get_by_role("button", name="Start reading").click(timeout=_WAIT)
        _wait_for_images(page)
        _print_shares("read", page)
        steps = []
        while page.get_by_text("study complete").count() == 0:
            text_fields = page.locator(".own-answers textarea, .own-answers input[type=text]")
            answer = "q" if text_fields.count() else "1"
            before, keys = _read_form(page), [answer, "Shift+3", "Enter"]
            if "Training" in before:  # the answer is shown before the next case
                for key in keys:
                    page.keyboard.press(key)
                page.get_by_text("This is a training case").wait_for(timeout=_WAIT)
                _press_keys(page, ["Enter"], before)
            else:
                steps.append(_press_keys(page, keys, before))
        _print_steps("read", steps)


def _walk_disputes(browser: Browser, address: str) -> None:
    with _open_window(browser, address, "ravi") as page:
        page.goto("/adjudicate")
        _wait_for_images(page)
        _print_shares("adjudicate", page)
        steps = []
        while page.get_by_text("none left").count() == 0:
            page.get_by_label("Reason").fill("Decided on the walk.")
            steps.append(_press_keys(page, ["Escape", "1", "Enter"], _read_form(page)))
        _print_steps("adjudicate", steps)


def _press_keys(page: Page, keys: Sequence[str], before: str) -> Step:
    """Press the keys and wait for the next question with its radiographs, or for the end."""
    page.wait_for_timeout(_GUARD)
    started = time.monotonic()
    for key in keys:
        page.keyboard.press(key)
    try:
        page.wait_for_function(
            f"before => {{ const text = ({_FORM_TEXT})(); return text !== before; }}",
            arg=before,
            timeout=_WAIT,
        )
    except StepTimeout as error:
        message = page.locator(".judging .message").inner_text()
        raise LookupError(f"{' '.join(keys)} at {before}: {message or 'no message'}") from error
    if _read_form(page):
        _wait_for_images(page)
    return Step(keys=len(keys), seconds=time.monotonic() - started)


#: The progress at the top of the form, which changes with each saved decision; empty if there is no form.
_FORM_TEXT = """() => [...document.querySelectorAll('*')].map(element => element.shadowRoot).filter(Boolean)
    .flatMap(root => [...root.querySelectorAll('.judging .progress-text, .judging .position')])
    .map(element => element.textContent).join(' ')"""


def _read_form(page: Page) -> str:
    text: str = page.evaluate(_FORM_TEXT)
    return text


def _wait_for_images(page: Page) -> None:
    page.locator('[data-image-state="drawn"]').wait_for(state="attached", timeout=_WAIT)


def _print_steps(name: str, steps: Sequence[Step]) -> None:
    seconds = sorted(step.seconds for step in steps)
    print(
        f"{name:26} n {len(steps):3}   keys median {statistics.median(step.keys for step in steps):g}, most "
        f"{max(step.keys for step in steps)}   seconds median {statistics.median(seconds):.2f}, 95th "
        f"percentile {seconds[int(0.95 * (len(seconds) - 1))]:.2f}"
    )


def _print_shares(name: str, page: Page) -> None:
    """Print the radiographs' share of the window, and in full screen, at each width."""
    shares = []
    for width in WINDOWS:
        set_window(page, width)
        share = measure_layout(page).share
        page.keyboard.press("Shift+E")
        full_share = measure_layout(page).share
        page.keyboard.press("Shift+E")
        shares.append(f"{width}: {share:.0%} ({full_share:.0%})")
    set_window(page, 1440)
    print(f"{name:26} image share of the window (full screen)   {'   '.join(shares)}")


def _walk_pages(browser: Browser, address: str, name: str, pictures: Path | None) -> list[str]:
    """Open every page of the person and its tabs in each width and scheme; return cut and small texts."""
    faults, seconds = [], []
    with _open_window(browser, address, name) as page:
        for path in [listed_page.path.stem for listed_page in PAGES if listed_page.path.stem not in _FORMS]:
            started = time.monotonic()
            page.goto("/" if path == "home" else f"/{path}")
            _wait_for_script(page)
            if page.get_by_text("Page not found").count():
                continue
            seconds.append(time.monotonic() - started)
            tabs = page.locator(_TABS)
            for number in range(max(tabs.count(), 1)):
                if number:
                    tabs.nth(number).click(timeout=_WAIT)
                    _wait_for_script(page)
                faults += _find_text_faults(page, f"{name} {path} {number + 1}", pictures)
    print(f"{'pages of ' + name:26} n {len(seconds):3}   seconds median {statistics.median(seconds):.2f}")
    return faults


#: The first row of tabs of a page.
_TABS = ':nth-match([data-testid="stMain"] :is([role="tablist"], [data-testid="stButtonGroup"]), 1) button'


def _find_text_faults(page: Page, view: str, pictures: Path | None) -> list[str]:
    """Return the cut and small texts of what is shown, in dark and light at each width."""
    faults = []
    for scheme_number, scheme in enumerate(_SCHEMES):
        page.emulate_media(color_scheme=scheme)
        for number, width in enumerate(WINDOWS):
            set_window(page, width)
            page.wait_for_timeout(400)  # tables and charts are drawn again
            faults += [f"{view} {scheme} {width}: {text}" for text in page.evaluate(FIND_FAULTS)]
            if pictures and number % 2 == scheme_number:
                set_window(page, width, max(WINDOWS[width], min(page.evaluate(_PAGE_HEIGHT), 3000)))
                page.wait_for_timeout(300)
                page.screenshot(path=pictures / f"{view.replace(' ', '-')}-{width}-{scheme}.png")
    set_window(page, 1440)
    return faults


_PAGE_HEIGHT = "document.querySelector('[data-testid=\"stMain\"]').scrollHeight"


def _wait_for_script(page: Page) -> None:
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(timeout=_WAIT)
    page.wait_for_timeout(700)


if __name__ == "__main__":
    raise SystemExit(main())
