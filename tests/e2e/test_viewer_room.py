"""The viewer as a work place: full screen, 2:1 zoom, undo, and keyboard only."""

import json

import pytest
from playwright.sync_api import expect
from sqlalchemy import update

from domain.batches import AssignmentState
from storage.rows import AssignmentRow
from storage.unit_of_work import unit_of_work
from tests.e2e import judging, viewing
from tests.e2e.conftest import PASSWORD, fill_sign_in
from tests.e2e.judging import drafts, press
from tests.e2e.viewing import drag, open_viewer, place

pytestmark = [pytest.mark.browser, pytest.mark.full]

RATED = "4444yyh"


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return judging.world_to_judge(app, questions=12)


@pytest.fixture
def viewer(signed_in):
    """Ruth's review page at that question."""

    def open_at(question):
        return open_viewer(signed_in("ruth"), question)

    return open_at


def last_box(app, page, question, count):
    """The box drawn last, as stored in the draft, once there are that many."""
    expect(page.get_by_text(f"{count} boxes")).to_be_visible()
    expect(page.get_by_text("Draft saved")).to_be_visible()
    for _ in range(50):
        kept = json.loads(drafts(app, question).get("boxes", "[]"))
        if len(kept) == count:
            return kept[-1]["box"]
        page.wait_for_timeout(100)
    raise AssertionError(f"the draft does not have {count} boxes")


def test_a_narrow_window_has_the_image_above_the_form(viewer):
    page = viewer(1)
    page.set_viewport_size({"width": 760, "height": 900})
    expect(page.locator(".judging.narrow")).to_be_attached()
    pane, question = page.locator(".pane").first.bounding_box(), page.locator(".stem-text").bounding_box()
    assert pane["height"] > 300
    assert pane["y"] + pane["height"] <= question["y"]


def test_a_box_may_begin_on_the_label_of_another(app, viewer):
    page = viewer(1)
    here = place(page)
    drag(page, here.of_pixel(600, 600), here.of_pixel(640, 640))
    left, top = here.of_pixel(600, 600)
    drag(page, (left + 10, top - 12), (left + 50, top - 60))  # on "no label", above the box
    x_min, _, _, y_max = last_box(app, page, 1, 3)
    assert x_min > 600 > y_max  # a box of its own, next to the former position of the label


def test_a_click_on_a_label_chooses_its_box(viewer):
    page = viewer(2)
    left, top = place(page).of_pixel(judging.MACHINE_BOX[0], judging.MACHINE_BOX[1])
    page.mouse.click(left + 10, top - 12)
    expect(page.locator(".boxes li.machine")).to_have_attribute("aria-current", "true")
    page.keyboard.press("Escape")
    expect(page.locator(".boxes li.machine")).to_have_attribute("aria-current", "false")


def test_in_full_screen_the_form_says_what_it_says_and_goes_on(app, viewer):
    page = viewer(3)
    page.keyboard.press("Shift+E")
    expect(page.get_by_role("button", name="Full screen")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("a")
    expect(page.get_by_text("Still to judge")).to_be_in_viewport()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_in_viewport()
    page.keyboard.press("?")
    press(page, RATED + "a")
    judging.wait_for_question(page, 4)
    viewing.wait_until_painted(page)
    expect(page.get_by_role("button", name="Full screen")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Shift+E")
    expect(page.get_by_role("button", name="Full screen")).to_have_attribute("aria-pressed", "false")


def test_with_two_pixels_of_the_device_to_one_a_box_comes_out_where_it_was_drawn(app, chromium):
    context = chromium.new_context(
        viewport={"width": 1440, "height": 900}, device_scale_factor=2, base_url=app.url
    )
    page = context.new_page()
    fill_sign_in(page, "ruth", PASSWORD)
    page.get_by_role("button", name="Sign out").wait_for()
    open_viewer(page, 5)
    canvas = page.locator(".pane canvas.image").first
    assert canvas.evaluate("canvas => canvas.width / canvas.clientWidth") == pytest.approx(2, abs=0.01)
    here = place(page)
    drag(page, here.of_pixel(400, 500), here.of_pixel(700, 800))
    assert last_box(app, page, 5, 2) == pytest.approx([400, 500, 700, 800], abs=1)
    context.close()


def test_a_box_is_drawn_sized_and_moved_by_keys_alone(app, viewer):
    page = viewer(6)
    page.locator(".pane").first.focus()
    page.keyboard.press("Shift+N")
    x0, y0, x1, y1 = last_box(app, page, 6, 2)
    page.keyboard.press("Control+ArrowRight")
    page.keyboard.press("Control+Shift+ArrowUp")
    page.keyboard.press("ArrowLeft")
    said = page.locator(".spoken")
    expect(said).to_contain_text(f"column {round(x0 - 1)}, row {round(y0)}.")
    expect(said).to_contain_text("Box 2 of 2, PA: no label, yours")
    page.keyboard.press("Enter")
    page.get_by_label("Label of the box", exact=True).fill("nodule")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("nodule")
    press(page, RATED + "v")
    judging.wait_for_question(page, 7)
    [verdict] = judging.verdicts(app, 6)
    own = json.loads(verdict.correction)["boxes"][-1]
    assert own["box"] == pytest.approx([x0 - 1, y0, x1, y1 - 10], abs=0.02)


def test_the_window_is_set_and_the_image_moved_by_keys(viewer):
    page = viewer(7)
    before = viewing.status(page).text_content()
    page.keyboard.press(".")
    expect(viewing.status(page)).not_to_have_text(before)
    expect(page.get_by_label("Window", exact=True)).to_have_value("-1")  # with the mouse
    greys = viewing.greys(page)
    press(page, "+++")
    page.keyboard.press("Shift+ArrowRight")
    expect(viewing.status(page)).to_contain_text("%")
    assert viewing.greys(page) != greys


def test_the_list_of_many_boxes_scrolls_down_and_not_aside(app, viewer):
    page = viewer(8)
    here = place(page)
    for step in range(8):
        drag(page, here.of_pixel(100 + 90 * step, 600), here.of_pixel(160 + 90 * step, 660))
    last_box(app, page, 8, 9)
    boxes = page.locator(".boxes")
    assert boxes.evaluate("each => each.scrollWidth <= each.clientWidth")
    expect(page.locator(".boxes li").last).to_be_in_viewport()
    assert place(page) == here  # the image has not moved under the pointer


def test_the_label_of_the_next_box_is_not_carried_to_the_next_question(viewer):
    page = viewer(9)
    page.get_by_label("label of the next box").fill("nodule")
    page.keyboard.press("Escape")
    press(page, RATED + "a")
    judging.wait_for_question(page, 10)
    expect(page.get_by_label("label of the next box")).to_have_value("")


def take_back(app, question):
    with unit_of_work(app.engine) as db:
        db.execute(
            update(AssignmentRow)
            .where(AssignmentRow.question_id == question)
            .values(state=AssignmentState.WITHDRAWN)
        )


def test_the_pictures_of_a_question_that_was_taken_back_go_with_the_next_action(app, viewer):
    page = viewer(11)
    take_back(app, 11)
    page.keyboard.press("4")  # the draft would be stored, which is refused
    expect(page.get_by_text("Not assigned to you.")).to_be_visible()
    expect(page.locator(".pane")).to_have_count(0)
    expect(page.get_by_text("This question is no longer assigned to you.")).to_be_visible()
    press(page, "5a")  # saves nothing, and the message stays
    page.get_by_role("button", name="Continue with the next question").click()
    viewing.wait_until_painted(page)
    assert "question=11" not in page.url
    assert judging.verdicts(app, 11) == []


def test_so_they_do_in_the_plain_editor(app, signed_in):
    page = judging.open_review(signed_in("ruth"), 12)
    take_back(app, 12)
    page.keyboard.press("4")
    expect(page.get_by_text("This question is no longer assigned to you.")).to_be_visible()
    expect(page.locator(".stage canvas")).to_have_count(0)
    page.get_by_role("button", name="Continue with the next question").click()
    judging.wait_for_picture(page)
