"""The full viewer in a browser: viewing changes no box, and a box appears where it was drawn."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.e2e import review_helpers, viewer_helpers
from tests.e2e.review_helpers import draw, load_drafts, load_verdicts, open_review, press, wait_for_question
from tests.e2e.viewer_helpers import (
    drag,
    draw_box,
    find_status_line,
    get_pane_position,
    open_viewer,
    sample_grey_levels,
)

pytestmark = [pytest.mark.browser, pytest.mark.full]

KEYS_OF_ALL_RATINGS = "4444yyh"


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return review_helpers.create_review_world(app, questions=16)


@pytest.fixture
def open_question(signed_in):
    """Return a function that opens a question in Ruth's viewer."""

    def open_at(question):
        return open_viewer(signed_in("ruth"), question)

    return open_at


def load_saved_boxes(app, question):
    [verdict] = load_verdicts(app, question)
    return json.loads(verdict.correction)["boxes"]


def test_adjusting_the_window_changes_grey_levels_but_no_box(app, open_question):
    page = open_question(1)
    old_grey_levels, old_status = sample_grey_levels(page), find_status_line(page).text_content()
    drag(page, (300, 400), (400, 460), button="right")
    page.wait_for_timeout(100)
    assert sample_grey_levels(page) != old_grey_levels
    assert find_status_line(page).text_content() != old_status
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    page.wait_for_timeout(300)
    assert "boxes" not in load_drafts(app, 1)


def test_box_is_saved_in_the_pixels_it_was_drawn_on(app, open_question):
    page = open_question(2)
    pane_position = get_pane_position(page)
    draw_box(page, pane_position.of_pixel(400, 500), pane_position.of_pixel(700, 800))
    press(page, KEYS_OF_ALL_RATINGS + "v")
    wait_for_question(page, 3)
    machine, own_box = load_saved_boxes(app, 2)
    assert machine["box"] == review_helpers.MACHINE_BOX
    assert own_box["box"] == pytest.approx([400, 500, 700, 800], abs=1)


def test_box_drawn_on_a_zoomed_and_rotated_image_is_saved_to_within_a_pixel(app, open_question):
    page = open_question(4)
    press(page, "l")
    viewer_helpers.wait_until_painted(page)
    page.keyboard.press("Shift+T")
    start = (round(get_pane_position(page).left) + 300, round(get_pane_position(page).top) + 250)
    page.mouse.move(*start)
    press(page, "o++++")  # 1.5 ** 4 = 506 %, centred on the pointer
    expect(find_status_line(page)).to_contain_text("506 %")
    x, y = get_pane_position(page, rotated=True).to_pixel(*start)
    draw_box(page, start, (start[0] + 81, start[1] + 162))
    press(page, KEYS_OF_ALL_RATINGS + "v")
    wait_for_question(page, 5)
    own_box = next(box for box in load_saved_boxes(app, 4) if box["radiograph"] == "lateral")
    zoom = 1.5**4
    # after a quarter turn to the right, down on screen increases x, and left on screen increases y
    assert own_box["box"] == pytest.approx([x, y - 81 / zoom, x + 162 / zoom, y], abs=1)


def test_undo_returns_to_the_initial_boxes(open_question):
    page = open_question(6)
    pane_position = get_pane_position(page)
    for step in range(3):
        draw_box(
            page, pane_position.of_pixel(400 + 100 * step, 500), pane_position.of_pixel(480 + 100 * step, 600)
        )
    expect(page.get_by_text("4 boxes")).to_be_visible()
    page.keyboard.press("Delete")
    expect(page.get_by_text("3 boxes")).to_be_visible()
    press(page, "uuuu")
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    page.keyboard.press("Control+y")
    expect(page.get_by_text("2 boxes")).to_be_visible()


def test_reloading_the_page_restores_the_boxes(app, open_question):
    page = open_question(7)
    pane_position = get_pane_position(page)
    draw_box(page, pane_position.of_pixel(400, 500), pane_position.of_pixel(700, 800))
    expect(page.get_by_text("Draft saved")).to_be_visible()
    page.reload()
    viewer_helpers.wait_until_painted(page)
    expect(page.get_by_text("2 boxes")).to_be_visible()
    own_box = json.loads(load_drafts(app, 7)["boxes"])[-1]
    assert own_box["box"] == pytest.approx([400, 500, 700, 800], abs=1)


def test_two_views_are_side_by_side_with_the_frontal_view_on_the_left(open_question):
    page = open_question(8)
    page.keyboard.press("Shift+L")
    expect(page.locator(".pane .name")).to_have_text(["PA", "LATERAL"])
    right_pane = get_pane_position(page, 1)
    draw_box(page, right_pane.of_pixel(400, 500), right_pane.of_pixel(600, 700))
    expect(page.locator(".boxes li.mine .size")).to_contain_text("200 × 200 px LATERAL")
    page.keyboard.press("Shift+L")


def test_basic_viewer_saves_the_same_box_for_the_same_drag(app, open_question):
    page = open_question(9)
    pane_position = get_pane_position(page)
    draw_box(page, pane_position.of_pixel(400, 480), pane_position.of_pixel(600, 720))
    press(page, KEYS_OF_ALL_RATINGS + "v")
    wait_for_question(page, 10)
    open_review(page, 10)
    draw(page, (0.4, 0.4), (0.6, 0.6))
    press(page, KEYS_OF_ALL_RATINGS + "v")
    wait_for_question(page, 11)
    assert load_saved_boxes(app, 9)[-1]["box"] == pytest.approx(load_saved_boxes(app, 10)[-1]["box"], abs=3)


def test_selected_box_is_moved_by_arrows_and_labelled_by_enter(app, open_question):
    page = open_question(11)
    pane_position = get_pane_position(page)
    draw_box(page, pane_position.of_pixel(400, 500), pane_position.of_pixel(700, 800))
    old_position = page.locator(".boxes li.mine input").get_attribute("aria-label")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    assert page.locator(".boxes li.mine input").get_attribute("aria-label") != old_position
    page.keyboard.press("Enter")
    page.get_by_label("Label of the box", exact=True).fill("left lung")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+S")
    expect(page.get_by_text("3 boxes")).to_be_visible()
    press(page, KEYS_OF_ALL_RATINGS + "v")
    wait_for_question(page, 12)
    _machine, own_box, mirrored_box = load_saved_boxes(app, 11)
    assert own_box["box"] == pytest.approx([401, 510, 701, 810], abs=1)
    assert (own_box["label"], mirrored_box["label"]) == ("left lung", "right lung")
    assert mirrored_box["box"] == pytest.approx([299, 510, 599, 810], abs=1)


def test_form_keys_work_while_a_box_is_selected(app, open_question):
    page = open_question(13)
    pane_position = get_pane_position(page)
    draw_box(page, pane_position.of_pixel(400, 500), pane_position.of_pixel(700, 800))
    press(page, KEYS_OF_ALL_RATINGS)
    expect(page.locator('[data-step="clinical_quality"] [aria-pressed="true"]')).to_have_text("4")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    wait_for_question(page, 14)


def test_a_moved_machine_box_counts_as_the_reviewers_own(open_question):
    page = open_question(15)
    expect(page.locator(".boxes li.original")).to_have_count(1)
    pane_position = get_pane_position(page)
    x0, y0, x1, y1 = review_helpers.MACHINE_BOX
    page.mouse.click(
        *pane_position.of_pixel((x0 + x1) / 2, (y0 + y1) / 2)
    )  # a click selects the box and draws none
    drag(
        page, pane_position.of_pixel(x0 + 50, y0), pane_position.of_pixel(x0 + 100, y0 + 20)
    )  # between two handles
    expect(page.locator(".boxes li.mine")).to_have_count(1)
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    x, y = re.findall(r"\d+", page.locator(".boxes li.mine input").get_attribute("aria-label"))
    assert [int(x), int(y)] == pytest.approx([x0 + 50, y0 + 20], abs=1)
    expect(page.locator(".boxes li.mine .size")).to_contain_text("200 × 200")


def test_a_double_click_in_a_box_labels_it(open_question):
    page = open_question(14)
    page.mouse.dblclick(*get_pane_position(page).of_pixel(200, 300))
    page.get_by_label("Label of the box", exact=True).fill("mass")
    page.keyboard.press("Enter")
    expect(page.locator(".boxes li.mine input")).to_have_value("mass")
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()


def test_the_list_of_shortcuts_includes_those_of_form_and_viewer(open_question):
    page = open_question(16)
    press(page, "?")
    sheet = page.get_by_role("dialog", name="Shortcuts")
    expect(sheet.get_by_text("accept and continue")).to_be_visible()
    expect(sheet.get_by_text("full screen", exact=True)).to_be_visible()


def test_basic_viewer_opens_if_the_full_viewer_cannot_be_loaded(signed_in):
    page = signed_in("ruth")
    page.route("**/viewer.js", lambda route: route.abort())
    page.goto("/review?batch=1&question=16")
    review_helpers.wait_for_painted_image(page)
    expect(page.get_by_text("The viewer could not start. This is the basic viewer.")).to_be_visible()


def test_person_can_switch_to_the_basic_viewer_and_back(open_question):
    page = open_question(16)
    page.get_by_role("button", name="Use basic viewer").click()
    review_helpers.wait_for_painted_image(page)
    expect(page.locator(".pane")).to_have_count(0)
    expect(page.get_by_role("button", name="Move, resize")).to_be_visible()
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    page.get_by_role("button", name="Use full viewer").click()
    viewer_helpers.wait_until_painted(page)
    expect(page.locator(".stage canvas.upper-canvas")).to_have_count(0)
    expect(page.get_by_role("toolbar", name="Radiograph")).to_be_visible()
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()


def test_8_bit_image_is_shown_with_a_notice_if_the_pixel_data_cannot_be_loaded(signed_in):
    page = signed_in("ruth")
    page.route("**/pixels/**", lambda route: route.fulfill(status=500, json={"error": "broken"}))
    open_viewer(page, 16)
    expect(page.get_by_text("8-bit display: the full image data could not be loaded")).to_be_visible()
