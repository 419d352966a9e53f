"""Own keys, the left mouse button, one-key accept and measurements in the browser."""

import json
from dataclasses import replace

import pytest
from playwright.sync_api import expect
from sqlalchemy import update

from domain.batches import BatchSettings
from domain.shortcuts import SHORTCUTS
from storage.rows.batches import BatchRow
from storage.unit_of_work import unit_of_work
from tests.e2e import review_helpers, viewer_helpers
from tests.e2e.viewer_helpers import drag, get_pane_position, open_viewer

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module", autouse=True)
def world(app):
    settings = replace(BatchSettings(), one_key_accept=True)
    return review_helpers.create_review_world(app, questions=10, settings=settings)


def open_account(page, group):
    page.goto("/account")
    page.get_by_text("Shortcuts and mouse").wait_for(timeout=30_000)
    page.get_by_role("radio", name=group).or_(page.get_by_role("button", name=group)).first.click()


def test_one_key_accepts_with_top_ratings_and_the_verdict_can_be_changed(app, signed_in):
    page = open_viewer(signed_in("ruth"), 1)
    expect(page.get_by_text("Enter only faults.")).to_be_visible()
    page.wait_for_timeout(600)  # a key pressed as soon as a question appears is ignored
    page.keyboard.press("a")
    review_helpers.wait_for_question(page, 2)
    [verdict] = review_helpers.load_verdicts(app, 1)
    assert (verdict.decision, verdict.clinical_quality, verdict.image_alignment) == ("accept", 5, 5)
    assert (verdict.domain_specific, verdict.cognitive_depth, verdict.image) == (True, True, "drawn")
    page.keyboard.press("z")
    review_helpers.wait_for_question(page, 1)
    expect(page.locator('[data-step="clinical_quality"] [aria-pressed="true"]')).to_have_text("5")
    page.locator('[data-step="clinical_quality"] button', has_text="2").click()
    page.keyboard.press("a")
    review_helpers.wait_for_verdicts(app, page, 1, 2)
    assert [row.clinical_quality for row in review_helpers.load_verdicts(app, 1)] == [5, 2]


def test_one_key_does_not_accept_an_image_that_was_not_shown(app, signed_in):
    page = signed_in("ruth")
    page.route("**/pixels/**", lambda route: route.abort())
    page.route("**/radiographs/**", lambda route: route.abort())
    page.goto("/review?batch=1&question=3")
    page.get_by_label("Stem", exact=True).wait_for(timeout=30_000)
    page.wait_for_timeout(600)
    page.keyboard.press("a")
    expect(page.locator(".image-check").get_by_text("Not saved:")).to_be_visible()
    assert review_helpers.load_verdicts(app, 3) == []


def test_own_keys_are_set_on_the_account_page_and_used_by_the_form(app, signed_in):
    page = signed_in("ruth")
    open_account(page, "Decisions")
    field = page.get_by_label("Key for: accept and continue")
    field.fill("x")
    field.press("Enter")
    expect(page.get_by_text("is the key of “reject the question”")).to_be_visible()
    field.fill("shift j")
    field.press("Enter")
    expect(page.get_by_text("Saved: Shift+J")).to_be_visible()
    page.get_by_text("adjust window and level").click()
    expect(page.get_by_text("Saved: adjust window and level")).to_be_visible()
    with page.expect_download() as download:
        page.evaluate("() => { location.href = '/files/keys.json'; }")
    exported = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert exported == {"keys": {"accept": "Shift+J"}, "leftButton": "window"}

    open_viewer(page, 4)
    expect(page.get_by_role("button", name="Accept", exact=True)).to_contain_text("Shift J")
    old_status = viewer_helpers.find_status_line(page).text_content()
    drag(page, (300, 400), (400, 460))  # the left button adjusts the window
    expect(viewer_helpers.find_status_line(page)).not_to_have_text(old_status)
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    page.keyboard.press("?")
    help_dialog = page.get_by_role("dialog", name="Shortcuts")
    expect(help_dialog.get_by_text("Shift J", exact=True)).to_be_visible()
    page.keyboard.press("?")
    page.keyboard.press("a")  # no longer a key of this person
    page.wait_for_timeout(600)
    assert review_helpers.load_verdicts(app, 4) == []
    page.keyboard.press("Shift+J")
    review_helpers.wait_for_question(page, 5)

    open_account(page, "Decisions")
    page.get_by_role("button", name="Reset to defaults").click()
    expect(page.get_by_text("All keys are the default ones.")).to_be_visible()


@pytest.mark.parametrize("width", [1024, 1440])
def test_every_group_of_actions_is_visible_on_the_account_page(signed_in, width):
    page = signed_in("ruth")
    page.set_viewport_size({"width": width, "height": 900})
    open_account(page, "Decisions")
    control = page.get_by_test_id("stButtonGroup").filter(has_text="Tools of the left button")
    control_bounds = control.bounding_box()
    for group in dict.fromkeys(shortcut.group for shortcut in SHORTCUTS.values()):
        group_bounds = control.get_by_text(group, exact=True).bounding_box()
        assert group_bounds["x"] + group_bounds["width"] <= control_bounds["x"] + control_bounds["width"], (
            group
        )
    control.get_by_text("Tools of the left button").click()
    expect(page.get_by_label("Key for: ruler")).to_be_visible()


def test_cardiothoracic_ratio_and_angle_are_measured_but_not_stored_in_the_verdict(app, signed_in):
    page = open_viewer(signed_in("ruth"), 6)
    position = get_pane_position(page)
    page.keyboard.press("Shift+X")
    drag(page, position.of_pixel(300, 600), position.of_pixel(700, 600))
    text = page.locator(".pane .ruler span")
    expect(text).to_contain_text("drag across the thorax")
    drag(page, position.of_pixel(100, 700), position.of_pixel(900, 700))
    expect(text).to_contain_text("ratio 0.50")
    expect(text).to_contain_text("px")
    drag(page, position.of_pixel(700, 600), position.of_pixel(580, 600))  # one end is moved: 280 / 800
    expect(text).to_contain_text("ratio 0.35")
    page.keyboard.press("Shift+G")
    drag(page, position.of_pixel(500, 300), position.of_pixel(500, 600))
    drag(page, position.of_pixel(520, 610), position.of_pixel(800, 600))
    expect(text).to_contain_text("90.0°")
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    page.keyboard.press("a")
    review_helpers.wait_for_question(page, 7)
    [verdict] = review_helpers.load_verdicts(app, 6)
    assert json.loads(verdict.correction or "{}") in ({}, None)
    assert page.locator(".pane .ruler").first.is_hidden()


def test_without_one_key_accept_all_fields_are_requested(app, signed_in):
    with unit_of_work(app.engine) as db:
        db.execute(update(BatchRow).values(one_key_accept=False))
    page = open_viewer(signed_in("ruth"), 8)
    page.wait_for_timeout(600)
    page.keyboard.press("a")
    expect(page.get_by_text("Still to judge")).to_be_visible()
