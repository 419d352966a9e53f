"""The viewer in full screen, on a high-density screen, with undo, and by keyboard alone."""

import json

import pytest
from playwright.sync_api import expect
from sqlalchemy import update

from domain.batches import AssignmentState
from storage.rows.batches import AssignmentRow
from storage.unit_of_work import unit_of_work
from tests.e2e import review_helpers, viewer_helpers
from tests.e2e.conftest import PASSWORD, fill_sign_in
from tests.e2e.review_helpers import load_drafts, press
from tests.e2e.viewer_helpers import drag, draw_box, get_pane_position, open_viewer

pytestmark = [pytest.mark.browser, pytest.mark.full]

KEYS_OF_ALL_RATINGS = "4444yyh"  # four ratings of 4, yes, yes, hard


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return review_helpers.create_review_world(app, questions=12)


@pytest.fixture
def open_question(signed_in):
    """Ruth's review page at that question."""

    def open_at(question):
        return open_viewer(signed_in("ruth"), question)

    return open_at


def load_last_box(app, page, question, count):
    """Wait until the stored draft has ``count`` boxes, and return the last one."""
    expect(page.get_by_text(f"{count} boxes")).to_be_visible()
    expect(page.get_by_text("Draft saved")).to_be_visible()
    for _ in range(50):
        draft_boxes = json.loads(load_drafts(app, question).get("boxes", "[]"))
        if len(draft_boxes) == count:
            return draft_boxes[-1]["box"]
        page.wait_for_timeout(100)
    raise AssertionError(f"the draft does not have {count} boxes")


def test_a_narrow_window_has_the_image_above_the_form(open_question):
    page = open_question(1)
    page.set_viewport_size({"width": 760, "height": 900})
    expect(page.locator(".judging.narrow")).to_be_attached()
    pane, stem = page.locator(".pane").first.bounding_box(), page.locator(".stem-text").bounding_box()
    assert pane["height"] > 300
    assert pane["y"] + pane["height"] <= stem["y"]


def test_a_box_may_begin_on_the_label_of_another_box(app, open_question):
    page = open_question(1)
    pane_position = get_pane_position(page)
    draw_box(page, pane_position.of_pixel(600, 600), pane_position.of_pixel(640, 640))
    left, top = pane_position.of_pixel(600, 600)
    draw_box(page, (left + 10, top - 12), (left + 50, top - 60))  # on "no label", above the box
    x_min, _, _, y_max = load_last_box(app, page, 1, 3)
    assert x_min > 600 > y_max  # a new box; a click would have selected the existing one


def test_click_on_a_label_selects_its_box(open_question):
    page = open_question(2)
    left, top = get_pane_position(page).of_pixel(review_helpers.MACHINE_BOX[0], review_helpers.MACHINE_BOX[1])
    page.mouse.click(left + 10, top - 12)
    expect(page.locator(".boxes li.original")).to_have_attribute("aria-current", "true")
    page.keyboard.press("Escape")
    expect(page.locator(".boxes li.original")).to_have_attribute("aria-current", "false")


def test_form_works_in_full_screen(app, open_question):
    page = open_question(3)
    page.keyboard.press("Shift+E")
    expect(page.get_by_role("button", name="Full screen")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("a")
    expect(page.get_by_text("Still to judge")).to_be_in_viewport()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Shortcuts")).to_be_in_viewport()
    page.keyboard.press("?")
    press(page, KEYS_OF_ALL_RATINGS + "a")
    review_helpers.wait_for_question(page, 4)
    viewer_helpers.wait_until_painted(page)
    expect(page.get_by_role("button", name="Full screen")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Shift+E")
    expect(page.get_by_role("button", name="Full screen")).to_have_attribute("aria-pressed", "false")


def test_box_is_saved_where_it_was_drawn_on_a_high_density_screen(app, chromium):
    context = chromium.new_context(
        viewport={"width": 1440, "height": 900}, device_scale_factor=2, base_url=app.url
    )
    page = context.new_page()
    fill_sign_in(page, "ruth", PASSWORD)
    page.get_by_role("button", name="Sign out").wait_for()
    open_viewer(page, 5)
    canvas = page.locator(".pane canvas.image").first
    assert canvas.evaluate("canvas => canvas.width / canvas.clientWidth") == pytest.approx(2, abs=0.01)
    pane_position = get_pane_position(page)
    draw_box(page, pane_position.of_pixel(400, 500), pane_position.of_pixel(700, 800))
    assert load_last_box(app, page, 5, 2) == pytest.approx([400, 500, 700, 800], abs=1)
    context.close()


def test_box_is_drawn_resized_and_moved_by_keyboard(app, open_question):
    page = open_question(6)
    page.locator(".pane").first.focus()
    page.keyboard.press("Shift+N")
    page.get_by_label("Label of the box", exact=True).press("Escape")
    x0, y0, x1, y1 = load_last_box(app, page, 6, 2)
    page.keyboard.press("Control+ArrowRight")
    page.keyboard.press("Control+Shift+ArrowUp")
    page.keyboard.press("ArrowLeft")
    announcement = page.locator(".spoken")
    expect(announcement).to_contain_text(f"column {round(x0 - 1)}, row {round(y0)}.")
    expect(announcement).to_contain_text("Box 2 of 2, PA: no label, yours")
    page.keyboard.press("Enter")
    page.get_by_label("Label of the box", exact=True).fill("rib 4")
    page.keyboard.press("Enter")
    expect(announcement).to_contain_text("rib 4")
    press(page, KEYS_OF_ALL_RATINGS + "v")
    review_helpers.wait_for_question(page, 7)
    [verdict] = review_helpers.load_verdicts(app, 6)
    own_box = json.loads(verdict.correction)["boxes"][-1]
    assert own_box["box"] == pytest.approx([x0 - 1, y0, x1, y1 - 10], abs=0.02)


def test_window_zoom_and_position_are_changed_by_keyboard(open_question):
    page = open_question(7)
    old_status = viewer_helpers.find_status_line(page).text_content()
    page.keyboard.press(".")
    expect(viewer_helpers.find_status_line(page)).not_to_have_text(old_status)
    expect(page.get_by_label("Window", exact=True)).to_have_value("-1")  # no preset
    old_grey_levels = viewer_helpers.sample_grey_levels(page)
    press(page, "+++")
    page.keyboard.press("Shift+ArrowRight")
    expect(viewer_helpers.find_status_line(page)).to_contain_text("%")
    assert viewer_helpers.sample_grey_levels(page) != old_grey_levels


def test_list_of_many_boxes_scrolls_vertically_only(app, open_question):
    page = open_question(8)
    pane_position = get_pane_position(page)
    for step in range(8):
        draw_box(
            page, pane_position.of_pixel(100 + 90 * step, 600), pane_position.of_pixel(160 + 90 * step, 660)
        )
    load_last_box(app, page, 8, 9)
    boxes = page.locator(".boxes")
    assert boxes.evaluate("list => list.scrollWidth <= list.clientWidth")
    expect(page.locator(".boxes li").last).to_be_in_viewport()
    assert get_pane_position(page) == pane_position  # the image has not moved under the pointer


def test_new_box_asks_for_its_label_and_keys_typed_there_are_no_shortcuts(app, open_question):
    page = open_question(9)
    press(page, "4444")
    status = viewer_helpers.find_status_line(page).text_content().split(" · ")[0]
    pane_position = get_pane_position(page)
    drag(page, pane_position.of_pixel(400, 500), pane_position.of_pixel(700, 800))
    label = page.get_by_label("Label of the box", exact=True)
    expect(label).to_be_focused()
    page.keyboard.type("nod")  # N would answer no, O show the actual size, D hide the boxes
    expect(page.get_by_role("listbox", name="Labels").get_by_role("option").first).to_have_text("nodule")
    expect(page.locator('[data-step="domain_specific"] [aria-pressed="true"]')).to_have_count(0)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(label).to_have_count(0)
    expect(page.locator(".boxes li.mine input")).to_have_value("nodule")
    expect(viewer_helpers.find_status_line(page)).to_contain_text(status)
    page.keyboard.press("u")  # drawing and labelling are one step
    expect(page.locator(".boxes li.mine")).to_have_count(0)
    press(page, "yyha")
    review_helpers.wait_for_question(page, 10)
    [verdict] = review_helpers.load_verdicts(app, 9)
    assert (verdict.decision, verdict.domain_specific) == ("accept", True)


def test_optional_fields_and_the_answer_key_are_set_by_keyboard(app, open_question):
    page = open_question(10)
    press(page, KEYS_OF_ALL_RATINGS)
    page.keyboard.press("Shift+I")
    for _ in range(2):
        page.keyboard.press("Shift+O")
    page.keyboard.press("Shift+V")
    press(page, "1v")
    review_helpers.wait_for_question(page, 11)
    [verdict] = review_helpers.load_verdicts(app, 10)
    assert (verdict.image_centric, verdict.clinically_relevant) == (True, False)
    assert json.loads(verdict.correction)["answer"] == [0]


def withdraw_assignment(app, question):
    with unit_of_work(app.engine) as db:
        db.execute(
            update(AssignmentRow)
            .where(AssignmentRow.question_id == question)
            .values(state=AssignmentState.WITHDRAWN)
        )


def test_withdrawn_question_is_cleared_at_the_next_action(app, open_question):
    page = open_question(11)
    withdraw_assignment(app, 11)
    page.keyboard.press("4")  # this saves the draft, which the server refuses
    expect(page.get_by_text("Not assigned to you.")).to_be_visible()
    expect(page.locator(".pane")).to_have_count(0)
    expect(page.get_by_text("This question is no longer assigned to you.")).to_be_visible()
    press(page, "5a")  # saves nothing, and the message stays
    page.get_by_role("button", name="Continue with the next question").click()
    viewer_helpers.wait_until_painted(page)
    assert "question=11" not in page.url
    assert review_helpers.load_verdicts(app, 11) == []


def test_withdrawn_question_is_cleared_in_the_basic_viewer(app, signed_in):
    page = review_helpers.open_review(signed_in("ruth"), 12)
    withdraw_assignment(app, 12)
    page.keyboard.press("4")
    expect(page.get_by_text("This question is no longer assigned to you.")).to_be_visible()
    expect(page.locator(".stage canvas")).to_have_count(0)
    page.get_by_role("button", name="Continue with the next question").click()
    review_helpers.wait_for_painted_image(page)
