"""In the mode "answer first", nothing that the app sends gives the answer away.

Key, explanation, report, boxes, peers' verdicts and models' answers contain planted words, which differ by
question. They are searched for in websocket frames, HTTP bodies, headers and addresses, the page with its
shadow roots, browser storage, file names and the app's log: plain, decompressed, and in other encodings.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, expect
from sqlalchemy import update

from domain.batches import BatchSettings, Mode
from storage.rows.datasets import ExamRow, QuestionRow
from storage.rows.studies import ModelRow, PredictionRow, PredictionRunRow
from storage.rows.verdicts import VerdictRow
from storage.unit_of_work import unit_of_work
from tests.e2e import review_helpers, websocket_client
from tests.e2e.conftest import RunningApp
from tests.e2e.review_helpers import press_answer
from tests.storage.worlds import NOW, World

pytestmark = [pytest.mark.browser, pytest.mark.full]

QUESTIONS = (1, 2, 3, 4)
KINDS = ("key", "explanation", "label", "category", "report", "peer", "model")
_ROOTS = (
    "[document.documentElement, ...[...document.querySelectorAll('*')].map(element => "
    "element.shadowRoot).filter(Boolean)]"
)


def make_planted_word(kind: str, number: int) -> str:
    """The planted word: letters only, so that no encoding of text changes it."""
    return f"Xq{kind.title()}Leak{'ABCDE'[number]}zk"


@pytest.fixture(scope="module")
def world(app: RunningApp) -> World:
    """All four questions, on two exams, are assigned to ruth; remo judged them, and a model answered them."""
    settings = BatchSettings(mode=Mode.ANSWER_FIRST, show_report=True)
    review_world = review_helpers.create_review_world(app, questions=len(QUESTIONS), settings=settings)
    with unit_of_work(app.engine) as db:
        for exam in review_world.exams:
            db.execute(
                update(ExamRow).where(ExamRow.id == exam).values(report=make_planted_word("report", exam))
            )
        db.add(
            ModelRow(
                id=1, dataset_id=review_world.dataset_id, name=make_planted_word("model", 0), created_at=NOW
            )
        )
        db.flush()
        db.add(
            PredictionRunRow(
                id=1,
                model_id=1,
                file_name=make_planted_word("model", 0),
                file_sha256="0" * 64,
                predictions=4,
                failed=0,
                refused=0,
                imported_at=NOW,
            )
        )
        db.flush()
        for number in QUESTIONS:
            _plant_words(db, review_world, number)
    return review_world


def _plant_words(db, review_world: World, number: int) -> None:
    boxes = [{"radiograph": "pa", "label": make_planted_word("label", number), "box": [100, 200, 300, 400]}]
    db.execute(
        update(QuestionRow)
        .where(QuestionRow.id == number)
        .values(
            explanation=make_planted_word("explanation", number),
            category=make_planted_word("category", number),
            boxes=json.dumps(boxes),
            # An open question stores its key as words; a single-choice key is a position in a list.
            **(
                {"format": "open", "options": "[]", "answer": json.dumps(make_planted_word("key", number))}
                if number == 4
                else {}
            ),
        )
    )
    db.add(
        VerdictRow(
            batch_id=review_world.batch.id,
            question_id=number,
            person_id=review_world.people["remo"].id,
            revision=1,
            decision="revise",
            correction=json.dumps({"stem": make_planted_word("peer", number)}),
            clinical_reasoning=make_planted_word("peer", number),
            comment=make_planted_word("peer", number),
            seconds=1,
            seconds_looking=1,
            seconds_away=0,
            given_at=NOW,
        )
    )
    db.add(
        PredictionRow(
            model_id=1,
            question_id=number,
            run_id=1,
            answer=json.dumps(make_planted_word("model", number)),
            raw=make_planted_word("model", number),
            rule="planted",
            explanation=make_planted_word("model", number),
        )
    )


class TrafficRecorder:
    """Everything that the browser receives and requests."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.seen: list[bytes] = []
        page.on("requestfinished", self._record_request)
        page.on("websocket", lambda socket: socket.on("framereceived", self._record_frame))
        page.on("console", lambda message: self.seen.append(message.text.encode()))
        page.on("download", lambda file: self.seen.append(file.suggested_filename.encode()))

    def _record_frame(self, frame: bytes | str) -> None:
        self.seen.append(frame if isinstance(frame, bytes) else frame.encode())

    def _record_request(self, request: Request) -> None:
        response = request.response()
        self.seen.append(request.url.encode())
        if response is not None:
            self.seen.append(json.dumps(response.all_headers()).encode())
            if "/static/" not in request.url:  # Streamlit's own files, the same for everybody
                self.seen.append(response.body())

    def look(self) -> None:
        """Add the current page: shadow roots, form fields and browser storage."""
        page_content = self.page.evaluate(
            f"""() => JSON.stringify({{
                html: {_ROOTS}.map(root => root.innerHTML),
                fields: {_ROOTS}.flatMap(root => [...root.querySelectorAll('input, textarea')])
                    .map(field => field.value),
                kept: [Object.entries(localStorage), Object.entries(sessionStorage)], title: document.title,
            }})"""
        )
        self.seen.append(page_content.encode())

    def found(self) -> set[str]:
        """The planted words that were seen in any encoding."""
        self.look()
        return find_planted_words(self.seen)


def find_planted_words(chunks: list[bytes]) -> set[str]:
    """The planted words in these bytes: plain, compressed, in UTF-16 or base64, in upper or lower case."""
    all_bytes = b"\n".join(part for content in chunks for part in iterate_decompressed(content)).lower()
    planted = [make_planted_word(kind, number) for kind in KINDS for number in range(5)]
    return {
        planted_word
        for planted_word in planted
        if any(encoded.lower() in all_bytes for encoded in encode_word(planted_word))
    }


def encode_word(word: str) -> Iterator[bytes]:
    """Encodings of a word; base64 at each of its three offsets, without the characters at the edges."""
    yield word.encode()
    yield word.encode("utf-16-le")
    for offset in range(3):
        yield base64.b64encode(b"\0" * offset + word.encode())[4:-4]


def iterate_decompressed(content: bytes) -> Iterator[bytes]:
    """The content, and every gzip or zlib stream in it, decompressed."""
    yield content
    for start in (match.start() for match in re.finditer(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]", content)):
        try:
            yield zlib.decompressobj(wbits=47).decompress(content[start:], 1 << 24)
        except zlib.error:
            continue


def read_log(app: RunningApp) -> bytes:
    """The app's log so far."""
    return (app.home.parent / f"{app.home.name}.log").read_bytes()


def list_file_names(app: RunningApp) -> bytes:
    """The name of every file in the workspace."""
    return "\n".join(str(path) for path in Path(app.home).rglob("*")).encode()


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, zlib.compress, lambda text: text.decode().encode("utf-16-le")]
)
def test_leak_is_found_in_every_encoding(pack):
    text = f"something {make_planted_word('key', 4)} else".encode()
    assert find_planted_words([b"before" + pack(text) + b"after"]) == {make_planted_word("key", 4)}
    assert find_planted_words([base64.b64encode(text)]) == {make_planted_word("key", 4)}
    assert find_planted_words([b"nothing of it"]) == set()


def test_browser_receives_no_leak_before_the_own_answer(app, world, signed_in):
    page = signed_in("ruth")
    traffic = TrafficRecorder(page)
    page.goto("/")
    review_helpers.open_review(page)
    review_helpers.wait_for_question(page, 1)
    press_answer(page, 3, 2)  # an answer and its confidence, entered but not committed
    page.wait_for_timeout(1_500)  # the draft is sent, the next question is prefetched
    for number in (2, 4, 3):
        page.goto(f"/review?batch=1&question={number}")
        review_helpers.wait_for_painted_image(page)
    page.goto("/account")
    page.get_by_role("heading", name="My account").wait_for()
    assert len(traffic.seen) > 50
    assert traffic.found() == set()
    assert find_planted_words([read_log(app), list_file_names(app)]) == set()


def test_responses_to_forged_requests_contain_no_leak(app, world, page, signed_in):
    signed_in("ruth")
    headers = {"X-Overread": "1", "X-Overread-Person": str(world.people["ruth"].id), "Origin": app.url}
    response_parts = []
    for path in ("verdict", "draft", "own-answer", "skip", "viewing-times", "report", "question"):
        for body in ({}, {"batch": 1, "question": 2}, {"batch": 1, "question": 2, "revision": 1}):
            response = page.context.request.post(f"/review/{path}", data=body, headers=headers)
            response_parts += [response.body(), json.dumps(response.headers).encode()]
    assert find_planted_words(response_parts) == set()


def test_raw_websocket_frames_contain_no_leak(app, world, signed_in):
    """The raw frames of every page that the reviewer may open, and of forged clicks."""
    page = signed_in("ruth")
    cookie = next(entry["value"] for entry in page.context.cookies() if entry["name"] == "overread")
    frames = []
    with websocket_client.open_socket(app, cookie) as socket:
        pages = websocket_client.rerun(socket).pages
        for name, page_hash in pages.items():
            for query in ("", "batch=1&question=2", "batch=1&question=4"):
                run = websocket_client.rerun(socket, page_hash=page_hash, query=query)
                frames += run.frames
                if name == "review":
                    forged = [
                        websocket_client.make_pressed_state(widget)
                        for widget in run.widgets
                        if "sign-out" not in widget
                    ]
                    frames += websocket_client.rerun(
                        socket, page_hash=page_hash, query=query, widgets=forged
                    ).frames
    assert len(frames) > 50
    assert find_planted_words(frames) == set()


def test_own_answer_reveals_planted_words_of_that_question_only(app, world, signed_in):
    page = signed_in("ruth")
    traffic = TrafficRecorder(page)
    review_helpers.open_review(page, 1)
    review_helpers.wait_for_question(page, 1)
    press_answer(page, 3, 2)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Explanation")).to_have_value(make_planted_word("explanation", 1))
    page.wait_for_timeout(1_000)
    assert traffic.found() == {make_planted_word(kind, 1) for kind in ("explanation", "category", "label")}
    assert find_planted_words([read_log(app), list_file_names(app)]) == set()
