"""The routes that the review form uses to save, called as a browser and as a stranger."""

import asyncio
import json

import httpx
import pytest
from sqlalchemy import func, select, update
from starlette.applications import Starlette

from accounts.service import command_line_person
from accounts.service.audit_trail import verify_audit
from domain.batches import BatchSettings, Mode
from domain.people import Role
from storage.rows import AuditRow, DraftRow, OwnAnswerRow, RadiographRow, ReportOpeningRow, VerdictRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.worlds import SECRETS, make_world
from web.review.routes import ROUTES

OURS = {"X-Overread": "1", "Sec-Fetch-Site": "same-origin"}
PAGE_OF = "X-Overread-Person"
BASE = {"batch": 1, "question": 1}
TIMES = {"seconds": 9.5, "seconds_looking": 8, "seconds_away": 0}


class Client:
    """An HTTP client for the routes; its headers and cookies go with each request."""

    def __init__(self, cookies, person):
        self.cookies = dict(cookies)
        self.page_of = person

    def get(self, path):
        return asyncio.run(self._ask("GET", path, OURS))

    def post(self, path, json, headers=None):
        return asyncio.run(self._ask("POST", path, headers or OURS, json=json))

    async def _ask(self, method, path, headers, **more):
        transport = httpx.ASGITransport(app=Starlette(routes=ROUTES))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://overread.example", cookies=self.cookies
        ) as client:
            headers = headers | {PAGE_OF: str(self.page_of.id)}
            return await client.request(method, path, headers=headers, **more)


@pytest.fixture
def client(workspace, sign_in_as, browser):
    """A browser in which ruth is signed in; she has two questions."""
    make_world(workspace, questions=2, assigned_to=["ruth"])
    ruth = sign_in_as("ruth")
    return Client(browser.cookies, ruth)


def verdict(**changes):
    opinion = {
        "ratings": {
            "clinical_quality": 4, "explanation_clarity": 4, "factual_correctness": 4, "image_alignment": 4,
        },
        "domain_specific": True, "cognitive_depth": True, "image_centric": None, "clinically_relevant": None,
        "difficulty": "easy", "errors": [], "correction": {}, "clinical_reasoning": "", "comment": "",
    }  # fmt: skip
    body = {**BASE, **TIMES, "revision": 1, "decision": "accept", "opinion": opinion, "drawings": None}
    body["image"] = "drawn"
    for name, value in changes.items():
        (opinion if name in opinion else body)[name] = value
    return body


def count(table):
    with read_only_session() as db:
        return db.execute(select(func.count()).select_from(table)).scalar_one()


def test_a_verdict_is_answered_with_the_row_that_was_read_back(client):
    answer = client.post("/judging/verdict", json=verdict())
    assert answer.status_code == 200
    saved = answer.json()
    assert (saved["revision"], saved["decision"]) == (1, "accept")
    assert "T" in saved["at"]


def test_the_answer_to_a_verdict_brings_the_question_that_comes_next(client):
    sheet = client.post("/judging/verdict", json=verdict()).json()["sheet"]
    assert (sheet["question"], sheet["revision"], sheet["full"]["id"]) == (2, 1, "Q2")
    assert sheet["place"] == {"done": 1, "skipped": 0, "left": 1, "total": 2, "position": 2}


def test_after_the_last_question_there_is_none(client):
    client.post("/judging/verdict", json=verdict())
    assert client.post("/judging/verdict", json=verdict(question=2)).json()["sheet"] is None


def test_a_question_that_is_skipped_brings_the_next_one(client):
    answer = client.post("/judging/skip", json={**BASE, "reason": "not readable"})
    assert answer.json()["sheet"]["question"] == 2


def test_another_question_is_had_by_its_number(client):
    sheet = client.post("/judging/turn", json={**BASE, "to": 2}).json()["sheet"]
    assert sheet["question"] == 2


def test_the_question_judged_last_is_had_again_with_its_verdict(client):
    client.post("/judging/verdict", json=verdict())
    sheet = client.post("/judging/turn", json={**BASE, "question": 2, "to": "last"}).json()["sheet"]
    assert (sheet["question"], sheet["last"]["decision"], sheet["revision"]) == (1, "accept", 2)


def test_nobody_turns_to_a_question_that_is_not_theirs(workspace, sign_in_as, browser):
    make_world(workspace, questions=2, assigned_to=["ruth"])
    other = Client(browser.cookies, sign_in_as("otto", Role.REVIEWER))
    answer = other.post("/judging/turn", json={**BASE, "to": 2})
    assert answer.json() == {"sheet": None}


def test_a_question_that_comes_next_is_as_blind_as_on_the_page(workspace, sign_in_as, browser):
    make_world(workspace, questions=2, assigned_to=["ruth"], settings=BatchSettings(mode=Mode.ANSWER_FIRST))
    blind = Client(browser.cookies, sign_in_as("ruth"))
    own = blind.post("/judging/own-answer", json={**BASE, "answer": [0], "confidence": 3, "image": "drawn"})
    assert own.json()["sheet"]["full"]["answer"] == [1]  # of the same question, after the answer is saved
    after = blind.post("/judging/verdict", json=verdict())
    assert (after.json()["sheet"]["question"], after.json()["sheet"]["blind"]) == (2, True)
    assert not [word for word in SECRETS.values() if word in after.text]


def test_the_same_verdict_twice_is_one_row_and_one_answer(client):
    answers = [client.post("/judging/verdict", json=verdict(seconds=9 + again)).json() for again in (1, 2)]
    assert answers[0] == answers[1]
    assert count(VerdictRow) == 1


def test_another_verdict_of_the_same_revision_is_refused_with_both_named(client):
    client.post("/judging/verdict", json=verdict())
    answer = client.post("/judging/verdict", json=verdict(comment="in another tab"))
    assert (answer.status_code, answer.json()["kind"]) == (409, "StaleRevision")
    assert count(VerdictRow) == 1


def test_what_is_missing_is_named(client):
    answer = client.post("/judging/verdict", json=verdict(difficulty=None))
    assert answer.status_code == 422
    assert "your own difficulty" in answer.json()["error"]


def without_image_field():
    """The request of a page loaded before the form reported whether the radiographs were on screen."""
    return {name: value for name, value in verdict().items() if name != "image"}


@pytest.mark.parametrize(
    "body", [verdict(image="not drawn"), verdict(image="no image"), without_image_field()]
)
def test_a_verdict_on_a_radiograph_that_was_not_drawn_is_refused(client, body):
    answer = client.post("/judging/verdict", json=body)
    assert (answer.status_code, answer.json()["kind"]) == (422, "Refused")
    assert "The radiograph was not displayed." in answer.json()["error"]
    assert count(VerdictRow) == 0


@pytest.mark.parametrize("image", ["drawn", "not drawn, confirmed"])
def test_what_was_on_screen_is_stored_with_the_verdict_and_in_the_trail(client, image):
    assert client.post("/judging/verdict", json=verdict(image=image)).status_code == 200
    with read_only_session() as db:
        assert db.execute(select(VerdictRow.image)).scalar_one() == image
        assert last_trail_entry(db)["image"] == image
        assert verify_audit(db, by=command_line_person()).fault is None


def last_trail_entry(db):
    return json.loads(db.execute(select(AuditRow.new).order_by(AuditRow.number.desc())).scalars().first())


@pytest.mark.parametrize("image", ["not drawn", "not drawn, confirmed"])
def test_of_an_exam_without_pixels_it_is_stored_that_there_was_no_image(client, image):
    with unit_of_work() as db:
        db.execute(update(RadiographRow).values(image_sha256=None))
    assert client.post("/judging/verdict", json=verdict(image=image)).status_code == 200
    with read_only_session() as db:
        assert db.execute(select(VerdictRow.image)).scalar_one() == "no image"


def test_a_verdict_sent_again_when_the_radiograph_is_there_stays_as_it_was_confirmed(client):
    client.post("/judging/verdict", json=verdict(image="not drawn, confirmed"))
    assert client.post("/judging/verdict", json=verdict(image="drawn")).status_code == 200
    with read_only_session() as db:
        assert db.execute(select(VerdictRow.image)).scalars().all() == ["not drawn, confirmed"]


def test_an_own_answer_without_the_radiograph_needs_the_confirmation(workspace, sign_in_as, browser):
    make_world(workspace, questions=2, assigned_to=["ruth"], settings=BatchSettings(mode=Mode.ANSWER_FIRST))
    client = Client(browser.cookies, sign_in_as("ruth"))
    own = {**BASE, "answer": [0], "confidence": 3}
    assert client.post("/judging/own-answer", json=own).status_code == 422
    assert (
        client.post("/judging/own-answer", json={**own, "image": "not drawn, confirmed"}).status_code == 200
    )
    with read_only_session() as db:
        assert db.execute(select(OwnAnswerRow.image)).scalar_one() == "not drawn, confirmed"
        assert verify_audit(db, by=command_line_person()).fault is None


def test_a_report_is_opened_without_the_radiograph_with_the_confirmation_alone(
    workspace, sign_in_as, browser
):
    make_world(workspace, questions=2, assigned_to=["ruth"], settings=BatchSettings(show_report=True))
    client = Client(browser.cookies, sign_in_as("ruth"))
    opening = {**BASE, "image_alignment": 4}
    assert client.post("/judging/report", json=opening).status_code == 422
    assert (
        client.post("/judging/report", json={**opening, "image": "not drawn, confirmed"}).status_code == 200
    )
    with read_only_session() as db:
        assert db.execute(select(ReportOpeningRow.image)).scalar_one() == "not drawn, confirmed"
        assert verify_audit(db, by=command_line_person()).fault is None


def test_boxes_are_kept_in_pixels_of_the_matrix(client):
    shape = {"type": "LabeledRect", "label": "nodule", "left": 160, "top": 320, "width": 80, "height": 40}
    body = {"drawings": {"pa": [shape]}}  # the image surface is 1600 high for 3000 rows
    draft = {**BASE, "part": "boxes", "revision": 0, "body": body}
    assert client.post("/judging/draft", json=draft).json()["revision"] == 1
    with read_only_session() as db:
        [row] = db.execute(select(DraftRow)).scalars()
    [kept] = json.loads(row.body)
    assert kept["label"] == "nodule"
    assert kept["box"] == pytest.approx([300, 600, 450, 675], abs=0.2)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("verdict", verdict(unknown=1)),
        ("verdict", verdict(revision=0)),
        ("verdict", verdict(errors=["made up"])),
        ("verdict", verdict(comment="x" * 20_001)),
        ("verdict", verdict(drawings={"no such radiograph": []})),
        ("verdict", verdict(drawings={"pa": [{"type": "LabeledRect", "left": 1}]})),
        ("draft", {**BASE, "part": "verdict", "revision": 0, "body": {}}),
        ("look", {**BASE, "seconds": -1, "seconds_looking": 0, "seconds_away": 0}),
        ("skip", {**BASE, "reason": "  "}),
        ("own-answer", {**BASE, "answer": [0], "confidence": 6}),
    ],
)
def test_a_request_that_cannot_be_is_refused_with_its_reason(client, path, body):
    answer = client.post(f"/judging/{path}", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"]
    assert count(VerdictRow) == count(DraftRow) == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Overread": "0", "Sec-Fetch-Site": "same-origin"},
        {"X-Overread": "1", "Sec-Fetch-Site": "cross-site"},
        {"X-Overread": "1", "Sec-Fetch-Site": "same-origin", "Origin": "https://elsewhere.example"},
    ],
)
def test_a_page_of_somebody_else_cannot_save(client, headers):
    assert client.post("/judging/verdict", json=verdict(), headers=headers).status_code == 403
    assert count(VerdictRow) == 0


def test_without_a_sign_in_nothing_is_saved(client):
    client.cookies.clear()
    answer = client.post("/judging/verdict", json=verdict())
    assert (answer.status_code, answer.json()["kind"]) == (401, "NotSignedIn")
    assert count(VerdictRow) == 0


def test_a_page_saves_nothing_for_whoever_signed_in_after_it_was_opened(workspace, sign_in_as, browser):
    world = make_world(workspace, questions=2, assigned_to=["remo"])
    sign_in_as("remo")
    answer = Client(browser.cookies, world.people["ruth"]).post("/judging/verdict", json=verdict())
    assert (answer.status_code, answer.json()["kind"]) == (401, "NotSignedIn")
    assert "Remo has since signed in" in answer.json()["error"]
    assert count(VerdictRow) == 0


def test_a_question_of_somebody_else_is_not_found(workspace, sign_in_as, browser):
    make_world(workspace, questions=2, assigned_to=["ruth"])
    otto = sign_in_as("otto", Role.REVIEWER)
    other = Client(browser.cookies, otto)
    assert other.post("/judging/verdict", json=verdict()).status_code == 404
    assert count(VerdictRow) == 0
