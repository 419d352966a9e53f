"""The routes that the review form uses, called with and without a valid sign-in and origin.

``/review/question`` returns the requested question, and ``/review/viewing-times`` stores viewing times. In a
response, ``next`` contains the data of the question that the form shows then.
"""

import asyncio
import json
import sqlite3

import httpx
import pytest
from sqlalchemy import func, select, update
from starlette.applications import Starlette

from accounts.service import command_line_person
from accounts.service.audit_trail import verify_audit
from domain.batches import BatchSettings, Mode
from domain.people import Role
from review import service as review
from storage.rows.audit import AuditRow
from storage.rows.datasets import RadiographRow
from storage.rows.verdicts import DraftRow, OwnAnswerRow, ReportOpeningRow, VerdictRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import get_text
from tests.storage.worlds import NOW, SECRETS, make_world
from web.review.routes import ROUTES

REQUEST_HEADERS = {"X-Overread": "1", "Sec-Fetch-Site": "same-origin"}
PERSON_HEADER = "X-Overread-Person"
BASE = {"batch": 1, "question": 1}
TIMES = {"seconds": 9.5, "seconds_looking": 8, "seconds_away": 0}


class Client:
    """An HTTP client for the routes; its headers and cookies go with each request."""

    def __init__(self, cookies, person):
        self.cookies = dict(cookies)
        self.page_owner = person

    def get(self, path):
        return asyncio.run(self._ask("GET", path, REQUEST_HEADERS))

    def post(self, path, json, headers=None):
        return asyncio.run(self._ask("POST", path, headers or REQUEST_HEADERS, json=json))

    async def _ask(self, method, path, headers, **options):
        transport = httpx.ASGITransport(app=Starlette(routes=ROUTES))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://overread.example", cookies=self.cookies
        ) as client:
            headers = headers | {PERSON_HEADER: str(self.page_owner.id)}
            return await client.request(method, path, headers=headers, **options)


@pytest.fixture
def client(workspace, sign_in_as, browser):
    """A browser in which ruth is signed in; she has two questions."""
    make_world(workspace, questions=2, assigned_to=["ruth"])
    ruth = sign_in_as("ruth")
    return Client(browser.cookies, ruth)


def make_verdict(**changes):
    opinion = {
        "ratings": {
            "clinical_quality": 4, "explanation_clarity": 4, "factual_correctness": 4, "image_alignment": 4,
        },
        "domain_specific": True, "cognitive_depth": True, "image_centric": None, "clinically_relevant": None,
        "difficulty": "easy", "errors": [], "correction": {}, "clinical_reasoning": "", "comment": "",
    }  # fmt: skip
    body = {**BASE, **TIMES, "revision": 1, "decision": "accept", "opinion": opinion, "drawings": None}
    body["image_display"] = "drawn"
    for name, value in changes.items():
        (opinion if name in opinion else body)[name] = value
    return body


def count_rows(table):
    with read_only_session() as db:
        return db.execute(select(func.count()).select_from(table)).scalar_one()


def test_saved_verdict_returns_the_stored_row(client):
    response = client.post("/review/verdict", json=make_verdict())
    assert response.status_code == 200
    saved = response.json()
    assert (saved["revision"], saved["decision"]) == (1, "accept")
    assert "T" in saved["at"]


def test_response_to_a_verdict_contains_the_next_question(client):
    sheet = client.post("/review/verdict", json=make_verdict()).json()["next"]
    assert (sheet["question"], sheet["revision"], sheet["questionWithKey"]["id"]) == (2, 1, "Q2")
    assert sheet["progress"] == {"done": 1, "skipped": 0, "left": 1, "total": 2, "position": 2}


def test_no_question_follows_the_last_one(client):
    client.post("/review/verdict", json=make_verdict())
    assert client.post("/review/verdict", json=make_verdict(question=2)).json()["next"] is None


def test_skipping_a_question_returns_the_next_one(client):
    response = client.post("/review/skip", json={**BASE, "reason": "not readable"})
    assert response.json()["next"]["question"] == 2


def test_question_is_requested_by_its_number(client):
    sheet = client.post("/review/question", json={**BASE, "target": 2}).json()["next"]
    assert sheet["question"] == 2


def test_last_judged_question_is_returned_with_its_verdict(client):
    client.post("/review/verdict", json=make_verdict())
    sheet = client.post("/review/question", json={**BASE, "question": 2, "target": "last"}).json()["next"]
    assert (sheet["question"], sheet["last"]["decision"], sheet["revision"]) == (1, "accept", 2)


def test_unassigned_question_is_not_returned(workspace, sign_in_as, browser):
    make_world(workspace, questions=2, assigned_to=["ruth"])
    otto_client = Client(browser.cookies, sign_in_as("otto", Role.REVIEWER))
    response = otto_client.post("/review/question", json={**BASE, "target": 2})
    assert response.json() == {"next": None}


def test_next_question_hides_the_key_until_it_is_answered(workspace, sign_in_as, browser):
    make_world(workspace, questions=2, assigned_to=["ruth"], settings=BatchSettings(mode=Mode.ANSWER_FIRST))
    client = Client(browser.cookies, sign_in_as("ruth"))
    own_response = client.post(
        "/review/own-answer", json={**BASE, "answer": [0], "confidence": 3, "image_display": "drawn"}
    )
    assert own_response.json()["next"]["questionWithKey"]["answer"] == [
        1
    ]  # of the same question, after the answer is saved
    next_response = client.post("/review/verdict", json=make_verdict())
    assert (next_response.json()["next"]["question"], next_response.json()["next"]["blind"]) == (2, True)
    assert not [word for word in SECRETS.values() if word in next_response.text]


CANARY = "SECRET-opinion"
#: By table: the columns that contain model output, or that show which model wrote a question.
OPINIONS: dict[str, dict[str, str | int]] = {
    "problem": {"check_name": "wording", "field": "stem", "dataset_id": 1, "reason": CANARY},
    "question_provenance": {"content": CANARY},
    "jury_vote": {"judge_id": 1, "answers": CANARY, "failure": CANARY},
    "prediction": {
        "model_id": 1,
        "run_id": 1,
        "raw": CANARY,
        "rule": CANARY,
        "explanation": CANARY,
        "boxes": "",
    },
}
GENERATOR_COLUMNS = ("generator", "generator_version", "prompt_version")


def plant_machine_opinions(engine):
    """Insert the canary into all machine opinions on both questions: checks, jury, models and origin."""
    with sqlite3.connect(
        engine.url.database
    ) as database:  # without foreign keys: no run and no jury is needed
        for number in (1, 2):
            for table, columns in OPINIONS.items():
                values = {"question_id": number, **columns}
                names = ", ".join(values)
                placeholders = ", ".join(f":{name}" for name in values)
                database.execute(f"INSERT INTO {table} ({names}) VALUES ({placeholders})", values)
        for name in GENERATOR_COLUMNS:
            database.execute(f"UPDATE question SET {name} = ?", (CANARY,))


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.slow
def test_no_opinion_of_a_machine_is_sent_before_the_verdict(workspace, sign_in_as, browser, run_page, mode):
    make_world(workspace, questions=2, assigned_to=["ruth"], settings=BatchSettings(mode=mode))
    plant_machine_opinions(workspace)
    client = Client(browser.cookies, sign_in_as("ruth"))
    page = run_page("pages/review.py")
    [form] = [element for element in page.main if element.type == "bidi_component"]
    received_texts = [form.proto.json or form.proto.mixed.json, get_text(page)]
    if mode is Mode.ANSWER_FIRST:
        own_answer = {**BASE, "answer": [0], "confidence": 3, "image_display": "drawn"}
        received_texts.append(client.post("/review/own-answer", json=own_answer).text)
    for path, body in (
        ("/review/question", {"target": 2}),
        ("/review/question", {"target": 1}),
        ("/review/draft", {"part": "form", "revision": 0, "body": {}}),
        ("/review/viewing-times", TIMES),
        ("/review/comments", {}),
        ("/review/comment", {"text": "A question."}),
        ("/review/skip", {"reason": "later"}),
        ("/review/question", {"target": 1}),
    ):
        response = client.post(path, json={**BASE, **body})
        assert response.status_code == 200, response.text
        received_texts.append(response.text)
    sheet = response.json()["next"]
    assert sheet["questionWithKey"] is not None
    assert sheet["questionWithKey"]["difficulty"] is None
    assert not [text for text in received_texts if CANARY in text or '"difficulty":"easy"' in text]

    verdict_response = client.post("/review/verdict", json=make_verdict()).text  # with the next question
    assert CANARY not in verdict_response
    judged_response = client.post("/review/question", json={**BASE, "question": 2, "target": "last"})
    assert judged_response.json()["next"]["questionWithKey"]["difficulty"] == "easy"
    assert CANARY not in judged_response.text


def test_verdict_without_a_difficulty_is_complete_with_one_key_accept(workspace, sign_in_as, browser):
    make_world(workspace, questions=2, assigned_to=["ruth"], settings=BatchSettings(one_key_accept=True))
    client = Client(browser.cookies, sign_in_as("ruth"))
    assert client.post("/review/verdict", json=make_verdict(difficulty=None)).status_code == 200


def test_verdict_sent_twice_is_stored_once(client):
    responses = [
        client.post("/review/verdict", json=make_verdict(seconds=9 + extra_seconds)).json()
        for extra_seconds in (1, 2)
    ]
    assert responses[0] == responses[1]
    assert count_rows(VerdictRow) == 1


def test_second_verdict_of_the_same_revision_is_refused(client):
    client.post("/review/verdict", json=make_verdict())
    response = client.post("/review/verdict", json=make_verdict(comment="in another tab"))
    assert (response.status_code, response.json()["kind"]) == (409, "StaleRevision")
    assert count_rows(VerdictRow) == 1


def test_the_message_names_the_missing_field(client):
    response = client.post("/review/verdict", json=make_verdict(difficulty=None))
    assert response.status_code == 422
    assert "your own difficulty" in response.json()["error"]


def make_verdict_without_image_field():
    """A request of an older version of the form, which did not send ``image_display``."""
    return {name: value for name, value in make_verdict().items() if name != "image_display"}


@pytest.mark.parametrize(
    "body",
    [
        make_verdict(image_display="not drawn"),
        make_verdict(image_display="no image"),
        make_verdict_without_image_field(),
    ],
)
def test_a_verdict_on_a_radiograph_that_was_not_drawn_is_refused(client, body):
    response = client.post("/review/verdict", json=body)
    assert (response.status_code, response.json()["kind"]) == (422, "Refused")
    assert "The radiograph was not displayed." in response.json()["error"]
    assert count_rows(VerdictRow) == 0


@pytest.mark.parametrize("image", ["drawn", "not drawn, confirmed"])
def test_image_display_is_stored_with_the_verdict_and_in_the_trail(client, image):
    assert client.post("/review/verdict", json=make_verdict(image_display=image)).status_code == 200
    with read_only_session() as db:
        assert db.execute(select(VerdictRow.image)).scalar_one() == image
        assert load_last_audit_entry(db)["image"] == image
        assert verify_audit(db, by=command_line_person()).fault is None


def load_last_audit_entry(db):
    return json.loads(db.execute(select(AuditRow.new).order_by(AuditRow.number.desc())).scalars().first())


@pytest.mark.parametrize("image", ["not drawn", "not drawn, confirmed"])
def test_verdict_on_an_exam_without_pixels_is_stored_as_no_image(client, image):
    with unit_of_work() as db:
        db.execute(update(RadiographRow).values(image_sha256=None))
    assert client.post("/review/verdict", json=make_verdict(image_display=image)).status_code == 200
    with read_only_session() as db:
        assert db.execute(select(VerdictRow.image)).scalar_one() == "no image"


def test_repeated_verdict_keeps_its_first_image_display(client):
    client.post("/review/verdict", json=make_verdict(image_display="not drawn, confirmed"))
    assert client.post("/review/verdict", json=make_verdict(image_display="drawn")).status_code == 200
    with read_only_session() as db:
        assert db.execute(select(VerdictRow.image)).scalars().all() == ["not drawn, confirmed"]


def test_an_own_answer_without_a_drawn_radiograph_needs_a_confirmation(workspace, sign_in_as, browser):
    make_world(workspace, questions=2, assigned_to=["ruth"], settings=BatchSettings(mode=Mode.ANSWER_FIRST))
    client = Client(browser.cookies, sign_in_as("ruth"))
    own_answer = {**BASE, "answer": [0], "confidence": 3}
    assert client.post("/review/own-answer", json=own_answer).status_code == 422
    assert (
        client.post(
            "/review/own-answer", json={**own_answer, "image_display": "not drawn, confirmed"}
        ).status_code
        == 200
    )
    with read_only_session() as db:
        assert db.execute(select(OwnAnswerRow.image)).scalar_one() == "not drawn, confirmed"
        assert verify_audit(db, by=command_line_person()).fault is None


def test_opening_the_report_without_a_drawn_radiograph_needs_a_confirmation(workspace, sign_in_as, browser):
    make_world(workspace, questions=2, assigned_to=["ruth"], settings=BatchSettings(show_report=True))
    client = Client(browser.cookies, sign_in_as("ruth"))
    opening = {**BASE, "image_alignment": 4}
    assert client.post("/review/report", json=opening).status_code == 422
    assert (
        client.post("/review/report", json={**opening, "image_display": "not drawn, confirmed"}).status_code
        == 200
    )
    with read_only_session() as db:
        assert db.execute(select(ReportOpeningRow.image)).scalar_one() == "not drawn, confirmed"
        assert verify_audit(db, by=command_line_person()).fault is None


def test_a_draft_is_stored_and_returned_with_the_reason_for_a_change(client):
    draft = {**BASE, "part": "form", "revision": 0, "body": {"comment": "so", "change_reason": "a slip"}}
    client.post("/review/draft", json=draft)
    with read_only_session() as db:
        [row] = db.execute(select(DraftRow)).scalars()
    assert json.loads(row.body) == {"comment": "so", "why": "a slip"}
    drafts = client.post("/review/question", json={**BASE, "target": 1}).json()["next"]["drafts"]
    assert drafts["form"]["body"] == {"comment": "so", "change_reason": "a slip"}


def test_boxes_are_stored_in_pixels_of_the_matrix(client):
    shape = {"type": "LabeledRect", "label": "nodule", "left": 160, "top": 320, "width": 80, "height": 40}
    body = {"drawings": {"pa": [shape]}}  # the image surface is 1600 high for 3000 rows
    draft = {**BASE, "part": "boxes", "revision": 0, "body": body}
    assert client.post("/review/draft", json=draft).json()["revision"] == 1
    with read_only_session() as db:
        [row] = db.execute(select(DraftRow)).scalars()
    [box] = json.loads(row.body)
    assert box["label"] == "nodule"
    assert box["box"] == pytest.approx([300, 600, 450, 675], abs=0.2)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("verdict", make_verdict(unknown=1)),
        ("verdict", make_verdict(revision=0)),
        ("verdict", make_verdict(errors=["made up"])),
        ("verdict", make_verdict(comment="x" * 20_001)),
        ("verdict", make_verdict(drawings={"no such radiograph": []})),
        ("verdict", make_verdict(drawings={"pa": [{"type": "LabeledRect", "left": 1}]})),
        ("draft", {**BASE, "part": "verdict", "revision": 0, "body": {}}),
        ("viewing-times", {**BASE, "seconds": -1, "seconds_looking": 0, "seconds_away": 0}),
        ("skip", {**BASE, "reason": "  "}),
        ("own-answer", {**BASE, "answer": [0], "confidence": 6}),
    ],
)
def test_invalid_request_is_refused_with_its_reason(client, path, body):
    response = client.post(f"/review/{path}", json=body)
    assert response.status_code == 422
    assert response.json()["error"]
    assert count_rows(VerdictRow) == count_rows(DraftRow) == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Overread": "0", "Sec-Fetch-Site": "same-origin"},
        {"X-Overread": "1", "Sec-Fetch-Site": "cross-site"},
        {"X-Overread": "1", "Sec-Fetch-Site": "same-origin", "Origin": "https://elsewhere.example"},
    ],
)
def test_request_from_another_site_cannot_save(client, headers):
    assert client.post("/review/verdict", json=make_verdict(), headers=headers).status_code == 403
    assert count_rows(VerdictRow) == 0


def test_without_a_sign_in_nothing_is_saved(client):
    client.cookies.clear()
    response = client.post("/review/verdict", json=make_verdict())
    assert (response.status_code, response.json()["kind"]) == (401, "NotSignedIn")
    assert count_rows(VerdictRow) == 0


def test_page_saves_nothing_after_another_person_signed_in(workspace, sign_in_as, browser):
    world = make_world(workspace, questions=2, assigned_to=["remo"])
    sign_in_as("remo")
    response = Client(browser.cookies, world.people["ruth"]).post("/review/verdict", json=make_verdict())
    assert (response.status_code, response.json()["kind"]) == (401, "NotSignedIn")
    assert "Remo has since signed in" in response.json()["error"]
    assert count_rows(VerdictRow) == 0


def test_question_of_another_reviewer_is_not_found(workspace, sign_in_as, browser):
    make_world(workspace, questions=2, assigned_to=["ruth"])
    otto = sign_in_as("otto", Role.REVIEWER)
    otto_client = Client(browser.cookies, otto)
    assert otto_client.post("/review/verdict", json=make_verdict()).status_code == 404
    assert count_rows(VerdictRow) == 0


def test_comments_are_sent_loaded_and_read(client):
    sent = client.post("/review/comment", json={**BASE, "text": "Which side?"})
    assert sent.status_code == 200
    assert [(row["mine"], row["text"]) for row in sent.json()["comments"]] == [(True, "Which side?")]
    with unit_of_work() as db:
        review.write_to_reviewer(
            db, by=command_line_person(), batch="first", question_row_id=1, reviewer="ruth",
            text="The right one.", now=NOW,
        )  # fmt: skip
    request_body = {"batch": 1, "question": 2, "target": 1}
    assert client.post("/review/question", json=request_body).json()["next"]["comments"] == {
        "total": 2,
        "unread": 1,
    }
    thread = client.post("/review/comments", json=BASE).json()["comments"]
    assert [(row["author"], row["text"]) for row in thread] == [
        ("You", "Which side?"),
        ("Command line", "The right one."),
    ]
    assert client.post("/review/question", json=request_body).json()["next"]["comments"] == {
        "total": 2,
        "unread": 0,
    }


@pytest.mark.parametrize("route", ["comment", "comments"])
def test_comments_on_a_question_of_somebody_else_are_not_found(client, workspace, route):
    body = {"batch": 1, "question": 77} | ({"text": "x"} if route == "comment" else {})
    assert client.post(f"/review/{route}", json=body).status_code == 404


def test_an_empty_comment_is_refused(client):
    response = client.post("/review/comment", json={**BASE, "text": "  "})
    assert (response.status_code, response.json()["kind"]) == (422, "InvalidValue")
