"""Two readers read the same cases in a browser: blinded, with a break, a double press and a reload.

Each reads ten cases here; ``make soak`` reads twenty (OVERREAD_READING_CASES).
"""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select, update

from accounts import service as accounts
from domain.batches import SamplingPlan
from domain.people import Role
from domain.protocols import Protocol
from domain.studies import CaseSource, SourceKind, StudyDesign
from reader_study import service as studies
from storage.reader_study.cases import list_blind_cases, list_slots
from storage.rows.datasets import QuestionRow
from storage.rows.studies import ReadingRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.e2e import review_helpers
from tests.e2e.conftest import PASSWORD, RunningApp
from tests.e2e.reading_report import check_report
from tests.e2e.viewer_helpers import measure_narrow_height
from tests.storage.worlds import SECRETS

pytestmark = [pytest.mark.browser, pytest.mark.full]

CASES = int(os.environ.get("OVERREAD_READING_CASES", "10"))
#: The number of cases after which rea takes a break, and after which all her answers are wrong.
BREAK_AFTER, WRONG_FROM = CASES * 2 // 5, CASES * 3 // 4
#: Words planted in fields that a reader must not receive, by field.
PLANTED_WORDS = {**SECRETS, "task": "SECRET-task", "peer": "SECRET-peer"}
_TEXTS = """() => [document.documentElement.outerHTML,
    ...[...document.querySelectorAll('*')].map(element => element.shadowRoot?.innerHTML ?? '')].join('')"""


@pytest.fixture(scope="module", autouse=True)
def study(app):
    """A study without training, read by rea and rob; the key of every question is B."""
    review_world = review_helpers.create_review_world(app, questions=60)
    now = datetime.now(UTC)
    with unit_of_work(app.engine) as db:
        db.execute(update(QuestionRow).values(content_type=PLANTED_WORDS["task"]))
        accounts.set_password(db, by=accounts.command_line_person(), name="rea", password=PASSWORD, now=now)
    app.add_person("rob", Role.READER)
    with unit_of_work(app.engine) as db:
        pilot_study = studies.create_study(
            db,
            by=review_world.people["cora"],
            name="pilot",
            source=CaseSource(kind=SourceKind.DATASET, dataset="demo"),
            design=StudyDesign(plan=SamplingPlan(seed=7, per_1000=None, n=CASES)),
            protocol=Protocol(show_own_result=True, guideline="Read **every** case.", minimum_cases=CASES),
            now=now,
        )
        studies.assign_readers(db, by=review_world.people["cora"], study="pilot", to=["rea", "rob"], now=now)
    return pilot_study


class TrafficRecorder:
    """Everything the browser receives: response bodies, websocket frames, and the page itself."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.bodies: list[bytes] = []
        self.frames: list[bytes | str] = []
        self.pages: list[str] = []
        page.on("requestfinished", self._record_response)
        page.on("websocket", lambda socket: socket.on("framereceived", self._record_frame))

    def _record_frame(self, frame) -> None:
        self.frames.append(frame)

    def _record_response(self, request) -> None:
        if "/static/" not in request.url:  # Streamlit's own files, the same for everybody
            self.bodies.append(request.response().body())

    def look(self) -> None:
        """Keep the current page, including shadow roots."""
        self.pages.append(self.page.evaluate(_TEXTS))

    def find_seen_words(self) -> set[str]:
        """The planted words that were seen."""
        encoded = [
            chunk if isinstance(chunk, bytes) else chunk.encode() for chunk in (*self.frames, *self.pages)
        ]
        return {
            name
            for name, word in PLANTED_WORDS.items()
            if any(word.encode() in chunk for chunk in (*encoded, *self.bodies))
        }


def load_slots(app: RunningApp, study, name: str):
    """The reader's slots in stored order."""
    with read_only_session(app.engine) as db:
        reader = next(
            candidate
            for candidate in studies.list_readers(db, by=CORA, study=study.name)
            if candidate.name == name
        )
        return list_slots(db, reader_id=reader.id)


CORA = accounts.command_line_person()


def load_readings(app: RunningApp, slots) -> list[ReadingRow]:
    with read_only_session(app.engine) as db:
        statement = select(ReadingRow).where(ReadingRow.reader_id == slots[0].reader_id)
        return list(db.execute(statement.order_by(ReadingRow.position)).scalars())


def begin_study(page: Page) -> None:
    page.goto("/read")
    page.get_by_text("Read every case").wait_for(timeout=30_000)
    page.get_by_role("button", name="Start reading").click()


def wait_for_case(page: Page, done: int) -> None:
    """Wait until the case is shown with its radiographs; a case that is not on screen cannot be saved."""
    page.get_by_text(f"{done} of {CASES} read").wait_for(timeout=30_000)
    review_helpers.wait_for_images(page)


def key_for_b(slot) -> str:
    """The digit under which option B, the key, is shown in that slot."""
    return "12345"[slot.option_order.index(1)]


def answer_case(page: Page, slot, done: int, *, key: str | None = None) -> None:
    """Answer the case on screen, after ``done`` others, and wait for the next one."""
    wait_for_case(page, done)
    page.keyboard.press(key or key_for_b(slot))
    page.keyboard.press("Shift+4")
    page.keyboard.press("Enter")


def test_two_readers_read_the_same_cases_and_the_report_has_their_results(app, study, sign_in, chromium):
    started_at = time.monotonic()
    rea_slots, rob_slots = load_slots(app, study, "rea"), load_slots(app, study, "rob")
    page = sign_in("rea")
    traffic = TrafficRecorder(page)
    begin_study(page)
    page.wait_for_function(_make_drawn_script(), timeout=60_000)
    assert measure_narrow_height(page) > 300  # the case has its image in a narrow window too
    for done, slot in enumerate(rea_slots[:BREAK_AFTER]):
        answer_case(page, slot, done)
        if done in (0, BREAK_AFTER - 1):
            traffic.look()
    wait_for_case(page, BREAK_AFTER)
    # She enters half of the next answer, takes a break, and resumes in another window.
    page.keyboard.press(key_for_b(rea_slots[BREAK_AFTER]))
    page.wait_for_timeout(900)
    page.keyboard.press("p")
    expect(page.get_by_role("dialog", name="Paused", exact=True)).to_be_visible()
    page.wait_for_timeout(1500)
    page.close()
    page = open_signed_in_page(chromium, app, "rea")
    second_traffic = TrafficRecorder(page)
    page.goto("/read")
    wait_for_case(page, BREAK_AFTER)
    expect(page.get_by_text("Draft restored.")).to_be_visible()
    second_traffic.look()
    page.keyboard.press("Shift+5")
    page.keyboard.press("Enter")
    for done, slot in enumerate(rea_slots[BREAK_AFTER + 1 :], start=BREAK_AFTER + 1):
        wrong_key = "12345"[slot.option_order.index(0)] if done >= WRONG_FROM else None
        answer_case(page, slot, done, key=wrong_key)
    expect(page.get_by_text("study complete")).to_be_visible(timeout=30_000)
    expect(page.get_by_text(f"{WRONG_FROM} of {CASES} correct")).to_be_visible()
    second_traffic.look()

    rob_page = open_signed_in_page(chromium, app, "rob")
    third_traffic = TrafficRecorder(rob_page)
    begin_study(rob_page)
    for done, slot in enumerate(rob_slots):
        wait_for_case(rob_page, done)
        if done == 3:
            rob_page.keyboard.press(key_for_b(slot))
            rob_page.keyboard.press("Shift+2")
            rob_page.keyboard.press("Enter")
            rob_page.keyboard.press("Enter")
            continue
        if done == 6:
            rob_page.keyboard.press(key_for_b(slot))
            rob_page.wait_for_timeout(900)
            rob_page.reload()
            wait_for_case(rob_page, 6)
            expect(rob_page.get_by_text("Draft restored.")).to_be_visible()
        answer_case(rob_page, slot, done)
        if done == CASES - 1:
            third_traffic.look()
    expect(rob_page.get_by_text(f"{CASES} of {CASES} correct")).to_be_visible(timeout=30_000)
    elapsed = time.monotonic() - started_at

    for recorder in (traffic, second_traffic, third_traffic):
        assert len(recorder.bodies) > 5
        assert recorder.find_seen_words() == set()
    for slots, readings in (
        (rea_slots, load_readings(app, rea_slots)),
        (rob_slots, load_readings(app, rob_slots)),
    ):
        assert [(row.position, row.case_id, row.revision) for row in readings] == [
            (slot.position, slot.case_id, 1) for slot in slots
        ]
        assert all(row.protocol_version == 1 and not row.cannot_determine for row in readings)
        assert all(0 <= row.seconds_looking <= row.seconds <= elapsed for row in readings)
        assert sum(row.seconds_looking for row in readings) > 0
    assert [json.loads(row.answer) for row in load_readings(app, rea_slots)] == [[1]] * WRONG_FROM + [[0]] * (
        CASES - WRONG_FROM
    )
    assert [json.loads(row.answer) for row in load_readings(app, rob_slots)] == [[1]] * CASES
    assert load_readings(app, rea_slots)[BREAK_AFTER].seconds_away > 1  # the break
    with read_only_session(app.engine) as db:
        progress = studies.load_study_progress(db, by=CORA, study="pilot")
    assert [(entry.done, entry.total) for entry in progress] == [(CASES, CASES)] * 2
    expect(rob_page.get_by_text("study complete")).to_be_visible()
    rob_page.context.close()
    page.context.close()
    cora = open_signed_in_page(chromium, app, "cora")
    check_report(cora, load_readings(app, rea_slots), load_readings(app, rob_slots), wrong_from=WRONG_FROM)
    cora.context.close()


def test_reader_who_has_read_all_cases_gets_no_pixels(app, study, sign_in):
    page = sign_in("rea")  # all her cases are read, and going back is not allowed
    for exam in (1, 5, 30):
        assert page.request.get(f"/pixels/{exam}/pa").status in (403, 404)
        assert page.request.get(f"/radiographs/{exam}/pa").status in (403, 404)


def open_signed_in_page(chromium, app: RunningApp, name: str) -> Page:
    """A new window in which that person is signed in."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, base_url=app.url)
    page = context.new_page()
    page.goto("/sign-in")
    page.fill("input[name=name]", name)
    page.fill("input[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.get_by_role("button", name="Sign out").wait_for(timeout=30_000)
    return page


def _make_drawn_script() -> str:
    """A condition for the browser: the viewer shows the window's values, as it does once it has drawn."""
    roots = "[...document.querySelectorAll('*')].map(element => element.shadowRoot).filter(Boolean)"
    return (
        f"() => {roots}.some(root => [...root.querySelectorAll('.pane[data-radiograph]')]"
        ".some(pane => /W [\\d.]+ C -?\\d+/.test(pane.textContent)))"
    )


def test_box_is_saved_as_evidence_and_an_answer_can_be_changed(app, study, chromium):
    app.add_person("ria", Role.READER)
    with unit_of_work(app.engine) as db:
        second_study = studies.create_study(
            db,
            by=CORA,
            name="second",
            source=CaseSource(kind=SourceKind.DATASET, dataset="demo"),
            design=StudyDesign(plan=SamplingPlan(seed=3, per_1000=None, n=15, strata=("task",))),
            protocol=Protocol(going_back=True, ask_confidence=False),
            now=datetime.now(UTC),
        )
        studies.assign_readers(db, by=CORA, study="second", to=["ria"], now=datetime.now(UTC))
    slots = load_slots(app, second_study, "ria")
    with read_only_session(app.engine) as db:
        cases_with_box = {case.id for case in list_blind_cases(db, study_id=second_study.id) if case.asks_box}
    box_index = next(index for index, slot in enumerate(slots) if slot.case_id in cases_with_box)
    page = open_signed_in_page(chromium, app, "ria")
    page.goto("/read")
    for done, slot in enumerate(slots[: box_index + 1]):
        page.get_by_text(f"{done} of 15 read").wait_for(timeout=30_000)
        if done == box_index:
            page.wait_for_function(_make_drawn_script(), timeout=60_000)
            pane = page.locator(".pane[data-radiograph]").first.bounding_box()
            x, y = pane["x"] + pane["width"] / 2, pane["y"] + pane["height"] / 2
            page.mouse.move(x - 40, y - 40)
            page.mouse.down()
            page.mouse.move(x + 40, y + 60, steps=6)
            page.mouse.up()
            page.get_by_text("Supporting findings").wait_for()
        page.keyboard.press(key_for_b(slot))
        page.keyboard.press("Enter")
    page.get_by_text(f"{box_index + 1} of 15 read").wait_for(timeout=30_000)
    page.wait_for_timeout(600)  # a key pressed as soon as a case appears is ignored
    page.keyboard.press("k")
    page.get_by_text("You answered this case").wait_for(timeout=30_000)
    page.keyboard.press("q")
    page.wait_for_timeout(600)
    page.get_by_role("button", name="Change answer").click()
    page.get_by_text(f"{box_index + 1} of 15 read").wait_for(timeout=30_000)
    expect(page.get_by_text("You answered this case")).to_have_count(0, timeout=30_000)
    for _ in range(100):  # the text disappears at the first key; the answer is saved a moment later
        revisions = [row for row in load_readings(app, slots) if row.position == box_index + 1]
        if len(revisions) == 2:
            break
        page.wait_for_timeout(100)
    first, changed = revisions
    assert (first.revision, json.loads(first.answer), first.cannot_determine) == (1, [1], False)
    assert (changed.revision, changed.answer, changed.cannot_determine) == (2, None, True)
    [box] = json.loads(first.boxes)
    x_min, y_min, x_max, y_max = box["box"]
    assert 0 < x_min < x_max < review_helpers.COLUMNS
    assert 0 < y_min < y_max < review_helpers.ROWS
    assert box["label"] == "evidence"
    page.context.close()
