"""Input that a coordinator did not save is offered again after a reload, but not to another person."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e import review_helpers

pytestmark = [pytest.mark.browser, pytest.mark.full]

TEXT = "Look at the lines first: tubes, catheters, wires."
STORED_INPUT_COUNT = (
    "() => Object.keys(sessionStorage).filter(key => key.startsWith('overread-unsaved-input:')).length"
)


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return review_helpers.create_review_world(app, questions=4)


def open_guideline_field(page):
    page.goto("/assign")
    page.get_by_role("tab", name="Review settings").click()
    return page.get_by_placeholder("What reviewers should look at")


def find_restore_offer(page):
    return page.get_by_text("not saved. “Look at the lines")


def test_unsaved_text_is_offered_after_a_reload(app, sign_in):
    page = sign_in("cora")
    open_guideline_field(page).press_sequentially(TEXT)
    expect(find_restore_offer(page)).to_be_hidden()
    field = open_guideline_field(page)  # reloads the page
    expect(find_restore_offer(page)).to_be_visible(timeout=30_000)
    assert field.input_value() == ""
    page.get_by_role("button", name="Restore").click()
    expect(field).to_have_value(TEXT)
    expect(find_restore_offer(page)).to_be_hidden()
    page.get_by_role("button", name="Save guideline").click()
    expect(page.get_by_text("Saved at")).to_be_visible(timeout=30_000)
    expect(open_guideline_field(page)).to_have_value(TEXT, timeout=30_000)
    page.wait_for_timeout(1_500)
    expect(find_restore_offer(page)).to_be_hidden()
    assert page.evaluate(STORED_INPUT_COUNT) == 0


def test_unsaved_text_is_not_offered_to_another_person(app, sign_in):
    page = sign_in("cora")
    field = open_guideline_field(page)
    field.fill(f"{TEXT} And the bones.")
    page.wait_for_timeout(500)
    assert page.evaluate(STORED_INPUT_COUNT) == 1
    page.goto("/")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Password").wait_for()
    sign_in("ruth")
    page.wait_for_timeout(1_500)
    assert page.evaluate(STORED_INPUT_COUNT) == 0


def test_unsaved_text_can_be_discarded(app, sign_in):
    page = sign_in("cora")
    open_guideline_field(page).fill("Look at the lines, then at everything else.")
    page.wait_for_timeout(500)
    open_guideline_field(page)
    page.get_by_role("button", name="Discard").click()
    expect(find_restore_offer(page)).to_be_hidden()
    assert page.evaluate(STORED_INPUT_COUNT) == 0
