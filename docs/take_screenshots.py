"""Takes a picture of every page of the demo, dark and light: ``make screenshots``.

Starts the real app on a fresh demo workspace, drives Chromium through it at 1440 x 900 and writes
docs/screenshots/NAME-dark.png and NAME-light.png. The command prints each page that
does not show its expected text, and ends with 1.

    python -m docs.take_screenshots --only review        # the entries whose names begin with "review"
    python -m docs.take_screenshots --home FOLDER        # an existing demo workspace
    python -m docs.take_screenshots --widths 1024 2560 --out FOLDER      # NAME-THEME-WIDTH.png
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Error, Page, ViewportSize, sync_playwright

from accounts.service import DEMO_PASSWORD, load_person_by_name
from docs.screenshot_steps import (
    begin_reading,
    click_and_wait,
    correct_question,
    open_guideline,
    open_report,
    rate_question,
    show_lateral,
    wait_for_image_grid,
)
from review.service import list_batches_for_reviewer, load_sheet
from review.sheet import ReviewSheet
from storage.engine import make_engine
from storage.unit_of_work import read_only_session

ROOT = Path(__file__).resolve().parents[1]
Theme = Literal["dark", "light"]
OUT = ROOT / "docs" / "screenshots"
#: Widths of common monitors in CSS pixels, with their heights. The pictures in docs/ have DOCUMENTED_WIDTH.
HEIGHTS = {1024: 768, 1440: 900, 1920: 1080, 2560: 1440}
DOCUMENTED_WIDTH = 1440
THEMES: tuple[Theme, ...] = ("dark", "light")
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
# Streamlit shows grey placeholders until the parts of a page have loaded, on a busy machine for seconds.
_HAS_NO_PLACEHOLDER = """() => ![...document.querySelectorAll('[data-testid="stSkeleton"]')].some(
    element => element.checkVisibility())"""
_SHADOW_ROOTS = "[...document.querySelectorAll('*')].map(element => element.shadowRoot).filter(Boolean)"
# The viewer shows window and zoom after drawing; a pixel of the plain editor's canvas can be read.
_IS_PAINTED = f"""() => {_SHADOW_ROOTS}.some(root => {{
    const panes = [...root.querySelectorAll('.pane[data-radiograph]')];
    if (panes.some(pane => /W [\\d.]+ C -?\\d+/.test(pane.textContent))) return true;
    const canvas = root.querySelector('.stage .dc-background-canvas');
    return canvas && canvas.width > 300
        && canvas.getContext('2d').getImageData(200, 200, 1, 1).data[3] > 0;
}})"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screenshot:
    """One picture: the person, the page, the text that it must show, and the steps before it is taken.

    ``matches_sheet`` picks a question of the person in batch ``batch`` to open instead of ``path``.
    """

    name: str
    person: str | None
    path: str = "/"
    expected_text: str
    batch: str = ""
    matches_sheet: Callable[[ReviewSheet], bool] | None = None
    steps: Callable[[Page], None] = lambda _page: None


def _is_open(sheet: ReviewSheet) -> bool:
    return sheet.last_verdict is None and not sheet.skipped


def _has_boxes(sheet: ReviewSheet) -> bool:
    return _is_open(sheet) and sheet.question is not None and bool(sheet.question.boxes)


def _has_two_views(sheet: ReviewSheet) -> bool:
    return _has_boxes(sheet) and len(sheet.exam.radiographs) > 1


def _has_options(sheet: ReviewSheet) -> bool:
    return _has_two_views(sheet) and bool(sheet.stem_only.options)


SCREENSHOTS = (
    Screenshot(name="sign-in", person=None, path="/sign-in", expected_text="Sign in"),
    Screenshot(name="home-coordinator", person="dana", expected_text="Home"),
    Screenshot(name="home-reviewer", person="rosa", expected_text="Your batches"),
    Screenshot(name="home-admin", person="ada", expected_text="Home"),
    Screenshot(name="import", person="dana", path="/import_questions", expected_text="Import"),
    Screenshot(name="checks", person="dana", path="/checks", expected_text="Checks"),
    Screenshot(name="duplicates", person="dana", path="/duplicates", expected_text="Near-duplicates"),
    Screenshot(name="compliance", person="dana", path="/compliance", expected_text="Threshold"),
    Screenshot(name="taxonomy", person="dana", path="/taxonomy", expected_text="All names"),
    Screenshot(name="browse", person="dana", path="/browse", expected_text="in import order"),
    Screenshot(name="browse-question", person="dana", path="/browse?question=6", expected_text="History"),
    Screenshot(name="statistics", person="dana", path="/statistics", expected_text="questions of"),
    Screenshot(
        name="patient-data",
        person="dana",
        path="/patient_data",
        expected_text="Mark each",
        steps=wait_for_image_grid,
    ),
    Screenshot(name="draw-a-batch", person="dana", path="/sampling", expected_text="Draw"),
    Screenshot(name="batches", person="dana", path="/assign", expected_text="Batches"),
    Screenshot(name="progress", person="dana", path="/progress", expected_text="Progress"),
    Screenshot(name="agreement", person="dana", path="/agreement", expected_text="Reviewers over time"),
    Screenshot(name="attention", person="dana", path="/attention", expected_text="Planted faults by kind"),
    Screenshot(name="estimates", person="dana", path="/estimates", expected_text="Comparison of groups"),
    Screenshot(name="errata", person="dana", path="/errata", expected_text="No released questions yet"),
    Screenshot(name="releases", person="dana", path="/releases", expected_text="Releases"),
    Screenshot(name="studies", person="dana", path="/studies", expected_text="Protocol"),
    Screenshot(
        name="studies-new",
        person="dana",
        path="/studies",
        expected_text="Reader studies",
        steps=click_and_wait("New study", "Primary comparison"),
    ),
    Screenshot(
        name="studies-plan",
        person="dana",
        path="/studies",
        expected_text="Reader studies",
        steps=click_and_wait("Sample size", "Precision of kappa"),
    ),
    Screenshot(
        name="studies-incoming",
        person="dana",
        path="/studies",
        expected_text="Reader studies",
        steps=click_and_wait("Imports", "Import readings"),
    ),
    Screenshot(
        name="studies-report",
        person="dana",
        path="/studies",
        expected_text="Reader studies",
        steps=open_report(),
    ),
    *(
        Screenshot(
            name=f"studies-report-{name}",
            person="dana",
            path="/studies",
            expected_text="Reader studies",
            steps=open_report(section),
        )
        for name, section in (
            ("differences", "Differences"),
            ("agreement", "Agreement"),
            ("time", "Time and order"),
            ("answers", "Answers"),
            ("lists", "Lists and protocol"),
        )
    ),
    Screenshot(name="adjudicate", person="ravi", path="/adjudicate", expected_text="Double reading"),
    Screenshot(name="read", person="leo", path="/read", expected_text="Read", steps=begin_reading),
    Screenshot(
        name="studies-extraction",
        person="dana",
        path="/studies",
        expected_text="Reader studies",
        steps=click_and_wait("Extraction check", "Error rates by rule"),
    ),
    Screenshot(name="language-models", person="ada", path="/endpoints", expected_text="Add endpoint"),
    Screenshot(name="model-runs", person="dana", path="/model_runs", expected_text="Model runs"),
    Screenshot(name="generate", person="dana", path="/generate", expected_text="Generate"),
    Screenshot(name="prompts", person="dana", path="/prompts", expected_text="Prompts"),
    Screenshot(name="prompt-bench", person="dana", path="/prompt_bench", expected_text="Prompt bench"),
    Screenshot(name="evaluations", person="dana", path="/evaluations", expected_text="Evaluations"),
    Screenshot(name="model-scores", person="dana", path="/model_scores", expected_text="Model scores"),
    Screenshot(name="leaderboards", person="dana", path="/leaderboards", expected_text="Leaderboards"),
    Screenshot(name="people", person="ada", path="/people", expected_text="People"),
    Screenshot(name="audit-trail", person="dana", path="/audit", expected_text="Verify"),
    Screenshot(
        name="review",
        person="rosa",
        batch="Round 1",
        matches_sheet=_has_options,
        expected_text="Guideline",
        steps=rate_question,
    ),
    Screenshot(
        name="review-correction",
        person="rosa",
        batch="Round 1",
        matches_sheet=_has_options,
        expected_text="Guideline",
        steps=correct_question,
    ),
    Screenshot(
        name="review-lateral",
        person="rosa",
        batch="Round 1",
        matches_sheet=_has_two_views,
        expected_text="Guideline",
        steps=show_lateral,
    ),
    Screenshot(
        name="review-guideline",
        person="rosa",
        batch="Round 1",
        matches_sheet=_has_boxes,
        expected_text="Guideline",
        steps=open_guideline,
    ),
    Screenshot(
        name="review-answer-first",
        person="ravi",
        batch="Answer first",
        matches_sheet=_is_open,
        expected_text="Guideline",
    ),
    Screenshot(
        name="review-image-alignment",
        person="ravi",
        batch="Image alignment",
        matches_sheet=_has_boxes,
        expected_text="Guideline",
    ),
    Screenshot(
        name="review-done",
        person="renate",
        batch="Image alignment",
        path="/review",
        expected_text="review is complete",
    ),
)


def main() -> int:
    """Take the pictures; return 1 if a page does not show its expected text."""
    parser = argparse.ArgumentParser(description="Every page of the demo as a picture, dark and light.")
    parser.add_argument("--only", default="", metavar="NAME", help="only entries whose names begin with NAME")
    parser.add_argument("--home", type=Path, help="an existing demo workspace")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the pictures")
    parser.add_argument("--port", type=int, default=0, help="of the app; by default a free one")
    parser.add_argument(
        "--widths", type=int, nargs="+", choices=HEIGHTS, metavar="WIDTH", help="windows, in CSS pixels"
    )
    args = parser.parse_args()
    if args.widths and args.out == OUT:
        parser.error(f"--widths needs --out: {OUT.name}/ has the pictures of {DOCUMENTED_WIDTH} pixels only")
    screenshots = [screenshot for screenshot in SCREENSHOTS if screenshot.name.startswith(args.only)]
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="overread-screenshots-") as folder:
        home = args.home or Path(folder) / "home"
        environment = {
            **os.environ,
            "OVERREAD_HOME": str(home),
            "OVERREAD_DATABASE_URL": "",
            "OVERREAD_IMPORT_FROM": "/data",  # Generate shows this folder
        }
        command = [sys.executable, "cli.py", "demo", "--if-missing"]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
        with _run_app(environment, args.port or _find_free_port()) as url, sync_playwright() as playwright:
            chromium_path = next(filter(None, map(shutil.which, _CHROMIUM)), None)
            browser = playwright.chromium.launch(executable_path=chromium_path, args=_ARGUMENTS)
            failures = []
            for theme in THEMES:
                failures += _take_screenshots(
                    browser, url=url, home=home, theme=theme, screenshots=screenshots, out=args.out,
                    widths=args.widths,
                )  # fmt: skip
    total = sum(path.stat().st_size for path in args.out.glob("*.png"))
    print(f"{args.out}: {total / 1e6:.1f} MB in all")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def _take_screenshots(
    browser: Browser,
    *,
    url: str,
    home: Path,
    theme: Theme,
    screenshots: list[Screenshot],
    out: Path,
    widths: list[int] | None,
) -> list[str]:
    """Take the pictures of one theme with one sign-in per person; return the failures as text."""
    first_width = widths[0] if widths else DOCUMENTED_WIDTH  # tables keep the text size of the first window
    window: ViewportSize = {"width": first_width, "height": HEIGHTS[first_width]}
    failures = []
    used_questions: set[int] = set()
    for person in dict.fromkeys(screenshot.person for screenshot in screenshots):
        context = browser.new_context(viewport=window, color_scheme=theme, base_url=url, locale="en-GB")
        if person is not None:
            _sign_in(context, person)
        for screenshot in (candidate for candidate in screenshots if candidate.person == person):
            page = context.new_page()
            try:
                _open_screenshot(page, screenshot, home, used_questions)
                if widths is None:
                    _save_picture(page, out / f"{screenshot.name}-{theme}.png")
                for width in widths or ():
                    page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
                    page.wait_for_timeout(900)  # until charts and radiographs are drawn again
                    _save_picture(page, out / f"{screenshot.name}-{theme}-{width}.png")
                print(f"{screenshot.name}-{theme}")
            except (Error, LookupError) as error:
                failures.append(f"{screenshot.name}-{theme}: {str(error).splitlines()[0]}")
                page.screenshot(path=out / f"failed-{screenshot.name}-{theme}.png")
            page.close()
        context.close()
    return failures


def _open_screenshot(page: Page, screenshot: Screenshot, home: Path, used_questions: set[int]) -> None:
    page.goto(_resolve_address(screenshot, home, used_questions))
    page.get_by_text(screenshot.expected_text).first.wait_for(timeout=30_000)
    if screenshot.person is not None:
        page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(timeout=30_000)
        page.wait_for_function(_HAS_NO_PLACEHOLDER, timeout=30_000)
    if screenshot.matches_sheet is not None:
        page.wait_for_function(_IS_PAINTED, timeout=30_000)
    page.wait_for_timeout(1200)  # tables and images settle
    screenshot.steps(page)
    page.wait_for_timeout(300)


def _save_picture(page: Page, target: Path) -> None:
    target.write_bytes(_compress_png(page.screenshot()))


def _resolve_address(screenshot: Screenshot, home: Path, used_questions: set[int]) -> str:
    """Return the path, or the address of the first matching question that no other picture shows."""
    if not screenshot.batch:
        return screenshot.path
    engine = make_engine(f"sqlite:///{home / 'overread.sqlite'}")
    try:
        with read_only_session(engine) as db:
            person = load_person_by_name(db, name=screenshot.person or "")
            batches = [
                assigned_batch.batch for assigned_batch in list_batches_for_reviewer(db, person=person)
            ]
            batch = next(candidate for candidate in batches if candidate.name == screenshot.batch)
            if screenshot.matches_sheet is None:
                return f"{screenshot.path}?batch={batch.id}"
            next_row_id: int | None = None
            while True:
                sheet = load_sheet(
                    db, person=person, batch_id=batch.id, question=next_row_id, now=batch.created_at
                )
                if sheet is None:
                    break
                if sheet.question_row_id not in used_questions and screenshot.matches_sheet(sheet):
                    used_questions.add(sheet.question_row_id)
                    return f"/review?batch={batch.id}&question={sheet.question_row_id}"
                next_row_id = sheet.next
                if next_row_id is None:
                    break
        raise LookupError("no question fits this entry any more; take the pictures on a fresh demo")
    finally:
        engine.dispose()


def _sign_in(context: BrowserContext, name: str) -> None:
    page = context.new_page()
    page.goto("/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(DEMO_PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Sign out").wait_for(timeout=30_000)
    page.close()


def _compress_png(png: bytes) -> bytes:
    """Reduce the picture to 256 colours: a third of the size, without a visible tint on the greys."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    buffer = io.BytesIO()
    reduced_image = image.quantize(256, method=Image.Quantize.MEDIANCUT, kmeans=2, dither=Image.Dither.NONE)
    reduced_image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


@contextmanager
def _run_app(environment: dict[str, str], port: int) -> Iterator[str]:
    """Run the app on a port and yield its address."""
    url = f"http://localhost:{port}"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    with subprocess.Popen(command, cwd=ROOT, env=environment) as server:
        try:
            for _ in range(300):
                try:
                    with urllib.request.urlopen(f"{url}/health", timeout=2):  # noqa: S310 - our own server
                        break
                except OSError:
                    time.sleep(0.2)
            else:
                raise SystemExit("the app did not start")
            yield url
        finally:
            server.terminate()


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
