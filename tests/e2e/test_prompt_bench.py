"""A prompt bench in the browser: two versions, ten reports, two experts who score twenty outputs."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from accounts import service as accounts
from domain.language_models import DataUse, Endpoint
from domain.prompt_bench import BenchScale
from language_models import service as models
from storage.unit_of_work import unit_of_work
from tests.e2e import review_helpers
from tests.e2e.conftest import RunningApp
from tests.e2e.streamlit_pages import press_key, take_screenshot, wait_for_script
from tests.storage.model_server import MODEL, running_model_server

pytestmark = [pytest.mark.browser, pytest.mark.full]

REPORTS = 10
VERSIONS = ("mcq-plain@1", "mcq-plain@2")
#: The replies of the two versions, which show from which version an output comes.
PLAIN, DETAILED = "Which finding is shown?", "Which finding is shown in the right lower zone?"


@pytest.fixture(scope="module")
def server():
    with running_model_server() as running:
        running.answer = lambda body: json.dumps(
            {"question": DETAILED if "zone" in str(body["messages"]) else PLAIN, "answer": "Effusion"}
        )
        yield running


@pytest.fixture(scope="module", autouse=True)
def prompts(app: RunningApp, server):
    """Twelve exams with reports, an endpoint, and two versions of a prompt."""
    review_helpers.create_review_world(app, questions=24)
    by, now = accounts.command_line_person(), datetime.now(UTC)
    endpoint = Endpoint(name="local", url=server.url, model=MODEL, data_use=DataUse.LOCAL)
    with unit_of_work(app.engine) as db:
        models.save_endpoint(db, by=by, endpoint=endpoint, now=now)
        for note, instruction in (("First version", ""), ("Ask for the zone", " Name the zone.")):
            content = f'name = "mcq-plain"\nuser = "Ask a question.{instruction} Report: ${{report}}"\n'
            models.save_prompt(db, by=by, content=content, note=note, now=now)


def wait_for_radiographs(page: Page) -> None:
    """Wait until both radiographs of the exam are drawn, which are the last part of the page."""
    page.wait_for_function(
        "() => [...document.images].filter(image => image.naturalWidth > 200).length >= 2", timeout=30_000
    )


def score_by_keyboard(page: Page, choose_key: Callable[[int, str, str], str]) -> None:
    """Give each score with the key that `choose_key` returns for number of the report, output and scale."""
    for number in range(1, REPORTS + 1):
        for letter in "AB":
            for scale in BenchScale:
                page.get_by_text(f"Report {number} of {REPORTS} · Output {letter}: {scale.label}").wait_for(
                    timeout=30_000
                )
                # The heading arrives before the outputs: they are read once the page is complete.
                wait_for_script(page)
                box = page.get_by_test_id("stColumn").filter(has_text=f"Output {letter}").last
                press_key(page, choose_key(number, box.inner_text(), scale.value))
    page.get_by_text("every score is given").wait_for(timeout=30_000)


def test_two_experts_score_twenty_outputs_blinded_and_the_report_compares_the_versions(
    app: RunningApp, signed_in: Callable[[str], Page]
):
    page = signed_in("cora")
    page.goto("/prompt_bench")
    page.get_by_role("textbox", name="Name").fill("May")
    page.get_by_role("button", name="Create prompt bench").click()
    page.get_by_role("button", name="Start").click(timeout=30_000)
    expect(page.get_by_role("button", name="Start")).to_have_count(0, timeout=60_000)
    for name in ("Remo", "Ruth"):
        page.get_by_role("combobox", name="Scored by").click()
        page.get_by_role("option", name=name).click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Save experts").click()
    page.get_by_text("Scored by Remo, Ruth.").wait_for(timeout=15_000)
    page.get_by_text("No scores yet.").wait_for()
    take_screenshot(page, "bench-created")
    page.context.clear_cookies()

    page = signed_in("ruth")
    frames: list[bytes] = []
    page.on(
        "websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(_encode(frame)))
    )
    page.goto("/")
    page.get_by_text("0 of 60 scores given").wait_for(timeout=30_000)
    page.goto("/score_outputs")
    page.get_by_text("0 of 60 scores given").wait_for(timeout=30_000)
    page.get_by_text("Output A: question quality").wait_for()
    wait_for_radiographs(page)
    take_screenshot(page, "scoring")
    press_key(page, "2")
    page.get_by_text("1 of 60 scores given").wait_for(timeout=15_000)
    press_key(page, "u")  # undo the first score
    page.get_by_text("0 of 60 scores given").wait_for(timeout=15_000)
    page.get_by_text("Output A: question quality").wait_for()

    def choose_for_ruth(number: int, text: str, scale: str) -> str:
        if scale != BenchScale.QUALITY.value:
            return "3"
        return ("5" if number % 2 == 0 else "4") if "zone" in text else "3"

    score_by_keyboard(page, choose_for_ruth)
    page.reload()
    page.get_by_text("60 of 60 scores given").wait_for(timeout=30_000)
    received = b"".join(frames)
    assert b"right lower zone" in received
    assert re.search(rb"mcq|@1|@2|First version|Ask for the zone", received) is None
    page.context.clear_cookies()

    page = signed_in("remo")
    page.set_viewport_size({"width": 1024, "height": 768})
    page.goto("/score_outputs")
    page.get_by_text("0 of 60 scores given").wait_for(timeout=30_000)
    wait_for_radiographs(page)
    take_screenshot(page, "scoring-narrow")
    score_by_keyboard(
        page, lambda _, text, scale: "4" if "zone" in text and scale == BenchScale.QUALITY.value else "3"
    )
    page.context.clear_cookies()

    page = signed_in("cora")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/prompt_bench")
    check_report(page)


def _encode(frame: bytes | str) -> bytes:
    return frame if isinstance(frame, bytes) else frame.encode()


def check_report(page: Page) -> None:
    """Check the paired difference with its interval, on the page and in its files.

    Ruth's differences are 1 in five reports and 2 in five, remo's are 1: 25 / 20 = 1.25. The deviations sum
    to -0.5 or 0.5 by report, so the standard error is sqrt(10 / 9 x 10 x 0.25) / 20 = 0.08333; t with 9
    degrees of freedom is 2.26216, so the interval is 1.25 ± 0.1885.
    """
    page.get_by_text("+1.25 points (95 % interval +1.06 to +1.44; 20 pairs of 10 reports)").wait_for(
        timeout=30_000
    )
    take_screenshot(page, "bench-report")
    files = {}
    for name in ("Results as CSV", "Scores as CSV"):
        response = page.request.get(page.get_by_role("link", name=name).get_attribute("href") or "")
        files[name] = list(csv.DictReader(io.StringIO(response.text())))
    difference = next(row for row in files["Results as CSV"] if row["table"] == "paired difference")
    assert (difference["of"], difference["minus"], difference["n"]) == (VERSIONS[1], VERSIONS[0], "20")
    assert (float(difference["estimate"]), float(difference["low"])) == pytest.approx(
        (1.25, 1.0615), abs=1e-3
    )
    scores = files["Scores as CSV"]
    assert len(scores) == 2 * 2 * 3 * REPORTS
    # Both letters were used for both versions, so the order was random.
    assert {(row["version"], row["output"]) for row in scores} == {
        (version, letter) for version in VERSIONS for letter in "AB"
    }
