"""What a coordinator entered and did not save is offered again after F5, and to no other person."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e import judging

pytestmark = [pytest.mark.browser, pytest.mark.full]

TEXT = "Look at the lines first: tubes, catheters, wires."
KEPT = "() => Object.keys(sessionStorage).filter(key => key.startsWith('overread-typed:')).length"


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return judging.world_to_judge(app, questions=4)


def guideline(page):
    page.goto("/assign")
    page.get_by_role("tab", name="Review settings").click()
    return page.get_by_placeholder("What reviewers should look at")


def offer(page):
    return page.get_by_text("not saved. “Look at the lines")


def test_a_text_that_was_not_saved_is_offered_after_f5_and_put_back_on_demand(app, sign_in):
    page = sign_in("cora")
    guideline(page).press_sequentially(TEXT)
    expect(offer(page)).to_be_hidden()
    field = guideline(page)  # reloads the page
    expect(offer(page)).to_be_visible(timeout=30_000)
    assert field.input_value() == ""
    page.get_by_role("button", name="Restore").click()
    expect(field).to_have_value(TEXT)
    expect(offer(page)).to_be_hidden()
    page.get_by_role("button", name="Save guideline").click()
    expect(page.get_by_text("Saved at")).to_be_visible(timeout=30_000)
    expect(guideline(page)).to_have_value(TEXT, timeout=30_000)
    page.wait_for_timeout(1_500)
    expect(offer(page)).to_be_hidden()
    assert page.evaluate(KEPT) == 0


def test_what_one_person_typed_is_not_there_for_the_next_in_the_same_tab(app, sign_in):
    page = sign_in("cora")
    field = guideline(page)
    field.fill(f"{TEXT} And the bones.")
    page.wait_for_timeout(500)
    assert page.evaluate(KEPT) == 1
    page.goto("/")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Password").wait_for()
    sign_in("ruth")
    page.wait_for_timeout(1_500)
    assert page.evaluate(KEPT) == 0


def test_a_text_can_be_forgotten(app, sign_in):
    page = sign_in("cora")
    guideline(page).fill("Look at the lines, then at everything else.")
    page.wait_for_timeout(500)
    guideline(page)
    page.get_by_role("button", name="Discard").click()
    expect(offer(page)).to_be_hidden()
    assert page.evaluate(KEPT) == 0
