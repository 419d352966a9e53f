"""From review to release: three questions are reviewed in the browser and released; the files are checked."""

import json
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from accounts import service as accounts
from storage.unit_of_work import unit_of_work
from tests.e2e import review_helpers
from tests.e2e.conftest import PASSWORD, fill_sign_in, sign_out
from tests.e2e.review_helpers import draw, open_review, press, wait_for_question

pytestmark = pytest.mark.browser

KEYS_OF_ALL_RATINGS = "5443yym"  # four ratings, needs radiology, more than recall, medium


@pytest.fixture(scope="module", autouse=True)
def world(app):
    review_world = review_helpers.create_review_world(app, questions=4)
    with unit_of_work(app.engine) as db:
        by = accounts.command_line_person()
        accounts.set_password(db, by=by, name="cora", password=PASSWORD, now=datetime.now(UTC))
    return review_world


def review_three_questions(page):
    """Accept the first, correct key and boxes of the second, reject the third; return the drawn box."""
    open_review(page, 1)
    press(page, KEYS_OF_ALL_RATINGS + "a")
    wait_for_question(page, 2)
    review_helpers.wait_for_painted_image(page)
    drawn_box = draw(page, (0.5, 0.3), (0.7, 0.55))
    page.get_by_role("button", name="C is not the key").click()
    press(page, KEYS_OF_ALL_RATINGS + "fcv")  # wrong key; revise
    wait_for_question(page, 3)
    press(page, "fax")  # more than one right answer; reject
    wait_for_question(page, 4)
    return drawn_box


def load_release_records(page, name):
    """The lines of a file of the newest release, downloaded through the page's link."""
    response = page.request.get(page.get_by_role("link", name=name, exact=True).get_attribute("href"))
    assert response.status == 200
    return [json.loads(line) for line in response.text().splitlines()]


def test_release_contains_the_corrections_made_in_the_browser(page, sign_in):
    drawn_box = review_three_questions(sign_in("ruth"))
    sign_out(page)
    fill_sign_in(page, "cora", PASSWORD)
    page.get_by_role("button", name="Sign out").wait_for()
    page.goto("/releases")
    page.get_by_label("Release name").fill("v1")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Create release").click()
    expect(page.get_by_text("Release v1 of demo contains 2 questions")).to_be_visible(timeout=20_000)

    key, boxes = sorted(
        load_release_records(page, "corrections.jsonl"), key=lambda correction: correction["field"]
    )
    assert (key["field"], key["before"], key["after"], key["who"]) == ("answer", [1], [2], "ruth")
    assert boxes["field"] == "boxes"
    assert [box["box"] for box in boxes["before"]] == [review_helpers.MACHINE_BOX]
    machine, own_box = boxes["after"]
    assert (machine["box"], own_box["radiograph"]) == (review_helpers.MACHINE_BOX, "pa")
    assert own_box["box"] == pytest.approx(drawn_box, abs=1)

    accepted, revised = sorted(load_release_records(page, "gold.jsonl"), key=lambda record: record["id"])
    assert (accepted["answer"], revised["answer"]) == ([1], [2])
    assert revised["id"] == key["question_id"] == boxes["question_id"]
    assert revised["boxes"] == boxes["after"]
    [rejected] = load_release_records(page, "left_out.jsonl")
    assert "rejected" in rejected.values()
