"""A study with open answers in a browser: a reader types, two experts mark by keyboard, the report counts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from domain.batches import SamplingPlan
from domain.protocols import Protocol
from domain.studies import CaseSource, SourceKind, StudyDesign
from domain.vocabulary import AnswerFormat
from reader_study import service as studies
from storage.reader_study.cases import list_cases
from storage.unit_of_work import read_only_session, unit_of_work
from tests.e2e import review_helpers
from tests.e2e.conftest import RunningApp
from tests.e2e.streamlit_pages import press_key, take_screenshot, wait_for_radiographs

pytestmark = [pytest.mark.browser, pytest.mark.full]

#: The key of every case is "Effusion". The answers of the reader and of the model, by case number.
READER_ANSWERS = ["effusion", "Pleural fluid", "nodule", "basal opacity"]
MODEL_ANSWERS = ["Effusion", "pleural  fluid", "Effusion in the left basal zone", "free air"]
#: The keys that ruth and remo press: 1 right, 2 partly right, 3 wrong. Only remo marks the free air.
RUTH_KEYS = {
    "pleural fluid": "1", "nodule": "3", "Effusion in the left basal zone": "1", "basal opacity": "2",
}  # fmt: skip
REMO_KEYS = RUTH_KEYS | {"basal opacity": "3", "free air": "3"}


@pytest.fixture(scope="module", autouse=True)
def study(app: RunningApp):
    """A study of four open cases with a model's answers; rea reads."""
    world = review_helpers.create_review_world(app, questions=16, open_questions=8)
    cora, now = world.people["cora"], datetime.now(UTC)
    with unit_of_work(app.engine) as db:
        pilot = studies.create_study(
            db,
            by=cora,
            name="pilot",
            source=CaseSource(kind=SourceKind.DATASET, dataset="demo"),
            design=StudyDesign(plan=SamplingPlan(seed=7, per_1000=None, n=4), formats=(AnswerFormat.OPEN,)),
            protocol=Protocol(ask_confidence=False, bootstrap=0, minimum_cases=2),
            now=now,
        )
        studies.assign_readers(db, by=cora, study="pilot", to=["rea"], now=now)
        cases = list_cases(db, study_id=pilot.id)
        file = app.home / "m.jsonl"
        file.write_text(
            "\n".join(
                json.dumps({"question_id": case.question.id, "raw": reply})
                for case, reply in zip(cases, MODEL_ANSWERS, strict=True)
            )
        )
        studies.import_predictions(db, by=cora, path=file, model="MedM", study="pilot", now=now)
    return pilot


def type_answers(page: Page, app: RunningApp, study) -> None:
    """Answer every case in the reader's order by typing."""
    with read_only_session(app.engine) as db:
        text_by_stem = {
            case.question.stem: answer
            for case, answer in zip(list_cases(db, study_id=study.id), READER_ANSWERS, strict=True)
        }
    page.goto("/read")
    for done in range(4):
        page.get_by_text(f"{done} of 4 read").wait_for(timeout=30_000)
        review_helpers.wait_for_images(page)
        stem = next(stem for stem in text_by_stem if page.get_by_text(stem, exact=True).count())
        page.get_by_role("textbox", name="Your answer").fill(text_by_stem.pop(stem))
        take_screenshot(page, f"read-{done}")
        page.get_by_role("button", name="Save and continue").click()
    page.get_by_text("study complete").wait_for(timeout=30_000)


def mark_by_keyboard(page: Page, keys: dict[str, str]) -> list[str]:
    """Press the key of each answer that is shown; skip answers without one. Return the answers in order."""
    shown: list[str] = []
    total, answer = 5, page.get_by_test_id("stMain").locator("strong")
    for number in range(1, total + 1):
        page.get_by_text(f"Answer {number} of {total}").wait_for(timeout=30_000)
        if shown:
            expect(answer).not_to_have_text(shown[-1])
        shown.append(answer.inner_text())
        key = next((key for text, key in keys.items() if text.casefold() == shown[-1].casefold()), None)
        if key or number < total:  # the last answer has no next one
            press_key(page, key or "ArrowRight")
    return shown


def test_open_answers_are_entered_marked_by_two_experts_and_reported(
    app: RunningApp, signed_in: Callable[[str], Page], study
):
    page = signed_in("rea")
    type_answers(page, app, study)
    page.context.clear_cookies()

    page = signed_in("cora")
    page.goto("/studies")
    page.get_by_text("5 distinct answers of readers and models differ").wait_for(timeout=30_000)
    for marker, name in (("First marker", "Ruth"), ("Second marker", "Remo")):
        page.get_by_role("combobox", name=marker).click()
        page.get_by_role("option", name=name).click()
        page.get_by_role("button", name=f"Save {marker.lower()}").click()
        page.get_by_text(f"{name.lower()} is the {marker.lower()}").wait_for(timeout=15_000)
    take_screenshot(page, "markers")
    page.context.clear_cookies()

    page = signed_in("ruth")
    frames: list[bytes] = []
    page.on(
        "websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(_encode(frame)))
    )
    page.goto("/")
    page.get_by_text("0 of 5 marked").wait_for(timeout=30_000)
    take_screenshot(page, "home")
    page.goto("/mark_answers")
    page.get_by_text("Answer 1 of 5").wait_for(timeout=30_000)
    wait_for_radiographs(page)
    take_screenshot(page, "marking")
    press_key(page, "3")
    page.get_by_text("Answer 2 of 5").wait_for(timeout=15_000)
    press_key(page, "u")  # undo the first mark
    page.get_by_text("Answer 1 of 5").wait_for(timeout=15_000)
    page.get_by_text("0 of 5 answers marked").wait_for()
    shown = mark_by_keyboard(page, RUTH_KEYS)
    assert len(shown) == len(set(shown)) == 5
    page.get_by_text("4 of 5 answers marked").wait_for(timeout=15_000)
    page.reload()
    page.get_by_text("4 of 5 answers marked").wait_for(timeout=30_000)
    expect(page.get_by_text("free air")).to_be_visible()  # the answer without a mark opens again
    received = b"".join(frames)
    assert b"basal opacity" in received
    assert re.search(rb"MedM|\b[Rr]ea\b", received) is None  # neither the model's nor the reader's name
    page.set_viewport_size({"width": 420, "height": 800})
    take_screenshot(page, "marking-narrow")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.context.clear_cookies()

    page = signed_in("remo")
    page.goto("/mark_answers")
    page.get_by_text("0 of 5 answers marked").wait_for(timeout=30_000)
    mark_by_keyboard(page, REMO_KEYS)
    page.get_by_text("every answer is marked").wait_for(timeout=15_000)
    take_screenshot(page, "marked")
    page.context.clear_cookies()

    page = signed_in("cora")
    check_report(page)


def test_extracted_answers_are_marked_by_keyboard(app: RunningApp, signed_in: Callable[[str], Page]):
    page = signed_in("cora")
    page.goto("/studies")
    page.get_by_text("Extraction check", exact=True).click(timeout=30_000)
    for key, done, position in (("1", 0, 1), ("2", 1, 2), ("u", 2, 3), ("p", 1, 2)):
        page.get_by_text(f"{done} of 4 replies marked").wait_for(timeout=15_000)
        page.get_by_text(f"Reply {position} of 4").wait_for(timeout=15_000)
        take_screenshot(page, f"extraction-{done}-{position}")
        press_key(page, key)
    expect(page.get_by_text("Reply 1 of 4")).to_be_visible(timeout=15_000)
    expect(page.get_by_text("1 of 4 replies marked")).to_be_visible()


def _encode(frame: bytes | str) -> bytes:
    return frame if isinstance(frame, bytes) else frame.encode()


def check_report(page: Page) -> None:
    """Check marks, agreement of the markers, and the answer without a mark, on the page and in its files."""
    page.goto("/studies")
    page.get_by_text("Report", exact=True).click(timeout=30_000)
    page.get_by_role("button", name="Create report").click(timeout=30_000)
    page.get_by_text("1 of 5 distinct open answers is not marked, so 1 answer").wait_for(timeout=60_000)
    # Both marked 4 answers and agree on 3: right, right, wrong and (partly, wrong).
    page.get_by_text("same mark to 3 of 4 answers that both marked").wait_for()
    take_screenshot(page, "report")
    page.get_by_text("Lists and protocol").click()
    page.get_by_text("Open answers", exact=True).wait_for(timeout=15_000)
    take_screenshot(page, "report-lists")
    tables = page.request.get(page.get_by_role("link", name="JSON").get_attribute("href")).json()["tables"]
    reader, model = sorted(tables["open_answers"], key=lambda row: row["kind"], reverse=True)
    assert (reader["equal_to_key"], reader["right"], reader["partly"], reader["wrong"]) == (1, 1, 1, 1)
    assert (reader["n"], reader["not_marked"], reader["estimate"]) == (4, 0, 2 / 4)
    assert (model["rater"], model["equal_to_key"], model["right"], model["not_marked"]) == ("MedM", 1, 2, 1)
    assert (model["n"], model["estimate"]) == (3, 1.0)
    # Chance agreement: right 2/4 x 2/4 + partly 1/4 x 0 + wrong 1/4 x 2/4 = 3/8; (3/4 - 3/8) / (5/8) = 0.6.
    agreement = next(row for row in tables["marker_agreement"] if row["weights"] == "none")
    assert agreement["kappa"] == pytest.approx(0.6)
    assert (agreement["answers"], agreement["first_marked"], agreement["second_marked"]) == (5, 4, 5)
