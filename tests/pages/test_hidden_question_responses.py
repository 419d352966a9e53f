"""Nothing that reaches a reviewer's browser distinguishes a hidden question from any other."""

import asyncio
import json
import re
from typing import Any

import httpx
import pytest
from sqlalchemy import update
from starlette.applications import Starlette

from domain.batches import BatchSettings, Mode
from domain.hidden import HiddenKind, HiddenPlan, PlantedFault
from review import service as review
from storage.review.hidden import list_hidden_questions
from storage.rows.datasets import QuestionRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import get_text
from tests.storage.worlds import NOW, assign_all, make_batch, make_world
from web.review.routes import ROUTES

pytestmark = pytest.mark.full

HEADERS = {"X-Overread": "1", "Sec-Fetch-Site": "same-origin"}
PLAN = HiddenPlan(
    repeat_share=0.2,
    min_distance=5,
    planted_count=2,
    faults=(PlantedFault.KEY_SWAPPED, PlantedFault.PRIOR_COMPARISON),
    seed=3,
)
TIMES = {"seconds": 9.5, "seconds_looking": 8, "seconds_away": 0}
#: The fields that depend on a question's position in the queue. They differ between the first showing and
#: the repeat.
POSITION_FIELDS = {"question", "progress", "previous", "next", "prefetch", "upcoming", "batches", "recent"}


@pytest.fixture(params=[Mode.JUDGE, Mode.ANSWER_FIRST])
def world(request, workspace):
    """Ruth has thirty of forty questions; a fifth of them are repeated, and two planted ones are added."""
    small_world = make_world(workspace, questions=40)
    with unit_of_work() as db:
        assigned = small_world.questions[:30]
        batch = make_batch(
            db, dataset_id=small_world.dataset_id, name="asked", questions=assigned,
            settings=BatchSettings(mode=request.param),
        )  # fmt: skip
        assign_all(db, batch=batch, questions=assigned, person=small_world.people["ruth"])
        for number in small_world.questions:
            db.execute(update(QuestionRow).where(QuestionRow.id == number).values(key=f"XqId{number}zk"))
        review.hide_questions(
            db, by=small_world.people["cora"], batch="asked", plan=PLAN, mask_secret=0x1234_5678_9ABC, now=NOW
        )
    return small_world, batch


class RecordingBrowser:
    """Ruth's browser, which keeps every response."""

    def __init__(self, cookies, person):
        self.cookies, self.person, self.responses = dict(cookies), person, []

    def post(self, path, body):
        response = asyncio.run(self._send(path, body))
        self.responses.append(response.text)
        return response

    async def _send(self, path, body):
        transport = httpx.ASGITransport(app=Starlette(routes=ROUTES))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://overread.example", cookies=self.cookies
        ) as client:
            headers = HEADERS | {"X-Overread-Person": str(self.person.id)}
            return await client.post(path, headers=headers, json=body)


def make_verdict_body(sheet, **changes):
    opinion = {
        "ratings": dict.fromkeys(
            ("clinical_quality", "explanation_clarity", "factual_correctness", "image_alignment"), 4
        ),
        "domain_specific": True, "cognitive_depth": True, "image_centric": None, "clinically_relevant": None,
        "difficulty": "easy", "errors": [], "correction": {}, "clinical_reasoning": "", "comment": "",
    }  # fmt: skip
    return {
        "batch": sheet["batch"], "question": sheet["question"], "revision": sheet["revision"],
        "decision": "accept", "opinion": opinion, "drawings": None, "image_display": "drawn", **TIMES,
        **changes,
    }  # fmt: skip


def judge_every_question(browser, sheet):
    """Judge all questions in order, as the form does, and return the data of each as it was opened."""
    opened = []
    while sheet is not None:
        question_ids = {"batch": sheet["batch"], "question": sheet["question"]}
        if sheet["blind"]:
            opened.append(sheet)
            own_answer = {**question_ids, "answer": [0], "confidence": 3, "image_display": "drawn"}
            sheet = browser.post("/review/own-answer", own_answer).json()["next"]
        opened.append(sheet)
        browser.post(
            "/review/draft", {**question_ids, "part": "form", "revision": 0, "body": {"comment": "so"}}
        )
        browser.post("/review/viewing-times", {**question_ids, **TIMES})
        response = browser.post("/review/verdict", make_verdict_body(sheet))
        assert response.status_code == 200, response.text
        sheet = response.json()["next"]
    return opened


def test_responses_do_not_distinguish_a_hidden_question_from_other_questions(
    world, sign_in_as, browser, run_page
):
    _, batch = world
    ruth = sign_in_as("ruth")
    client = RecordingBrowser(browser.cookies, ruth)
    page = run_page("pages/review.py")
    (form,) = [element for element in page.main if element.type == "bidi_component"]
    first_sheet = json.loads(form.proto.json or form.proto.mixed.json)
    del first_sheet["preferences"]  # the person's own keys, which do not depend on the question
    opened = judge_every_question(client, first_sheet)
    with read_only_session() as db:
        hidden_questions = list_hidden_questions(db, batch_id=batch.id, person_id=ruth.id)
        id_mask = review.load_id_mask(db, batch_id=batch.id)
    by_row_id: dict[int, list[Any]] = {}
    for sheet in opened:
        by_row_id.setdefault(id_mask.unmask(sheet["question"]), []).append(sheet)
    assert len(by_row_id) == 38 == len({sheet["question"] for sheet in opened})

    # The total is fixed from the first question on, and the position increases by one.
    assert {sheet["progress"]["total"] for sheet in opened} == {38}
    positions = [sheet["progress"]["position"] for sheet in opened if sheet["questionWithKey"]]
    assert positions == list(range(1, 39))

    # All questions have the same fields, and no draft or verdict is carried over. A repeat differs from its
    # first showing only by its position.
    for sheets in by_row_id.values():
        assert all(set(sheet) == set(opened[0]) for sheet in sheets)
        assert all((sheet["last"], sheet["drafts"], sheet["revision"]) == (None, {}, 1) for sheet in sheets)
        assert all(sheet["ownAnswer"] is None for sheet in sheets if sheet["blind"])
        assert all(sheet["viewingTimes"]["seconds"] == 0 for sheet in sheets[:1])
    for hidden_question in hidden_questions:
        if hidden_question.kind is HiddenKind.REPEAT:
            assert _strip_position(by_row_id[hidden_question.question_row_id]) == _strip_position(
                by_row_id[hidden_question.source_question_row_id]
            )

    # Neither order nor size of the numbers shows which questions were created later.
    numbers = {sheet["question"] for sheet in opened}
    created_later = {id_mask.mask(hidden_question.question_row_id) for hidden_question in hidden_questions}
    ranks = sorted(sorted(numbers).index(number) for number in created_later)
    assert ranks[0] < 30
    assert numbers.isdisjoint(range(1, 60))

    # No response contains a question id, a word such as "hidden", or the row id of a hidden question.
    all_text = "\n".join([*client.responses, json.dumps(opened[0]), get_text(page)])
    assert not re.search(r"hidden|planted|repeat|XqId\d+zk", all_text.replace("hidden for", ""))
    for hidden_question in hidden_questions:
        assert not re.search(
            rf'"(question|previous|next|id)": ?"?{hidden_question.question_row_id}\b', all_text
        )


def test_errors_refer_to_this_question_instead_of_a_number(world, sign_in_as, browser):
    _, batch = world
    client = RecordingBrowser(browser.cookies, sign_in_as("ruth"))
    for number in (1, 41, 2**40, 2**62):
        response = client.post("/review/question", {"batch": batch.id, "question": 5, "target": number})
        assert response.json()["next"] is None
        refusal = client.post("/review/viewing-times", {"batch": batch.id, "question": number, **TIMES})
        assert refusal.status_code in (403, 404, 409), refusal.text
        assert "This question of batch" in refusal.text


def _strip_position(sheets):
    """Return the data before and after the own answer, without fields that depend on position or id."""
    return [
        {
            name: value
            for name, value in sheet.items()
            if name not in POSITION_FIELDS | {"questionWithKey", "ownAnswer"}
        }
        | {"questionWithKey": sheet["questionWithKey"] and {**sheet["questionWithKey"], "id": ""}}
        for sheet in sheets
    ]
