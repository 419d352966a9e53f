"""From review to release: three questions are reviewed in the browser and released; the files are checked."""

import json
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from accounts import service as accounts
from storage.unit_of_work import unit_of_work
from tests.e2e import judging
from tests.e2e.conftest import PASSWORD, fill_sign_in
from tests.e2e.judging import draw, open_review, press, wait_for_question

pytestmark = pytest.mark.browser

RATED = "5443yym"  # four ratings, needs radiology, more than recall, medium


@pytest.fixture(scope="module", autouse=True)
def world(app):
    found = judging.world_to_judge(app, questions=4)
    with unit_of_work(app.engine) as db:
        by = accounts.command_line_person()
        accounts.set_password(db, by=by, name="cora", password=PASSWORD, now=datetime.now(UTC))
    return found


def review_three(page):
    """Accept the first, correct key and boxes of the second, reject the third; return the drawn box."""
    open_review(page, 1)
    press(page, RATED + "a")
    wait_for_question(page, 2)
    judging.wait_for_picture(page)
    drawn = draw(page, (0.5, 0.3), (0.7, 0.55))
    page.get_by_role("button", name="C is not the key").click()
    press(page, RATED + "fcv")  # wrong key; revise
    wait_for_question(page, 3)
    press(page, "fax")  # more than one right answer; reject
    wait_for_question(page, 4)
    return drawn


def lines_of(page, name):
    """The lines of a file of the newest release, downloaded through the page's link."""
    answer = page.request.get(page.get_by_role("link", name=name, exact=True).get_attribute("href"))
    assert answer.status == 200
    return [json.loads(line) for line in answer.text().splitlines()]


def test_what_was_corrected_in_the_browser_is_what_the_release_holds(page, sign_in):
    drawn = review_three(sign_in("ruth"))
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in*")
    fill_sign_in(page, "cora", PASSWORD)
    page.get_by_role("button", name="Sign out").wait_for()
    page.goto("/releases")
    page.get_by_label("Name of the release").fill("v1")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Make the release").click()
    expect(page.get_by_text("Release v1 of demo holds 2 questions")).to_be_visible(timeout=20_000)

    key, boxes = sorted(lines_of(page, "corrections.jsonl"), key=lambda each: each["field"])
    assert (key["field"], key["before"], key["after"], key["who"]) == ("answer", [1], [2], "ruth")
    assert boxes["field"] == "boxes"
    assert [each["box"] for each in boxes["before"]] == [judging.MACHINE_BOX]
    machine, own = boxes["after"]
    assert (machine["box"], own["radiograph"]) == (judging.MACHINE_BOX, "pa")
    assert own["box"] == pytest.approx(drawn, abs=1)

    accepted, revised = sorted(lines_of(page, "gold.jsonl"), key=lambda each: each["id"])
    assert (accepted["answer"], revised["answer"]) == ([1], [2])
    assert revised["id"] == key["question_id"] == boxes["question_id"]
    assert revised["boxes"] == boxes["after"]
    [rejected] = lines_of(page, "left_out.jsonl")
    assert "rejected" in rejected.values()
