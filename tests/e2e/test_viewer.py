"""The reading-room viewer in a browser: viewing changes no box, and a box appears where it was drawn."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.e2e import judging, viewing
from tests.e2e.judging import drafts, draw, open_review, press, verdicts, wait_for_question
from tests.e2e.viewing import drag, greys, open_viewer, place, status

pytestmark = [pytest.mark.browser, pytest.mark.full]

RATED = "4444yyh"


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return judging.world_to_judge(app, questions=16)


@pytest.fixture
def viewer(signed_in):
    """Ruth's review page at that question."""

    def open_at(question):
        return open_viewer(signed_in("ruth"), question)

    return open_at


def saved_boxes(app, question):
    [verdict] = verdicts(app, question)
    return json.loads(verdict.correction)["boxes"]


def test_a_window_drag_changes_grey_levels_and_no_box(app, viewer):
    page = viewer(1)
    before, said = greys(page), status(page).text_content()
    drag(page, (300, 400), (400, 460), button="right")
    page.wait_for_timeout(100)
    assert greys(page) != before
    assert status(page).text_content() != said
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    page.wait_for_timeout(300)
    assert "boxes" not in drafts(app, 1)


def test_a_box_comes_out_in_the_pixels_that_it_was_drawn_on(app, viewer):
    page = viewer(2)
    here = place(page)
    drag(page, here.of_pixel(400, 500), here.of_pixel(700, 800))
    press(page, RATED + "v")
    wait_for_question(page, 3)
    machine, own = saved_boxes(app, 2)
    assert machine["box"] == judging.MACHINE_BOX
    assert own["box"] == pytest.approx([400, 500, 700, 800], abs=1)


def test_a_box_drawn_zoomed_and_turned_on_the_lateral_comes_out_to_within_a_pixel(app, viewer):
    page = viewer(4)
    press(page, "l")
    viewing.wait_until_painted(page)
    page.keyboard.press("Shift+T")
    start = (round(place(page).left) + 300, round(place(page).top) + 250)
    page.mouse.move(*start)
    press(page, "o++++")  # 1.5 ** 4 = 506 %, centred on the pointer
    expect(status(page)).to_contain_text("506 %")
    x, y = place(page, turned=True).to_pixel(*start)
    drag(page, start, (start[0] + 81, start[1] + 162))
    press(page, RATED + "v")
    wait_for_question(page, 5)
    own = next(box for box in saved_boxes(app, 4) if box["radiograph"] == "lateral")
    zoom = 1.5**4
    # a quarter turn to the right: down on screen is along the columns, left on screen is down the rows
    assert own["box"] == pytest.approx([x, y - 81 / zoom, x + 162 / zoom, y], abs=1)


def test_undo_goes_back_to_the_start(viewer):
    page = viewer(6)
    here = place(page)
    for step in range(3):
        drag(page, here.of_pixel(400 + 100 * step, 500), here.of_pixel(480 + 100 * step, 600))
    expect(page.get_by_text("4 boxes")).to_be_visible()
    page.keyboard.press("Delete")
    expect(page.get_by_text("3 boxes")).to_be_visible()
    press(page, "uuuu")
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.keyboard.press("Control+y")
    expect(page.get_by_text("2 boxes")).to_be_visible()


def test_reloading_the_page_gives_boxes_back(app, viewer):
    page = viewer(7)
    here = place(page)
    drag(page, here.of_pixel(400, 500), here.of_pixel(700, 800))
    expect(page.get_by_text("Draft saved")).to_be_visible()
    page.reload()
    viewing.wait_until_painted(page)
    expect(page.get_by_text("2 boxes")).to_be_visible()
    own = json.loads(drafts(app, 7)["boxes"])[-1]
    assert own["box"] == pytest.approx([400, 500, 700, 800], abs=1)


def test_two_views_hang_side_by_side_frontal_left(viewer):
    page = viewer(8)
    page.keyboard.press("Shift+L")
    expect(page.locator(".pane .name")).to_have_text(["PA", "LATERAL"])
    right = place(page, 1)
    drag(page, right.of_pixel(400, 500), right.of_pixel(600, 700))
    expect(page.locator(".boxes li.mine .size")).to_contain_text("200 × 200 LATERAL")
    page.keyboard.press("Shift+L")


def test_the_plain_editor_gives_the_same_box_for_the_same_drag(app, viewer):
    page = viewer(9)
    here = place(page)
    drag(page, here.of_pixel(400, 480), here.of_pixel(600, 720))
    press(page, RATED + "v")
    wait_for_question(page, 10)
    open_review(page, 10)
    draw(page, (0.4, 0.4), (0.6, 0.6))
    press(page, RATED + "v")
    wait_for_question(page, 11)
    assert saved_boxes(app, 9)[-1]["box"] == pytest.approx(saved_boxes(app, 10)[-1]["box"], abs=3)


def test_a_chosen_box_is_moved_by_arrows_and_labelled_by_enter(app, viewer):
    page = viewer(11)
    here = place(page)
    drag(page, here.of_pixel(400, 500), here.of_pixel(700, 800))
    before = page.locator(".boxes li.mine input").get_attribute("aria-label")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    assert page.locator(".boxes li.mine input").get_attribute("aria-label") != before
    page.keyboard.press("Enter")
    page.get_by_label("Label of the box", exact=True).fill("left lung")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+S")
    expect(page.get_by_text("3 boxes")).to_be_visible()
    press(page, RATED + "v")
    wait_for_question(page, 12)
    _machine, own, copy = saved_boxes(app, 11)
    assert own["box"] == pytest.approx([401, 510, 701, 810], abs=1)
    assert (own["label"], copy["label"]) == ("left lung", "right lung")
    assert copy["box"] == pytest.approx([299, 510, 599, 810], abs=1)


def test_keys_of_the_form_are_the_forms_while_a_box_is_chosen(app, viewer):
    page = viewer(13)
    here = place(page)
    drag(page, here.of_pixel(400, 500), here.of_pixel(700, 800))
    press(page, RATED)
    expect(page.locator('[data-step="clinical_quality"] [aria-pressed="true"]')).to_have_text("4")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    wait_for_question(page, 14)


def test_the_machines_box_is_moved_by_its_line_and_only_then_not_the_machines(viewer):
    page = viewer(15)
    expect(page.locator(".boxes li.machine")).to_have_count(1)
    here = place(page)
    x0, y0, x1, y1 = judging.MACHINE_BOX
    page.mouse.click(*here.of_pixel((x0 + x1) / 2, (y0 + y1) / 2))  # a click selects the box and draws none
    drag(page, here.of_pixel(x0 + 50, y0), here.of_pixel(x0 + 100, y0 + 20))  # between two handles
    expect(page.locator(".boxes li.mine")).to_have_count(1)
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    x, y = re.findall(r"\d+", page.locator(".boxes li.mine input").get_attribute("aria-label"))
    assert [int(x), int(y)] == pytest.approx([x0 + 50, y0 + 20], abs=1)
    expect(page.locator(".boxes li.mine .size")).to_contain_text("200 × 200")


def test_a_double_click_in_a_box_labels_it(viewer):
    page = viewer(14)
    page.mouse.dblclick(*place(page).of_pixel(200, 300))
    page.get_by_label("Label of the box", exact=True).fill("mass")
    page.keyboard.press("Enter")
    expect(page.locator(".boxes li.mine input")).to_have_value("mass")
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()


def test_the_key_sheet_has_the_keys_of_both(viewer):
    page = viewer(16)
    press(page, "?")
    sheet = page.get_by_role("dialog", name="Keys")
    expect(sheet.get_by_text("accept and continue")).to_be_visible()
    expect(sheet.get_by_text("full screen")).to_be_visible()


def test_where_the_viewer_can_not_be_loaded_the_plain_editor_is_there(signed_in):
    page = signed_in("ruth")
    page.route("**/viewer.js", lambda route: route.abort())
    page.goto("/review?batch=1&question=16")
    judging.wait_for_picture(page)
    expect(page.get_by_text("The viewer could not start. This is the basic viewer.")).to_be_visible()


def test_the_plain_editor_may_be_chosen_and_left_again(viewer):
    page = viewer(16)
    page.get_by_role("button", name="Basic viewer").click()
    judging.wait_for_picture(page)
    expect(page.locator(".pane")).to_have_count(0)
    expect(page.get_by_role("button", name="Move, resize")).to_be_visible()
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    page.get_by_role("button", name="Full viewer").click()
    viewing.wait_until_painted(page)
    expect(page.locator(".stage canvas.upper-canvas")).to_have_count(0)
    expect(page.get_by_role("toolbar", name="Radiograph")).to_be_visible()
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()


def test_where_the_matrix_can_not_be_had_a_picture_of_8_bits_is_shown_and_said_so(signed_in):
    page = signed_in("ruth")
    page.route("**/pixels/**", lambda route: route.fulfill(status=500, json={"error": "broken"}))
    open_viewer(page, 16)
    expect(page.get_by_text("8-bit display: the full image data could not be loaded")).to_be_visible()
