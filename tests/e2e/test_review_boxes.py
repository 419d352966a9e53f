"""Boxes in a browser: a box drawn and saved at once is not lost, and every change of a box is saved."""

import json
from contextlib import suppress

import pytest
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import expect

from tests.e2e import review_helpers
from tests.e2e.review_helpers import draw, load_verdicts, open_review, press, wait_for_question

pytestmark = [pytest.mark.browser, pytest.mark.full]

#: On how many questions a box is drawn and saved at once, in the short form and in `make soak`.
FEW, MANY = 6, 20
LAST_RACE_QUESTION = FEW + MANY  # the last of these questions; the other tests start after it
KEYS_OF_ALL_RATINGS = "4444yyh"


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return review_helpers.create_review_world(app, questions=LAST_RACE_QUESTION + 7, per_exam=4)


def load_boxes(app, question):
    [verdict] = load_verdicts(app, question)
    return json.loads(verdict.correction)["boxes"]


@pytest.mark.parametrize(("tries", "first"), [(FEW, 1), pytest.param(MANY, FEW + 1, marks=pytest.mark.soak)])
def test_a_box_drawn_and_saved_at_once_is_never_lost(app, signed_in, tries, first):
    page = open_review(signed_in("ruth"), first)
    expected = {}
    for number in range(first, first + tries):
        wait_for_question(page, number)
        review_helpers.wait_for_painted_image(page)
        press(page, KEYS_OF_ALL_RATINGS)
        offset = (number - first) / 100  # each box differs
        expected[number] = draw(page, (0.35 + offset, 0.3), (0.6, 0.4 + offset))
        press(page, "v")
    wait_for_question(page, first + tries)
    for number, box in expected.items():
        machine, own_box = load_boxes(app, number)
        assert machine["box"] == review_helpers.MACHINE_BOX
        assert own_box["box"] == pytest.approx(box, abs=1), f"question {number}"


def test_boxes_are_relabelled_deleted_and_undone(app, signed_in):
    page = open_review(signed_in("ruth"), LAST_RACE_QUESTION + 2)
    draw(page, (0.5, 0.3), (0.7, 0.5))
    expect(page.get_by_text("2 boxes")).to_be_visible()
    label = page.locator(".boxes li.mine input")
    label.fill("left lung")
    label.press("Enter")
    page.locator(".boxes li.original").get_by_role("button").click()
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    press(page, "u")
    expect(page.get_by_text("2 boxes")).to_be_visible()
    page.locator(".boxes li.original").get_by_role("button").click()
    press(page, KEYS_OF_ALL_RATINGS + "v")
    wait_for_question(page, LAST_RACE_QUESTION + 3)
    [own_box] = load_boxes(app, LAST_RACE_QUESTION + 2)
    assert own_box["label"] == "left lung"


def test_a_new_box_takes_the_label_typed_at_once_and_no_letter_acts_as_a_shortcut(app, signed_in):
    page = open_review(signed_in("ruth"), LAST_RACE_QUESTION + 7)
    expect(page.get_by_label("label of the next box")).to_have_count(0)
    bounds = review_helpers.find_canvas(page).bounding_box()
    page.mouse.move(bounds["x"] + bounds["width"] * 0.5, bounds["y"] + bounds["height"] * 0.3)
    page.mouse.down()
    page.mouse.move(bounds["x"] + bounds["width"] * 0.7, bounds["y"] + bounds["height"] * 0.5, steps=3)
    page.mouse.up()
    page.get_by_label("Label of the box", exact=True).wait_for()
    page.keyboard.type("nyax node")  # each of these letters is a shortcut
    page.keyboard.press("Enter")
    expect(page.locator(".boxes li.mine input")).to_have_value("nyax node")
    expect(page.locator('.judgement [aria-pressed="true"]')).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_text("")
    press(page, "u")  # drawing and labelling are one step
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()


def test_a_press_beside_the_label_field_keeps_the_label_and_draws_nothing(app, signed_in):
    page = open_review(signed_in("ruth"), LAST_RACE_QUESTION + 7)
    bounds = review_helpers.find_canvas(page).bounding_box()

    def drag(start, end):
        page.mouse.move(bounds["x"] + start[0] * bounds["width"], bounds["y"] + start[1] * bounds["height"])
        page.mouse.down()
        page.mouse.move(
            bounds["x"] + end[0] * bounds["width"], bounds["y"] + end[1] * bounds["height"], steps=4
        )
        page.mouse.up()

    field = page.get_by_label("Label of the box", exact=True)
    drag((0.5, 0.1), (0.6, 0.2))
    field.wait_for()
    page.keyboard.type("left lung")
    drag((0.4, 0.6), (0.6, 0.8))
    expect(page.locator(".boxes li.mine input")).to_have_value("left lung")
    expect(field).to_have_count(0)
    for _ in range(5):  # a press while the canvas draws the labelled box does nothing
        drag((0.4, 0.6), (0.6, 0.8))
        with suppress(PlaywrightTimeout):
            field.wait_for(timeout=20_000)
            break
    page.keyboard.type("rib")
    page.keyboard.press("Enter")
    expect(page.locator(".boxes li.mine input").last).to_have_value("rib")
    expect(page.get_by_text("3 boxes")).to_be_visible()


def test_imported_box_can_be_moved_by_mouse(app, signed_in):
    page = open_review(signed_in("ruth"), LAST_RACE_QUESTION + 3)
    press(page, "b")
    bounds = review_helpers.find_canvas(page).bounding_box()
    scale = bounds["width"] / review_helpers.COLUMNS
    middle = (round(bounds["x"] + 200 * scale), round(bounds["y"] + 300 * scale))
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 30, middle[1] + 10)
    page.mouse.move(middle[0] + 60, middle[1] + 20)
    page.mouse.up()
    press(page, KEYS_OF_ALL_RATINGS + "v")
    wait_for_question(page, LAST_RACE_QUESTION + 4)
    [moved] = load_boxes(app, LAST_RACE_QUESTION + 3)
    x_shift, y_shift = 60 / scale, 20 / scale
    assert moved["box"] == pytest.approx(
        [100 + x_shift, 200 + y_shift, 300 + x_shift, 400 + y_shift], abs=1.5
    )


def test_a_box_on_one_question_does_not_appear_on_the_next_question_of_the_same_exam(app, signed_in):
    page = open_review(signed_in("ruth"), LAST_RACE_QUESTION + 4)
    draw(page, (0.5, 0.3), (0.7, 0.5))
    expect(page.get_by_text("2 boxes")).to_be_visible()
    press(page, "j")
    wait_for_question(page, LAST_RACE_QUESTION + 5)
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    press(page, KEYS_OF_ALL_RATINGS + "a")
    wait_for_question(page, LAST_RACE_QUESTION + 6)
    press(page, "k")
    wait_for_question(page, LAST_RACE_QUESTION + 5)
    press(page, "k")
    wait_for_question(page, LAST_RACE_QUESTION + 4)
    assert [verdict.decision for verdict in load_verdicts(app, LAST_RACE_QUESTION + 5)] == ["accept"]
    expect(page.get_by_text("2 boxes")).to_be_visible()
