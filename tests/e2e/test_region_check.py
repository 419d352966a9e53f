"""A region check in the browser: drawn by a coordinator, marked by keyboard, reported."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import text

from storage.unit_of_work import unit_of_work
from tests.e2e import review_helpers
from tests.e2e.conftest import RunningApp
from tests.e2e.streamlit_pages import press_key, take_screenshot, wait_for_radiographs
from tests.storage.model_server import running_model_server
from tests.storage.test_region_checks import answer, make_run

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module", autouse=True)
def run(app: RunningApp):
    """A run of stage I on four exams, whose questions have a box of the heart."""
    review_helpers.create_review_world(app, questions=8)
    with running_model_server(answer=answer) as server, ThreadPoolExecutor(max_workers=1) as thread:
        thread.submit(make_run, app.engine, server).result()  # this thread has the browser's event loop
    with unit_of_work(app.engine) as db:
        db.execute(text("UPDATE question SET boxes = replace(boxes, 'SECRET-label', 'cardiac silhouette')"))


def test_an_expert_marks_sentences_by_keyboard_and_the_report_has_the_share_of_right_ones(
    app: RunningApp, signed_in: Callable[[str], Page]
):
    page = signed_in("cora")
    page.goto("/prompt_bench")
    page.get_by_text("Region checks", exact=True).click()
    page.get_by_role("textbox", name="Name").fill("May")
    page.get_by_role("spinbutton", name="Reports").fill("2")
    page.get_by_role("combobox", name="Images and boxes").click()
    page.get_by_role("option", name="demo").click()
    page.get_by_role("button", name="Create region check").click()
    page.get_by_text("2 reports with 6 sentences of run").wait_for(timeout=60_000)
    page.get_by_role("combobox", name="Marked by").click()
    page.get_by_role("option", name="Ruth").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Save experts").click()
    page.get_by_text("Marked by Ruth.").wait_for(timeout=15_000)
    page.get_by_text("No marks yet.").wait_for()
    take_screenshot(page, "region-check-created")
    page.context.clear_cookies()

    page = signed_in("ruth")
    page.goto("/")
    page.get_by_text("0 of 6 sentences marked").wait_for(timeout=30_000)
    page.goto("/score_outputs")
    page.get_by_text("Report 1 of 2 · sentence 1 of 3").wait_for(timeout=30_000)
    wait_for_radiographs(page)
    picture = page.locator('a:has(> img[alt^="radiograph"])').first
    box_bounds, image_bounds = (picture.locator(f"> {tag}").first.bounding_box() for tag in ("span", "img"))
    # The box (100, 200) to (300, 400) of an image of 1000 columns and 1200 rows.
    assert (box_bounds["x"] - image_bounds["x"]) / image_bounds["width"] == pytest.approx(0.1, abs=0.01)
    assert box_bounds["height"] / image_bounds["height"] == pytest.approx(200 / 1200, abs=0.01)
    take_screenshot(page, "region-marking")
    press_key(page, "2")  # a mistake, undone by "u"
    page.get_by_text("1 of 6 sentences marked").wait_for(timeout=15_000)
    press_key(page, "u")
    page.get_by_text("0 of 6 sentences marked").wait_for(timeout=15_000)
    # Report 1: right, wrong region, missed; report 2: all right.
    for number, key in enumerate("122111"):
        report, sentence = divmod(number, 3)
        page.get_by_text(f"Report {report + 1} of 2 · sentence {sentence + 1} of 3").wait_for(timeout=15_000)
        if sentence == 2:
            page.get_by_text("No region", exact=True).wait_for()
            if report == 0:
                page.set_viewport_size({"width": 1024, "height": 768})
                take_screenshot(page, "region-marking-narrow")
        press_key(page, key)
    page.get_by_text("every sentence is marked").wait_for(timeout=15_000)
    page.reload()
    page.get_by_text("6 of 6 sentences marked").wait_for(timeout=30_000)
    page.context.clear_cookies()

    page = signed_in("cora")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/prompt_bench")
    page.get_by_text("Region checks", exact=True).click()
    page.get_by_text("4 of 6 marked sentences right: 66.7 % (95 % interval").wait_for(timeout=30_000)
    take_screenshot(page, "region-check-report")
    files = {}
    for name in ("Results as CSV", "Marks as CSV"):
        link = page.get_by_role("link", name=name)
        expect(link).to_be_visible()
        response = page.request.get(link.get_attribute("href") or "")
        files[name] = list(csv.DictReader(io.StringIO(response.text())))
    share = files["Results as CSV"][0]
    assert (share["n"], share["count"], share["wrong_region"], share["missed"]) == ("6", "4", "1", "1")
    assert len(files["Marks as CSV"]) == 6
