"""The routes that the reading form uses to save, called by a reader's browser and by other people."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from sqlalchemy import func, select
from starlette.applications import Starlette

from domain.people import Role
from domain.protocols import Protocol
from review import service as review
from storage.rows.studies import ReadingDraftRow, ReadingRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.study_worlds import make_design, make_study_world
from tests.storage.worlds import NOW, SECRETS, assign_all
from web.reading.routes import ROUTES

REQUEST_HEADERS = {"X-Overread": "1", "Sec-Fetch-Site": "same-origin"}
TIMES = {"seconds": 9.5, "seconds_looking": 8, "seconds_away": 0}


class Client:
    """An HTTP client for the routes; its headers and cookies go with each request."""

    def __init__(self, cookies, person):
        self.cookies, self.person = dict(cookies), person

    def get(self, path):
        return asyncio.run(self._ask("GET", path, REQUEST_HEADERS))

    def post(self, path, body, headers=None):
        return asyncio.run(
            self._ask("POST", path, REQUEST_HEADERS if headers is None else headers, json=body)
        )

    async def _ask(self, method, path, headers, **options):
        transport = httpx.ASGITransport(app=Starlette(routes=ROUTES))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://overread.example", cookies=self.cookies
        ) as client:
            headers = {"X-Overread-Person": str(self.person.id)} | headers
            return await client.request(method, path, headers=headers, **options)


def make_answer_body(**changes):
    body = {
        "study": 1, "position": 1, "revision": 1, "answer": [1], "cannot_determine": False, "confidence": 4,
        "fault_description": "", "drawings": None, "image_display": "drawn",
    }  # fmt: skip
    return {**body, **TIMES, **changes}


@pytest.fixture
def client(workspace, sign_in_as, browser):
    """A browser in which rea is signed in; she has six cases."""
    make_study_world(workspace)
    return Client(browser.cookies, sign_in_as("rea"))


def count_rows(table):
    with read_only_session() as db:
        return db.execute(select(func.count()).select_from(table)).scalar_one()


def test_saved_answer_returns_its_time_and_the_next_case(client):
    response = client.post("/reading/answer", make_answer_body())
    assert response.status_code == 200
    saved = response.json()
    assert (saved["revision"], saved["next"]["position"]) == (1, 2)
    assert "T" in saved["at"]


def test_an_answer_sent_twice_is_saved_once(client):
    first = client.post("/reading/answer", make_answer_body()).json()
    second = client.post("/reading/answer", make_answer_body(seconds=11.0)).json()
    assert (second["at"], second["next"]["position"]) == (first["at"], 2)
    assert count_rows(ReadingRow) == 1


def test_an_answer_without_a_drawn_radiograph_needs_a_confirmation(client):
    refused = client.post("/reading/answer", make_answer_body(image_display="not drawn"))
    assert (refused.status_code, refused.json()["kind"]) == (422, "Refused")
    assert count_rows(ReadingRow) == 0
    assert (
        client.post("/reading/answer", make_answer_body(image_display="not drawn, confirmed")).status_code
        == 200
    )
    with read_only_session() as db:
        assert db.execute(select(ReadingRow.image)).scalar_one() == "not drawn, confirmed"


def test_no_response_of_any_route_reveals_a_key(client):
    responses = [
        client.post("/reading/case", {"study": 1, "position": None}),
        client.post("/reading/draft", {
            "study": 1, "position": 1, "part": "entry", "revision": 0, "body": {"answer": [0]},
        }),
        client.post("/reading/viewing-times", {"study": 1, "position": 1, **TIMES}),
        client.post("/reading/answer", make_answer_body()),
    ]  # fmt: skip
    assert [response.status_code for response in responses] == [200] * 4
    content = b"".join(response.content for response in responses).decode()
    assert not [word for word in SECRETS.values() if word in content]


def test_training_case_shows_its_key_after_the_answer(workspace, sign_in_as, browser):
    make_study_world(workspace, design=make_design(6, training=1))
    client = Client(browser.cookies, sign_in_as("rea"))
    case_response = client.post("/reading/case", {"study": 1, "position": None})
    sheet_after_answer = client.post("/reading/answer", make_answer_body()).json()["next"]
    assert SECRETS["explanation"] not in case_response.text
    assert sheet_after_answer["feedback"]["explanation"] == SECRETS["explanation"]
    assert sheet_after_answer["position"] == 1


def test_no_case_follows_the_last_one(workspace, sign_in_as, browser):
    make_study_world(workspace, cases=1)
    client = Client(browser.cookies, sign_in_as("rea"))
    assert client.post("/reading/answer", make_answer_body()).json()["next"] is None


def test_draft_is_returned_with_its_case(client):
    body = {
        "answer": [2],
        "cannot_determine": False,
        "confidence": 3,
        "fault_description": "two are right",
        "drawings": None,
    }
    client.post("/reading/draft", {"study": 1, "position": 1, "part": "entry", "revision": 0, "body": body})
    sheet = client.post("/reading/case", {"study": 1, "position": None}).json()["next"]
    assert sheet["draftRevision"] == 1
    assert (sheet["entry"]["answer"], sheet["entry"]["fault_description"]) == ([2], "two are right")


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"answer": [9]}, 422),
        ({"answer": None}, 422),
        ({"confidence": 6}, 422),
        ({"confidence": None}, 422),
        ({"position": 3}, 422),
        ({"position": 99}, 404),
        ({"study": 2}, 404),
        ({"revision": 2}, 409),
        ({"seconds": -1}, 422),
        ({"drawings": {"pa": [{"type": "Box", "label": "", "box": [0, 0, 10, 10]}]}}, 422),
        ({"mood": "good"}, 422),
    ],
)
@pytest.mark.slow
def test_invalid_answer_is_refused_and_changes_nothing(client, changes, status):
    response = client.post("/reading/answer", make_answer_body(**changes))
    assert response.status_code == status
    assert response.json()["error"]
    assert count_rows(ReadingRow) == 0


@pytest.mark.parametrize("name", ["rob", "ruth", "cora", "ada"])
def test_other_people_have_no_access_to_a_readers_case(workspace, sign_in_as, browser, name):
    make_study_world(workspace, readers=["rea"])
    client = Client(browser.cookies, sign_in_as(name))
    for path, body in (
        ("/reading/answer", make_answer_body()),
        ("/reading/case", {"study": 1, "position": None}),
        ("/reading/viewing-times", {"study": 1, "position": 1, **TIMES}),
        ("/reading/draft", {"study": 1, "position": 1, "part": "entry", "revision": 0, "body": {}}),
    ):
        assert client.post(path, body).status_code in (403, 404)
    assert count_rows(ReadingRow) == count_rows(ReadingDraftRow) == 0


def test_signed_out_person_saves_nothing(client):
    client.cookies = {}
    assert client.post("/reading/answer", make_answer_body()).status_code == 401
    assert count_rows(ReadingRow) == 0


@pytest.mark.parametrize("headers", [{}, {"X-Overread": "1", "Sec-Fetch-Site": "cross-site"}])
def test_request_from_another_site_is_refused(client, headers):
    assert client.post("/reading/answer", make_answer_body(), headers=headers).status_code == 403
    assert count_rows(ReadingRow) == 0


def test_page_opened_by_another_person_saves_nothing(client):
    response = client.post(
        "/reading/answer", make_answer_body(), headers=REQUEST_HEADERS | {"X-Overread-Person": "1"}
    )
    assert response.status_code == 401
    assert count_rows(ReadingRow) == 0


def test_no_case_is_returned_before_the_guideline_is_confirmed(workspace, sign_in_as, browser):
    make_study_world(workspace, protocol=Protocol(guideline="Look."))
    client = Client(browser.cookies, sign_in_as("rea", Role.READER))
    assert client.post("/reading/case", {"study": 1, "position": None}).json() == {"next": None}
    assert client.post("/reading/answer", make_answer_body()).status_code == 422


def test_only_the_next_exam_is_announced_for_prefetching(client):
    sheet = client.post("/reading/case", {"study": 1, "position": None}).json()["next"]
    exams = {upcoming_image["pixelsUrl"].split("/")[2] for upcoming_image in sheet["upcoming"]}
    assert len(exams) == 1
    assert json.dumps(sheet).count("/pixels/") == 2 * (2 + 2)  # two radiographs here, two of the next case


@pytest.mark.slow
def test_comments_never_reach_a_reader(workspace, sign_in_as, browser, run_page):
    study_world = make_study_world(workspace)
    ruth, world = study_world.people["ruth"], study_world.world
    with unit_of_work() as db:
        assign_all(db, batch=world.batch, questions=world.questions, person=ruth)
        for number in world.questions:
            review.write_comment(
                db, person=ruth, batch_id=world.batch.id, question_row_id=number, text=f"PLANTED {number}",
                now=NOW,
            )  # fmt: skip
    client = Client(browser.cookies, sign_in_as("rea", Role.READER))
    case_response = client.post("/reading/case", {"study": 1, "position": None})
    assert case_response.status_code == 200
    responses = [case_response]
    for position in range(1, 7):
        responses += [
            client.post("/reading/draft", {
                "study": 1, "position": position, "part": "form", "revision": 0, "body": {},
            }),
            client.post("/reading/viewing-times", {"study": 1, "position": position, **TIMES}),
            client.post("/reading/answer", make_answer_body(position=position)),
        ]  # fmt: skip
    assert sum(response.status_code == 200 for response in responses) >= 7
    page = run_page("pages/read.py")
    sent_text = "".join(response.text for response in responses) + str(page.main) + repr(page.session_state)
    assert "PLANTED" not in sent_text
    for path in ("/review/comment", "/review/comments"):
        assert client.post(path, {"batch": 1, "question": 1, "text": "x"}).status_code in (403, 404)
