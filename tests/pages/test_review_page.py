"""The review page: its states, and the data that the form gets. The form itself is tested in a browser."""

import json

import pytest
from google.protobuf.json_format import MessageToDict
from sqlalchemy import text
from sqlmodel import Session

from domain.batches import BatchSettings, FormScope, Mode
from domain.people import Role
from review.service import open_report, save_own_answer, save_verdict, skip_question
from storage.unit_of_work import unit_of_work
from tests.pages.conftest import texts
from tests.storage.judgements import accept
from tests.storage.worlds import NOW, SECRETS, assign_all, close, make_batch, make_world

PAGE = "pages/review.py"


@pytest.fixture
def judge(workspace, sign_in_as, run_page):
    """``judge(settings=…)``: a world with six questions assigned to ruth, and the page as she sees it."""

    def see(do=None, **settings):
        world = make_world(workspace, questions=6, assigned_to=["ruth"], settings=BatchSettings(**settings))
        sign_in_as("ruth")
        if do is not None:
            with unit_of_work() as db:
                do(db, world)
        return run_page(PAGE)

    return see


def form(page):
    """The data that the form gets; None where the page shows no form."""
    for element in page.main:
        if element.type == "bidi_component":
            return json.loads(element.proto.json or element.proto.mixed.json)
    return None


def on_the_wire(page):
    """Everything that the page sends to the browser, as text."""
    protos = [element.proto for element in page.main if getattr(element, "proto", None) is not None]
    assert protos
    return "\n".join(str(MessageToDict(proto)) for proto in protos)


@pytest.mark.parametrize("number", ["9" * 30, "-1", "x"])
def test_a_number_that_no_question_can_have_leads_to_the_next_open_one(judge, number):
    page = judge()
    page.query_params["question"] = number
    page.run()
    assert not page.exception
    assert form(page)["question"] == 1


def test_without_an_assignment_the_page_says_what_comes(workspace, sign_in_as, run_page):
    sign_in_as("anna", Role.REVIEWER)
    page = run_page(PAGE)
    assert not page.exception
    assert "No questions are assigned to you yet" in texts(page)


def test_a_reader_finds_no_such_page(workspace, sign_in_as, run_page):
    sign_in_as("rita", Role.READER)
    page = run_page(PAGE)
    assert "Page not found." in texts(page)
    assert form(page) is None


def test_the_first_open_question_is_shown_with_its_key(judge):
    page = judge()
    data = form(page)
    assert not page.exception
    assert (data["question"], data["blind"], data["revision"]) == (1, False, 1)
    assert data["full"]["answer"] == [1]
    assert data["place"] == {"done": 0, "skipped": 0, "left": 6, "total": 6, "position": 1}
    assert data["patient"] == {"age": "61 years", "sex": "female", "indication": "Cough for two weeks."}


def test_boxes_are_drawn_on_the_radiograph_that_they_are_of(judge):
    pa, lateral = form(judge())["radiographs"]
    assert [box["label"] for box in pa["machine"]] == [SECRETS["label"]]
    assert lateral["machine"] == []
    assert pa["url"] == "/radiographs/1/pa?longest=1600"


def test_while_blind_nothing_that_gives_the_answer_away_is_sent(judge):
    page = judge(mode=Mode.ANSWER_FIRST, show_report=True)
    data = form(page)
    assert data["blind"]
    assert data["full"] is None
    assert data["stem"] == "Which finding is on radiograph 1?"
    assert all(radiograph["canvas"]["disabled"] for radiograph in data["radiographs"])
    assert not [word for word in SECRETS.values() if word in on_the_wire(page)]


def test_after_the_own_answer_both_answers_are_there(judge):
    def commit(db, world):
        save_own_answer(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_number=1,
            answer=(0,),
            confidence=2,
            now=NOW,
        )

    data = form(judge(commit, mode=Mode.ANSWER_FIRST))
    assert data["full"]["answer"] == [1]
    assert (data["ownAnswer"]["text"], data["ownAnswer"]["confidence"]) == ("A. Nodule", 2)


def test_the_report_is_sent_only_once_it_was_opened(judge):
    page = judge(show_report=True)
    assert form(page)["report"] == {"text": None}
    assert SECRETS["report"] not in on_the_wire(page)


def test_an_opened_report_comes_with_the_rating_that_it_fixed(judge):
    def open_it(db: Session, world):
        open_report(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_number=1,
            image_alignment=4,
            now=NOW,
        )

    data = form(judge(open_it, show_report=True))
    assert data["report"] == {"text": SECRETS["report"]}
    assert data["fixedAlignment"] == 4


@pytest.mark.parametrize(
    ("parts", "ratings", "flags"),
    [(FormScope.ALL, 4, True), (FormScope.IMAGE_ALIGNMENT, 1, False), (FormScope.KEY, 0, False)],
)
def test_a_batch_asks_only_for_its_parts(judge, parts, ratings, flags):
    asks = form(judge(parts=parts))["asks"]
    assert (len(asks["ratings"]), asks["flags"]) == (ratings, flags)


def test_the_clarity_of_no_explanation_is_not_asked(judge):
    def take_away(db: Session, world):
        db.execute(text("UPDATE question SET explanation = ''"))

    names = [rating["name"] for rating in form(judge(take_away))["asks"]["ratings"]]
    assert names == ["clinical_quality", "factual_correctness", "image_alignment"]


def test_the_words_of_every_rating_come_from_the_batch(judge):
    settings = BatchSettings()
    for rating in form(judge())["asks"]["ratings"]:
        assert tuple(rating["anchors"]) == settings.anchors[rating["name"]]


def judge_all(db, world):
    for number in world.questions[:-1]:
        save_verdict(db, verdict=accept(world, question=number), person=world.people["ruth"])
    skip_question(
        db,
        person=world.people["ruth"],
        batch_id=world.batch.id,
        question_number=world.questions[-1],
        reason="rotated",
        now=NOW,
    )


def test_at_the_end_the_page_thanks_and_offers_what_was_skipped(judge):
    page = judge(judge_all)
    assert form(page) is None
    assert "review complete." in texts(page)
    assert "5 of 6 questions judged" in texts(page)
    [skipped] = [button for button in page.button if "rotated" in button.label]
    skipped.click().run()
    assert form(page)["question"] == 6
    assert form(page)["skipped"] == "rotated"


def test_the_last_verdict_is_reopened_as_the_next_revision(judge):
    page = judge(judge_all)
    [again] = [button for button in page.button if "Reopen" in button.label]
    again.click().run()
    data = form(page)
    assert (data["question"], data["revision"], data["last"]["decision"]) == (5, 2, "accept")
    assert data["last"]["opinion"]["ratings"]["clinical_quality"] == 4


def test_a_closed_batch_can_be_read_and_says_so(workspace, sign_in_as, run_page):
    world = make_world(workspace, questions=2, assigned_to=["ruth"])
    close(workspace, world.batch)
    sign_in_as("ruth")
    data = form(run_page(PAGE))
    assert data["open"] is False
    assert all(radiograph["canvas"]["disabled"] for radiograph in data["radiographs"])


def test_of_several_batches_each_can_be_chosen(judge):
    def another(db, world):
        batch = make_batch(db, dataset_id=world.dataset_id, name="second", questions=[2])
        assign_all(db, batch=batch, questions=[2], person=world.people["ruth"])

    page = judge(another)
    assert [batch["name"] for batch in form(page)["batches"]] == ["first", "second"]
    page.query_params["batch"] = "2"
    page.query_params["question"] = "2"
    page.run()
    assert (form(page)["batch"], form(page)["question"]) == (2, 2)


def test_a_question_that_is_not_ones_own_is_told_and_led_on_from(judge):
    page = judge()
    page.query_params["question"] = "77"
    page.run()
    assert form(page) is None
    assert "This question of batch number 1 does not exist" in page.warning[0].value
    page.button[0].click().run()
    assert form(page)["question"] == 1


def test_views_are_said_in_words_where_the_file_names_none(judge):
    def rename(db, world):
        for view, place in (("UNKNOWN", 0), ("OTHER", 1)):
            db.execute(
                text("UPDATE radiograph SET view = :view WHERE position = :place"),
                {"view": view, "place": place},
            )

    shown = [each["view"] for each in form(judge(rename))["radiographs"]]
    assert shown == ["view not stated", "other view"]
