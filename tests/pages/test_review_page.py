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
from tests.pages.conftest import get_text
from tests.storage.judgements import make_acceptance
from tests.storage.worlds import NOW, SECRETS, assign_all, close_batch, make_batch, make_world

PAGE = "pages/review.py"


@pytest.fixture
def open_review_page(workspace, sign_in_as, run_page):
    """Opens the page as ruth, to whom six questions are assigned; the arguments are the batch's settings."""

    def open_page(prepare=None, **settings):
        world = make_world(workspace, questions=6, assigned_to=["ruth"], settings=BatchSettings(**settings))
        sign_in_as("ruth")
        if prepare is not None:
            with unit_of_work() as db:
                prepare(db, world)
        return run_page(PAGE)

    return open_page


def get_form_data(page):
    """The data that the form gets; None where the page shows no form."""
    for element in page.main:
        if element.type == "bidi_component":
            return json.loads(element.proto.json or element.proto.mixed.json)
    return None


def get_sent_text(page):
    """Everything that the page sends to the browser, as text."""
    protos = [element.proto for element in page.main if getattr(element, "proto", None) is not None]
    assert protos
    return "\n".join(str(MessageToDict(proto)) for proto in protos)


@pytest.mark.parametrize("number", ["9" * 30, "-1", "x"])
def test_invalid_question_number_opens_the_next_open_question(open_review_page, number):
    page = open_review_page()
    page.query_params["question"] = number
    page.run()
    assert not page.exception
    assert get_form_data(page)["question"] == 1


def test_page_without_an_assignment_shows_a_message(workspace, sign_in_as, run_page):
    sign_in_as("anna", Role.REVIEWER)
    page = run_page(PAGE)
    assert not page.exception
    assert "No questions are assigned to you yet" in get_text(page)


def test_page_is_not_found_for_a_reader(workspace, sign_in_as, run_page):
    sign_in_as("rita", Role.READER)
    page = run_page(PAGE)
    assert "Page not found." in get_text(page)
    assert get_form_data(page) is None


def test_the_first_open_question_is_shown_with_its_key(open_review_page):
    page = open_review_page()
    data = get_form_data(page)
    assert not page.exception
    assert (data["question"], data["blind"], data["revision"]) == (1, False, 1)
    assert data["questionWithKey"]["answer"] == [1]
    assert data["progress"] == {"done": 0, "skipped": 0, "left": 6, "total": 6, "position": 1}
    assert data["patient"] == {"age": "61 years", "sex": "female", "indication": "Cough for two weeks."}


def test_boxes_are_drawn_on_their_own_radiograph(open_review_page):
    pa, lateral = get_form_data(open_review_page())["radiographs"]
    assert [box["label"] for box in pa["originalCanvasObjects"]] == [SECRETS["label"]]
    assert lateral["originalCanvasObjects"] == []
    assert pa["previewUrl"] == "/radiographs/1/pa?longest=1600"


def test_blind_question_is_sent_without_anything_that_reveals_its_key(open_review_page):
    page = open_review_page(mode=Mode.ANSWER_FIRST, show_report=True)
    data = get_form_data(page)
    assert data["blind"]
    assert data["questionWithKey"] is None
    assert data["stem"] == "Which finding is on radiograph 1?"
    assert all(radiograph["canvas"]["disabled"] for radiograph in data["radiographs"])
    assert not [word for word in SECRETS.values() if word in get_sent_text(page)]


def test_key_and_own_answer_are_sent_after_the_own_answer_is_saved(open_review_page):
    def save_answer(db, world):
        save_own_answer(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=1,
            answer=(0,),
            confidence=2,
            now=NOW,
        )

    data = get_form_data(open_review_page(save_answer, mode=Mode.ANSWER_FIRST))
    assert data["questionWithKey"]["answer"] == [1]
    assert (data["ownAnswer"]["text"], data["ownAnswer"]["confidence"]) == ("A. Nodule", 2)


def test_report_is_not_sent_before_it_is_opened(open_review_page):
    page = open_review_page(show_report=True)
    assert get_form_data(page)["report"] == {"text": None}
    assert SECRETS["report"] not in get_sent_text(page)


def test_opened_report_is_sent_with_the_fixed_rating(open_review_page):
    def open_the_report(db: Session, world):
        open_report(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=1,
            image_alignment=4,
            now=NOW,
        )

    data = get_form_data(open_review_page(open_the_report, show_report=True))
    assert data["report"] == {"text": SECRETS["report"]}
    assert data["fixedAlignment"] == 4


@pytest.mark.parametrize(
    ("parts", "rating_count", "has_flags"),
    [(FormScope.ALL, 4, True), (FormScope.IMAGE_ALIGNMENT, 1, False), (FormScope.KEY, 0, False)],
)
def test_form_shows_only_the_fields_its_batch_requests(open_review_page, parts, rating_count, has_flags):
    requested_fields = get_form_data(open_review_page(parts=parts))["requested"]
    assert (len(requested_fields["ratings"]), requested_fields["flags"]) == (rating_count, has_flags)


def test_clarity_is_not_requested_without_an_explanation(open_review_page):
    def clear_explanation(db: Session, world):
        db.execute(text("UPDATE question SET explanation = ''"))

    names = [
        rating["name"]
        for rating in get_form_data(open_review_page(clear_explanation))["requested"]["ratings"]
    ]
    assert names == ["clinical_quality", "factual_correctness", "image_alignment"]


def test_anchors_of_every_rating_come_from_the_batch(open_review_page):
    settings = BatchSettings()
    for rating in get_form_data(open_review_page())["requested"]["ratings"]:
        assert tuple(rating["anchors"]) == settings.anchors[rating["name"]]


def judge_all_but_last(db, world):
    for number in world.questions[:-1]:
        save_verdict(db, verdict=make_acceptance(world, question=number), person=world.people["ruth"])
    skip_question(
        db,
        person=world.people["ruth"],
        batch_id=world.batch.id,
        question_row_id=world.questions[-1],
        reason="rotated",
        now=NOW,
    )


def test_finished_batch_offers_the_skipped_questions(open_review_page):
    page = open_review_page(judge_all_but_last)
    assert get_form_data(page) is None
    assert "your review is complete." in get_text(page)
    assert "5 of your 6 questions judged" in get_text(page)
    [skipped_button] = [button for button in page.button if "rotated" in button.label]
    skipped_button.click().run()
    assert get_form_data(page)["question"] == 6
    assert get_form_data(page)["skipReason"] == "rotated"


def test_the_last_verdict_is_reopened_as_the_next_revision(open_review_page):
    page = open_review_page(judge_all_but_last)
    [reopen_button] = [button for button in page.button if "Reopen" in button.label]
    reopen_button.click().run()
    data = get_form_data(page)
    assert (data["question"], data["revision"], data["last"]["decision"]) == (5, 2, "accept")
    assert data["last"]["opinion"]["ratings"]["clinical_quality"] == 4


def test_closed_batch_is_read_only(workspace, sign_in_as, run_page):
    world = make_world(workspace, questions=2, assigned_to=["ruth"])
    close_batch(workspace, world.batch)
    sign_in_as("ruth")
    data = get_form_data(run_page(PAGE))
    assert data["isOpen"] is False
    assert all(radiograph["canvas"]["disabled"] for radiograph in data["radiographs"])


def test_reviewer_can_switch_between_batches(open_review_page):
    def add_second_batch(db, world):
        batch = make_batch(db, dataset_id=world.dataset_id, name="second", questions=[2])
        assign_all(db, batch=batch, questions=[2], person=world.people["ruth"])

    page = open_review_page(add_second_batch)
    assert [batch["name"] for batch in get_form_data(page)["batches"]] == ["first", "second"]
    page.query_params["batch"] = "2"
    page.query_params["question"] = "2"
    page.run()
    assert (get_form_data(page)["batch"], get_form_data(page)["question"]) == (2, 2)


def test_unassigned_question_shows_a_warning_and_a_button_to_continue(open_review_page):
    page = open_review_page()
    page.query_params["question"] = "77"
    page.run()
    assert get_form_data(page) is None
    assert "This question of batch 1 does not exist" in page.warning[0].value
    page.button[0].click().run()
    assert get_form_data(page)["question"] == 1


def test_unknown_views_are_described_in_words(open_review_page):
    def change_views(db, world):
        for view, position in (("UNKNOWN", 0), ("OTHER", 1)):
            db.execute(
                text("UPDATE radiograph SET view = :view WHERE position = :place"),
                {"view": view, "place": position},
            )

    views = [
        radiograph["view"] for radiograph in get_form_data(open_review_page(change_views))["radiographs"]
    ]
    assert views == ["view not stated", "other view"]
