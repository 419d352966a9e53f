"""A batch to judge in the browser: the small world with images, and reviewers who can sign in."""

from __future__ import annotations

import hashlib
import io
from datetime import UTC, datetime

import numpy as np
from PIL import Image
from playwright.sync_api import Locator, Page
from sqlalchemy import select, update

from accounts import service as accounts
from domain.batches import BatchSettings
from storage.images.files import image_path
from storage.rows.datasets import ImageRow, RadiographRow
from storage.rows.verdicts import DraftRow, SkipRow, VerdictRow
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.e2e.conftest import PASSWORD, RunningApp
from tests.storage.worlds import World, make_world

ROWS, COLUMNS = 1200, 1000
#: All shadow roots of the page; one of them contains the form.
_ROOTS = "[...document.querySelectorAll('*')].map(element => element.shadowRoot).filter(Boolean)"
MACHINE_BOX = [100.0, 200.0, 300.0, 400.0]  # the box of every question in worlds.py, on the PA radiograph


def create_review_world(
    app: RunningApp,
    *,
    questions: int,
    per_exam: int = 2,
    settings: BatchSettings | None = None,
    open_questions: int = 0,
) -> World:
    """Ruth and remo have all questions; all radiographs show the same image of 1200 x 1000 pixels."""
    world = make_world(
        app.engine,
        questions=questions,
        per_exam=per_exam,
        settings=settings,
        assigned_to=["ruth", "remo"],
        open_questions=open_questions,
    )
    png_buffer = io.BytesIO()
    grey = np.linspace(20, 235, COLUMNS, dtype=np.uint8)
    Image.fromarray(np.tile(grey, (ROWS, 1))).save(png_buffer, "PNG")
    content = png_buffer.getvalue()
    sha256 = hashlib.sha256(content).hexdigest()
    path = image_path(Workspace(home=app.home, database_url=""), sha256=sha256)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    with unit_of_work(app.engine) as db:
        db.add(
            ImageRow(
                sha256=sha256,
                media_type="image/png",
                bytes=len(content),
                rows=ROWS,
                columns=COLUMNS,
                bits=8,
                photometric="MONOCHROME2",
            )
        )
        db.flush()
        db.execute(update(RadiographRow).values(image_sha256=sha256))
        for name in ("ruth", "remo", "cora"):
            accounts.set_password(
                db, by=accounts.command_line_person(), name=name, password=PASSWORD, now=datetime.now(UTC)
            )
    return world


def open_review(page: Page, question: int | None = None) -> Page:
    """Open the review page with the basic viewer, and wait until its image is drawn."""
    page.add_init_script("localStorage.setItem('overread-viewer', 'plain')")
    page.goto("/review" if question is None else f"/review?batch=1&question={question}")
    wait_for_painted_image(page)
    return page


def wait_for_painted_image(page: Page) -> None:
    """Wait until the canvas in front has painted the radiograph."""
    page.wait_for_function(
        f"""() => {_ROOTS}.some(root => {{
             const canvas = root.querySelector('.stage .dc-background-canvas');
             const painted = () => canvas.getContext('2d').getImageData(200, 200, 1, 1).data[3] > 0;
             return canvas && canvas.width > 300 && painted();
           }})""",
        timeout=30_000,
    )
    wait_for_images(page)


def wait_for_images(page: Page) -> None:
    """Wait until all radiographs of the exam are loaded and the form would save a judgement of them."""
    page.locator('[data-image-state="drawn"]').wait_for(state="attached", timeout=30_000)


def press(page: Page, keys: str) -> None:
    """Press the keys in order."""
    for key in keys:
        page.keyboard.press(key)


def press_answer(page: Page, option: int, confidence: int) -> None:
    """Choose an option, counted from 1, and a confidence."""
    page.keyboard.press(str(option))
    page.keyboard.press(f"Shift+{confidence}")


def get_shown_stem(page: Page) -> str:
    """The stem that the form shows."""
    return page.get_by_label("Stem", exact=True).input_value()


def wait_for_question(page: Page, number: int) -> None:
    """Wait until the form shows that question of the small world."""
    page.wait_for_url(f"**/review?batch=*&question={number}")
    page.wait_for_function(
        f"""number => {_ROOTS}.some(root => {{
             const stem = root.querySelector('.stem-text textarea, .stem-text p, .stem-read');
             const text = stem && (stem.value ?? stem.textContent);
             return text && text.includes(`radiograph ${{number}}?`);
           }})""",
        arg=number,
    )
    wait_for_images(page)


def find_canvas(page: Page) -> Locator:
    """The element of the radiograph in front that receives mouse events."""
    return page.locator(".stage canvas.upper-canvas")


def draw(page: Page, start: tuple[float, float], end: tuple[float, float]) -> list[float]:
    """Draw a box without a label between two points, given as fractions of the image.

    Returns:
        Its corners in pixels of the matrix.
    """
    bounds = find_canvas(page).bounding_box()
    assert bounds is not None
    x0, y0 = round(bounds["x"] + start[0] * bounds["width"]), round(bounds["y"] + start[1] * bounds["height"])
    x1, y1 = round(bounds["x"] + end[0] * bounds["width"]), round(bounds["y"] + end[1] * bounds["height"])
    page.mouse.move(x0, y0)
    page.mouse.down()
    page.mouse.move((x0 + x1) / 2, (y0 + y1) / 2)
    page.mouse.move(x1, y1)
    page.mouse.up()
    page.get_by_label("Label of the box", exact=True).press("Escape")
    x_scale, y_scale = COLUMNS / bounds["width"], ROWS / bounds["height"]
    return [
        (x0 - bounds["x"]) * x_scale,
        (y0 - bounds["y"]) * y_scale,
        (x1 - bounds["x"]) * x_scale,
        (y1 - bounds["y"]) * y_scale,
    ]


def load_verdicts(app: RunningApp, question: int, person: int | None = None) -> list[VerdictRow]:
    """The saved verdicts on a question, ordered by revision."""
    with read_only_session(app.engine) as db:
        rows = db.execute(
            select(VerdictRow).where(VerdictRow.question_id == question).order_by(VerdictRow.revision)
        ).scalars()
        return [row for row in rows if person is None or row.person_id == person]


def wait_for_verdicts(app: RunningApp, page: Page, question: int, count: int) -> list[VerdictRow]:
    """The saved verdicts on a question, once there are that many; after 30 seconds, those that there are."""
    for _ in range(300):
        rows = load_verdicts(app, question)
        if len(rows) >= count:
            break
        page.wait_for_timeout(100)
    return load_verdicts(app, question)


def load_drafts(app: RunningApp, question: int) -> dict[str, str]:
    """The stored drafts of the unsaved form: part to JSON."""
    with read_only_session(app.engine) as db:
        rows = db.execute(select(DraftRow).where(DraftRow.question_id == question)).scalars()
        return {row.part: row.body for row in rows}


def load_skip_reasons(app: RunningApp, question: int) -> list[str]:
    """The reasons for which a question was skipped."""
    with read_only_session(app.engine) as db:
        return list(db.execute(select(SkipRow.reason).where(SkipRow.question_id == question)).scalars())
