"""The review page in a browser: keys, corrections, boxes, drafts, and saves that fail."""

import json

import pytest
from playwright.sync_api import expect

from tests.e2e import review_helpers
from tests.e2e.review_helpers import draw, load_verdicts, open_review, press, wait_for_question

pytestmark = pytest.mark.browser

KEYS_OF_ALL_RATINGS = "5443yym"  # four ratings, needs radiology, more than recall, medium


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return review_helpers.create_review_world(app, questions=16)


@pytest.fixture
def open_question(signed_in):
    """Ruth's review page at that question."""

    def open_at(question):
        return open_review(signed_in("ruth"), question)

    return open_at


def test_eight_keys_accept_a_question_without_the_mouse(app, open_question):
    page = open_question(1)
    press(page, KEYS_OF_ALL_RATINGS + "a")
    wait_for_question(page, 2)
    [verdict] = load_verdicts(app, 1)
    assert (verdict.decision, verdict.revision) == ("accept", 1)
    ratings = (verdict.clinical_quality, verdict.explanation_clarity, verdict.factual_correctness)
    assert (*ratings, verdict.image_alignment) == (5, 4, 4, 3)
    assert (verdict.domain_specific, verdict.cognitive_depth, verdict.difficulty) == (True, True, "medium")


def test_saved_verdict_is_shown_with_its_time(app, open_question):
    page = open_question(2)
    press(page, KEYS_OF_ALL_RATINGS + "a")
    expect(page.locator(".saved")).to_have_text(
        f"Saved {get_verdict_time(app, page, 2)} (accepted)", timeout=10_000
    )


def get_verdict_time(app, page, question):
    [verdict] = review_helpers.wait_for_verdicts(app, page, question, 1)
    time_format = "{hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false}"
    return page.evaluate(
        f"iso => new Date(iso).toLocaleTimeString([], {time_format})", verdict.given_at.isoformat()
    )


def test_a_corrected_key_and_a_drawn_box_are_saved_in_original_pixels(app, open_question):
    page = open_question(3)
    drawn_box = draw(page, (0.5, 0.3), (0.7, 0.55))
    page.get_by_role("button", name="C is not the key").click()
    press(page, KEYS_OF_ALL_RATINGS)
    press(page, "fc")  # a kind of error: wrong key
    press(page, "v")
    wait_for_question(page, 4)
    [verdict] = load_verdicts(app, 3)
    correction = json.loads(verdict.correction)
    assert correction["answer"] == [2]
    assert json.loads(verdict.errors) == ["wrong key"]
    machine, own_box = correction["boxes"]
    assert machine["box"] == review_helpers.MACHINE_BOX
    assert own_box["radiograph"] == "pa"
    assert own_box["box"] == pytest.approx(drawn_box, abs=1)


@pytest.mark.full
def test_click_on_the_image_draws_no_box(app, open_question):
    page = open_question(4)
    review_helpers.find_canvas(page).click(position={"x": 200, "y": 150})
    page.wait_for_timeout(700)  # the canvas reports the box after 200 ms
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    press(page, KEYS_OF_ALL_RATINGS + "a")
    wait_for_question(page, 5)
    [verdict] = load_verdicts(app, 4)
    assert verdict.decision == "accept"


def test_the_message_names_the_missing_field_and_nothing_is_saved(app, open_question):
    page = open_question(5)
    press(page, "5443ya")
    expect(page.get_by_role("alert")).to_have_text(
        "Still to judge: more than recall, your difficulty rating."
    )
    assert load_verdicts(app, 5) == []


def test_z_reopens_the_last_verdict_as_a_new_revision(app, open_question):
    page = open_question(6)
    press(page, KEYS_OF_ALL_RATINGS + "a")
    wait_for_question(page, 7)
    page.wait_for_timeout(300)
    press(page, "z")
    wait_for_question(page, 6)
    expect(page.get_by_role("alert")).to_contain_text("Saving creates revision 2, which replaces it.")
    press(page, "fn")  # wording
    press(page, "x")
    first, second = review_helpers.wait_for_verdicts(app, page, 6, 2)
    assert (first.revision, first.decision) == (1, "accept")
    assert (second.revision, second.decision) == (2, "reject")
    assert second.clinical_quality == 5


def test_reloading_the_page_restores_the_input(app, open_question):
    page = open_question(8)
    press(page, "54")
    draw(page, (0.4, 0.4), (0.6, 0.6))
    page.get_by_label("Comment").fill("The left base is cut off.")
    page.get_by_label("Stem", exact=True).fill("Which finding is on radiograph 8? Look again.")
    page.wait_for_timeout(900)  # drafts are sent after 400 ms without input
    page.reload()
    review_helpers.wait_for_painted_image(page)
    expect(page.get_by_label("Comment")).to_have_value("The left base is cut off.")
    assert review_helpers.get_shown_stem(page) == "Which finding is on radiograph 8? Look again."
    expect(page.get_by_text("2 boxes")).to_be_visible()
    expect(page.locator('[data-step="clinical_quality"] [aria-pressed="true"]')).to_have_text("5")


def test_input_typed_just_before_leaving_is_kept(app, open_question):
    page = open_question(9)
    page.get_by_label("Comment").fill("Typed and gone.")
    page.reload()
    review_helpers.wait_for_painted_image(page)
    expect(page.get_by_label("Comment")).to_have_value("Typed and gone.")


def test_save_without_a_response_is_reported_and_can_be_retried(app, open_question):
    page = open_question(10)
    press(page, KEYS_OF_ALL_RATINGS)
    page.route("**/review/verdict", lambda route: route.abort())
    press(page, "a")
    expect(page.get_by_role("alert")).to_contain_text("Not saved. The server did not answer.")
    assert load_verdicts(app, 10) == []
    page.unroute("**/review/verdict")
    press(page, "t")
    wait_for_question(page, 11)
    assert len(load_verdicts(app, 10)) == 1


def test_verdict_from_a_second_tab_is_refused(app, open_question):
    page = open_question(11)
    second_tab = page.context.new_page()
    open_review(second_tab, 11)
    press(page, KEYS_OF_ALL_RATINGS)
    press(second_tab, "1111nnh")
    press(page, "a")
    wait_for_question(page, 12)
    press(second_tab, "a")
    expect(second_tab.get_by_role("alert").filter(has_text="Not saved")).to_be_visible()
    assert [verdict.clinical_quality for verdict in load_verdicts(app, 11)] == [5]
    second_tab.get_by_role("button", name="Show saved verdict").click()
    expect(second_tab.get_by_role("alert")).to_contain_text("Saving creates revision 2")


def test_question_is_skipped_with_its_reason(app, open_question):
    page = open_question(13)
    press(page, "s")
    page.get_by_label("Reason for skipping").fill("both views are rotated")
    page.keyboard.press("Enter")
    page.wait_for_function("() => !location.search.includes('question=13')")
    assert review_helpers.load_skip_reasons(app, 13) == ["both views are rotated"]
    assert load_verdicts(app, 13) == []


@pytest.mark.full
def test_the_difference_is_shown_before_saving(open_question):
    page = open_question(14)
    page.get_by_label("Stem", exact=True).fill("Which sign is on radiograph 14?")
    changes = page.get_by_label("Corrections")
    expect(changes.locator("del")).to_have_text("finding")
    expect(changes.locator("ins")).to_have_text("sign")
    changes.get_by_role("button", name="reset Stem").click()
    assert review_helpers.get_shown_stem(page) == "Which finding is on radiograph 14?"


@pytest.mark.full
def test_emptied_category_is_restored_and_is_no_correction(open_question):
    page = open_question(14)
    category = page.get_by_label("Category", exact=True)
    old_category = category.input_value()
    category.fill("Another")
    expect(page.get_by_label("Corrections").locator("ins")).to_have_text("Another")
    category.fill("")
    expect(page.get_by_label("Corrections")).to_have_count(0)
    category.blur()
    expect(category).to_have_value(old_category)
    assert old_category


@pytest.mark.full
def test_keys_typed_into_a_text_field_are_text(app, open_question):
    page = open_question(15)
    page.get_by_label("Comment").click()
    page.keyboard.type("5443yyma")
    expect(page.get_by_label("Comment")).to_have_value("5443yyma")
    assert load_verdicts(app, 15) == []


@pytest.mark.full
def test_looking_time_is_saved_separately(app, open_question):
    page = open_question(16)
    page.wait_for_timeout(1500)
    press(page, KEYS_OF_ALL_RATINGS + "a")
    [verdict] = review_helpers.wait_for_verdicts(app, page, 16, 1)
    assert 0 < verdict.seconds_looking <= verdict.seconds
    assert verdict.seconds_away == 0
