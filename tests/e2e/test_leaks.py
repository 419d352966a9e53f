"""Answer first: planted words that give the answer away are searched for in everything the app sends.

Planted are key, explanation, report, boxes, peers' verdicts and models' answers, each with its own word per
question. Searched are websocket frames, HTTP bodies, headers and addresses, the page with its shadow roots,
browser storage, file names and the app's log: as they are, decompressed, and in other encodings.
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
from storage.rows import ExamRow, ModelRow, PredictionRow, PredictionRunRow, QuestionRow, VerdictRow
from storage.unit_of_work import unit_of_work
from tests.e2e import judging, wire
from tests.e2e.conftest import RunningApp
from tests.e2e.judging import press
from tests.storage.worlds import NOW, World

pytestmark = [pytest.mark.browser, pytest.mark.full]

QUESTIONS = (1, 2, 3, 4)
KINDS = ("key", "explanation", "label", "category", "report", "peer", "model")
_ROOTS = (
    "[document.documentElement,"
    " ...[...document.querySelectorAll('*')].map(each => each.shadowRoot).filter(Boolean)]"
)


def word(kind: str, number: int) -> str:
    """The planted word: letters only, so that no encoding of text changes it."""
    return f"Xq{kind.title()}Leak{'ABCDE'[number]}zk"


@pytest.fixture(scope="module")
def world(app: RunningApp) -> World:
    """All four questions, on two exams, are assigned to ruth; remo judged them, and a model answered them."""
    settings = BatchSettings(mode=Mode.ANSWER_FIRST, show_report=True)
    made = judging.world_to_judge(app, questions=len(QUESTIONS), settings=settings)
    with unit_of_work(app.engine) as db:
        for exam in made.exams:
            db.execute(update(ExamRow).where(ExamRow.id == exam).values(report=word("report", exam)))
        db.add(ModelRow(id=1, dataset_id=made.dataset_id, name=word("model", 0), created_at=NOW))
        db.flush()
        db.add(
            PredictionRunRow(
                id=1, model_id=1, file_name=word("model", 0), file_sha256="0" * 64, predictions=4, failed=0,
                refused=0, imported_at=NOW,
            )
        )  # fmt: skip
        db.flush()
        for number in QUESTIONS:
            _plant(db, made, number)
    return made


def _plant(db, made: World, number: int) -> None:
    boxes = [{"radiograph": "pa", "label": word("label", number), "box": [100, 200, 300, 400]}]
    db.execute(
        update(QuestionRow)
        .where(QuestionRow.id == number)
        .values(
            explanation=word("explanation", number),
            category=word("category", number),
            boxes=json.dumps(boxes),
            # An open question stores its key as words; a single-choice key is a position in a list.
            **(
                {"format": "open", "options": "[]", "answer": json.dumps(word("key", number))}
                if number == 4
                else {}
            ),
        )
    )
    db.add(
        VerdictRow(
            batch_id=made.batch.id, question_id=number, person_id=made.people["remo"].id, revision=1,
            decision="revise", correction=json.dumps({"stem": word("peer", number)}),
            clinical_reasoning=word("peer", number), comment=word("peer", number), seconds=1,
            seconds_looking=1, seconds_away=0, given_at=NOW,
        )
    )  # fmt: skip
    db.add(
        PredictionRow(
            model_id=1, question_id=number, run_id=1, answer=json.dumps(word("model", number)),
            raw=word("model", number), rule="planted", explanation=word("model", number),
        )
    )  # fmt: skip


class Wire:
    """Everything that the browser receives and requests."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.seen: list[bytes] = []
        page.on("requestfinished", self._keep)
        page.on("websocket", lambda socket: socket.on("framereceived", self._frame))
        page.on("console", lambda said: self.seen.append(said.text.encode()))
        page.on("download", lambda file: self.seen.append(file.suggested_filename.encode()))

    def _frame(self, frame: bytes | str) -> None:
        self.seen.append(frame if isinstance(frame, bytes) else frame.encode())

    def _keep(self, request: Request) -> None:
        answer = request.response()
        self.seen.append(request.url.encode())
        if answer is not None:
            self.seen.append(json.dumps(answer.all_headers()).encode())
            if "/static/" not in request.url:  # Streamlit's own files, the same for everybody
                self.seen.append(answer.body())

    def look(self) -> None:
        """Add the current page: shadow roots, form fields and browser storage."""
        shown = self.page.evaluate(
            f"""() => JSON.stringify({{
                html: {_ROOTS}.map(root => root.innerHTML),
                fields: {_ROOTS}.flatMap(root => [...root.querySelectorAll('input, textarea')])
                    .map(each => each.value),
                kept: [Object.entries(localStorage), Object.entries(sessionStorage)], title: document.title,
            }})"""
        )
        self.seen.append(shown.encode())

    def found(self) -> set[str]:
        """The planted words that were seen in any encoding."""
        self.look()
        return leaks(self.seen)


def leaks(seen: list[bytes]) -> set[str]:
    """The planted words in these bytes: plain, compressed, in UTF-16 or base64, in upper or lower case."""
    whole = b"\n".join(spelling for content in seen for spelling in spellings(content)).lower()
    planted = [word(kind, number) for kind in KINDS for number in range(5)]
    return {each for each in planted if any(form.lower() in whole for form in written(each))}


def written(planted: str) -> Iterator[bytes]:
    """Encodings of a word; base64 at each of its three offsets, without the characters at the edges."""
    yield planted.encode()
    yield planted.encode("utf-16-le")
    for place in range(3):
        yield base64.b64encode(b"\0" * place + planted.encode())[4:-4]


def spellings(content: bytes) -> Iterator[bytes]:
    """The content, and every gzip or zlib stream in it, decompressed."""
    yield content
    for start in (each.start() for each in re.finditer(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]", content)):
        try:
            yield zlib.decompressobj(wbits=47).decompress(content[start:], 1 << 24)
        except zlib.error:
            continue


def log_of(app: RunningApp) -> bytes:
    """The app's log so far."""
    return (app.home.parent / f"{app.home.name}.log").read_bytes()


def names_of_files(app: RunningApp) -> bytes:
    """The name of every file in the workspace."""
    return "\n".join(str(path) for path in Path(app.home).rglob("*")).encode()


@pytest.mark.parametrize(
    "packed", [bytes, gzip.compress, zlib.compress, lambda text: text.decode().encode("utf-16-le")]
)
def test_a_leak_would_be_found(packed):
    text = f"something {word('key', 4)} else".encode()
    assert leaks([b"before" + packed(text) + b"after"]) == {word("key", 4)}
    assert leaks([base64.b64encode(text)]) == {word("key", 4)}
    assert leaks([b"nothing of it"]) == set()


def test_nothing_that_gives_an_answer_away_reaches_a_reviewer_before_the_own_answer(app, world, signed_in):
    page = signed_in("ruth")
    traffic = Wire(page)
    page.goto("/")
    judging.open_review(page)
    judging.wait_for_question(page, 1)
    press(page, "c2")  # an answer and its confidence, entered but not committed
    page.wait_for_timeout(1_500)  # the draft is sent, the next question is prefetched
    for number in (2, 4, 3):
        page.goto(f"/review?batch=1&question={number}")
        judging.wait_for_picture(page)
    page.goto("/account")
    page.get_by_role("heading", name="My account").wait_for()
    assert len(traffic.seen) > 50
    assert traffic.found() == set()
    assert leaks([log_of(app), names_of_files(app)]) == set()


def test_no_answer_of_a_route_to_a_forged_request_gives_it_away(app, world, page, signed_in):
    signed_in("ruth")
    headers = {"X-Overread": "1", "X-Overread-Person": str(world.people["ruth"].id), "Origin": app.url}
    said = []
    for path in ("verdict", "draft", "own-answer", "skip", "look", "report", "turn"):
        for body in ({}, {"batch": 1, "question": 2}, {"batch": 1, "question": 2, "revision": 1}):
            answer = page.context.request.post(f"/judging/{path}", data=body, headers=headers)
            said += [answer.body(), json.dumps(answer.headers).encode()]
    assert leaks(said) == set()


def test_nor_do_the_bytes_of_the_websocket_of_a_bare_client(app, world, signed_in):
    """The raw frames of every page that the reviewer may open, and of forged clicks."""
    page = signed_in("ruth")
    cookie = next(each["value"] for each in page.context.cookies() if each["name"] == "overread")
    frames = []
    with wire.open_socket(app, cookie) as socket:
        pages = wire.rerun(socket).pages
        for name, page_hash in pages.items():
            for query in ("", "batch=1&question=2", "batch=1&question=4"):
                run = wire.rerun(socket, page_hash=page_hash, query=query)
                frames += run.frames
                if name == "review":
                    forged = [wire.pressed(each) for each in run.widgets if "sign-out" not in each]
                    frames += wire.rerun(socket, page_hash=page_hash, query=query, widgets=forged).frames
    assert len(frames) > 50
    assert leaks(frames) == set()


def test_the_own_answer_opens_that_question_and_no_other(app, world, signed_in):
    page = signed_in("ruth")
    traffic = Wire(page)
    judging.open_review(page, 1)
    judging.wait_for_question(page, 1)
    press(page, "c2")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Explanation")).to_have_value(word("explanation", 1))
    page.wait_for_timeout(1_000)
    assert traffic.found() == {word(kind, 1) for kind in ("explanation", "category", "label")}
    assert leaks([log_of(app), names_of_files(app)]) == set()
