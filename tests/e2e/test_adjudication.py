"""Two reviewers judge the same ten questions and disagree on four, which an adjudicator decides.

The release has the adjudicated version, and the history lists the events in order.
"""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from domain.people import Role
from tests.e2e import review_helpers
from tests.e2e.conftest import PASSWORD as PASSWORD_OF_ALL
from tests.e2e.conftest import RunningApp, fill_sign_in, sign_out
from tests.e2e.review_helpers import open_review, press, wait_for_question

pytestmark = [pytest.mark.browser, pytest.mark.full]

KEYS_OF_ALL_RATINGS = "5443yym"
QUESTIONS = 10
#: Remo's verdicts that differ from ruth's, by question: keys, or the field he corrects. Ruth accepts all.
REMO_DIFFERENCES = {2: "fax", 4: "key", 6: "stem", 8: "fax"}


@pytest.fixture(scope="module", autouse=True)
def world(app: RunningApp):
    review_world = review_helpers.create_review_world(app, questions=QUESTIONS + 1)
    app.add_person("anna", Role.REVIEWER)
    app.command("adjudicate", "rules", "first", "--adjudicators", "anna")
    return review_world


def sign_in_as(page: Page, name: str) -> None:
    if page.get_by_role("button", name="Sign out").count():
        sign_out(page)
    fill_sign_in(page, name, PASSWORD_OF_ALL)
    page.get_by_role("button", name="Sign out").wait_for()


def judge_ten_questions(page: Page, differences: dict[int, str]) -> None:
    open_review(page, 1)
    for number in range(1, QUESTIONS + 1):
        difference = differences.get(number)
        if difference == "key":
            page.get_by_role("button", name="C is not the key").click()
            press(page, KEYS_OF_ALL_RATINGS + "fcv")
        elif difference == "stem":
            page.get_by_label("Stem", exact=True).fill(f"Which one finding is on radiograph {number}?")
            page.keyboard.press("Escape")
            press(page, KEYS_OF_ALL_RATINGS + "v")
        else:
            press(page, difference or KEYS_OF_ALL_RATINGS + "a")
        wait_for_question(page, number + 1)


def settle_dispute(page: Page, keys: str, reason: str) -> None:
    progress = page.locator(".adjudication .progress-text")
    old_progress = progress.inner_text()
    review_helpers.wait_for_images(page)
    press(page, keys)
    page.get_by_label("Reason").fill(reason)
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.locator(".adjudication .progress-text").filter(has_text=old_progress)).to_have_count(
        0, timeout=15_000
    )


def test_disputes_of_two_reviewers_are_settled_and_released(page: Page, sign_in, app: RunningApp):
    sign_in("ruth")
    judge_ten_questions(page, {})
    sign_in_as(page, "remo")
    judge_ten_questions(page, REMO_DIFFERENCES)

    sign_in_as(page, "anna")
    page.goto("/adjudicate")
    expect(page.locator(".adjudication .progress-text")).to_have_text("0 of 4 adjudicated", timeout=20_000)
    expect(page.locator(".adjudication .reviewer h4").first).to_contain_text("Reviewer A")
    assert "Ruth" not in page.locator(".adjudication").inner_text()
    settle_dispute(page, "x", "Two answers hold.")  # question 2: rejected, as by remo
    settle_dispute(page, "2", "The key was wrong.")  # question 4: remo's key
    settle_dispute(page, "1", "The stem was plain enough.")  # question 6: as imported, which ruth accepted
    settle_dispute(page, "0", "One answer holds.")  # question 8: unchanged
    expect(page.get_by_text("4 disputes of batch first: all adjudicated.")).to_be_visible(timeout=20_000)

    app.command("release", "create", "demo", "--name", "v1", "--out", str(app.home / "v1"))
    gold = {
        record["id"]: record
        for record in map(
            json.loads, (app.home / "v1" / "gold.jsonl").read_text(encoding="utf-8").splitlines()
        )
    }
    assert sorted(gold, key=lambda key: int(key[1:])) == [f"Q{i}" for i in range(1, 11) if i != 2]
    assert (gold["Q4"]["answer"], gold["Q8"]["answer"]) == ([2], [1])
    assert gold["Q6"]["stem"] == "Which finding is on radiograph 6?"

    sign_in_as(page, "cora")
    page.goto("/browse?question=4")
    history = page.get_by_test_id("stMain")
    expect(history).to_contain_text("In release v1", timeout=20_000)
    history_text = history.inner_text()
    order = ["Imported from", "Drawn into batch first", "Assigned to Ruth", "Accepted in batch",
             "Revised in batch", "Adjudicated in batch", "In release v1"]  # fmt: skip
    assert [history_text.index(part) for part in order] == sorted(history_text.index(part) for part in order)
    assert "The key was wrong." in history_text
