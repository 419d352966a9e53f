"""The review page in a browser: keys, corrections, boxes, drafts, and saves that fail."""

import json

import pytest
from playwright.sync_api import expect

from tests.e2e import judging
from tests.e2e.judging import draw, open_review, press, verdicts, wait_for_question

pytestmark = pytest.mark.browser

RATED = "5443yym"  # four ratings, needs radiology, more than recall, medium


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return judging.world_to_judge(app, questions=16)


@pytest.fixture
def review(signed_in):
    """Ruth's review page at that question."""

    def open_at(question):
        return open_review(signed_in("ruth"), question)

    return open_at


def test_eight_keys_and_no_mouse_accept_a_question(app, review):
    page = review(1)
    press(page, RATED + "a")
    wait_for_question(page, 2)
    [verdict] = verdicts(app, 1)
    assert (verdict.decision, verdict.revision) == ("accept", 1)
    ratings = (verdict.clinical_quality, verdict.explanation_clarity, verdict.factual_correctness)
    assert (*ratings, verdict.image_alignment) == (5, 4, 4, 3)
    assert (verdict.domain_specific, verdict.cognitive_depth, verdict.difficulty) == (True, True, "medium")


def test_what_is_saved_is_told_with_its_time(app, review):
    page = review(2)
    press(page, RATED + "a")
    expect(page.locator(".saved")).to_have_text(
        f"Saved {verdict_time(app, page, 2)} (accept)", timeout=10_000
    )


def verdict_time(app, page, question):
    [verdict] = judging.wait_for_verdicts(app, page, question, 1)
    form = "{hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false}"
    return page.evaluate(f"iso => new Date(iso).toLocaleTimeString([], {form})", verdict.given_at.isoformat())


def test_a_corrected_key_and_a_drawn_box_are_saved_in_original_pixels(app, review):
    page = review(3)
    drawn = draw(page, (0.5, 0.3), (0.7, 0.55))
    page.get_by_role("button", name="C is not the key").click()
    press(page, RATED)
    press(page, "fc")  # a kind of error: wrong key
    press(page, "v")
    wait_for_question(page, 4)
    [verdict] = verdicts(app, 3)
    correction = json.loads(verdict.correction)
    assert correction["answer"] == [2]
    assert json.loads(verdict.errors) == ["wrong key"]
    machine, own = correction["boxes"]
    assert machine["box"] == judging.MACHINE_BOX
    assert own["radiograph"] == "pa"
    assert own["box"] == pytest.approx(drawn, abs=1)


def test_a_click_on_the_picture_leaves_no_box(app, review):
    page = review(4)
    judging.canvas(page).click(position={"x": 200, "y": 150})
    page.wait_for_timeout(700)  # the canvas reports the box after 200 ms
    expect(page.get_by_text("1 box", exact=True)).to_be_visible()
    press(page, RATED + "a")
    wait_for_question(page, 5)
    [verdict] = verdicts(app, 4)
    assert verdict.decision == "accept"


def test_a_part_that_is_missing_is_named_and_nothing_is_saved(app, review):
    page = review(5)
    press(page, "5443ya")
    expect(page.get_by_role("alert")).to_have_text("Still to judge: more than recall, your difficulty.")
    assert verdicts(app, 5) == []


def test_z_reopens_the_last_verdict_as_one_that_supersedes_it(app, review):
    page = review(6)
    press(page, RATED + "a")
    wait_for_question(page, 7)
    page.wait_for_timeout(300)
    press(page, "z")
    wait_for_question(page, 6)
    expect(page.get_by_role("alert")).to_contain_text("Saving creates revision 2, which replaces it.")
    press(page, "fn")  # wording
    press(page, "x")
    first, second = judging.wait_for_verdicts(app, page, 6, 2)
    assert (first.revision, first.decision) == (1, "accept")
    assert (second.revision, second.decision) == (2, "reject")
    assert second.clinical_quality == 5


def test_reloading_the_page_gives_back_what_was_entered(app, review):
    page = review(8)
    press(page, "54")
    draw(page, (0.4, 0.4), (0.6, 0.6))
    page.get_by_label("Comment").fill("The left base is cut off.")
    page.get_by_label("Stem", exact=True).fill("Which finding is on radiograph 8? Look again.")
    page.wait_for_timeout(900)  # drafts are sent after 400 ms without input
    page.reload()
    judging.wait_for_picture(page)
    expect(page.get_by_label("Comment")).to_have_value("The left base is cut off.")
    assert judging.question_shown(page) == "Which finding is on radiograph 8? Look again."
    expect(page.get_by_text("2 boxes")).to_be_visible()
    expect(page.locator('[data-step="clinical_quality"] [aria-pressed="true"]')).to_have_text("5")


def test_what_was_typed_a_moment_before_leaving_is_kept(app, review):
    page = review(9)
    page.get_by_label("Comment").fill("Typed and gone.")
    page.reload()
    judging.wait_for_picture(page)
    expect(page.get_by_label("Comment")).to_have_value("Typed and gone.")


def test_a_save_that_gets_no_answer_says_so_and_is_kept_and_retried(app, review):
    page = review(10)
    press(page, RATED)
    page.route("**/judging/verdict", lambda route: route.abort())
    press(page, "a")
    expect(page.get_by_role("alert")).to_contain_text("Not saved. The server did not answer.")
    assert verdicts(app, 10) == []
    page.unroute("**/judging/verdict")
    press(page, "t")
    wait_for_question(page, 11)
    assert len(verdicts(app, 10)) == 1


def test_of_two_tabs_one_is_saved_and_the_other_is_told(app, review):
    page = review(11)
    other = page.context.new_page()
    open_review(other, 11)
    press(page, RATED)
    press(other, "1111nnh")
    press(page, "a")
    wait_for_question(page, 12)
    press(other, "a")
    expect(other.get_by_role("alert").filter(has_text="Not saved")).to_be_visible()
    assert [verdict.clinical_quality for verdict in verdicts(app, 11)] == [5]
    other.get_by_role("button", name="Show saved verdict").click()
    expect(other.get_by_role("alert")).to_contain_text("Saving creates revision 2")


def test_a_question_is_skipped_with_its_reason_and_comes_back_at_the_end(app, review):
    page = review(13)
    press(page, "s")
    page.get_by_label("Reason for skipping").fill("both views are rotated")
    page.keyboard.press("Enter")
    page.wait_for_function("() => !location.search.includes('question=13')")
    assert judging.skips(app, 13) == ["both views are rotated"]
    assert verdicts(app, 13) == []


def test_the_difference_is_shown_before_saving(review):
    page = review(14)
    page.get_by_label("Stem", exact=True).fill("Which sign is on radiograph 14?")
    changes = page.get_by_label("Corrections")
    expect(changes.locator("del")).to_have_text("finding")
    expect(changes.locator("ins")).to_have_text("sign")
    changes.get_by_role("button", name="reset Stem").click()
    assert judging.question_shown(page) == "Which finding is on radiograph 14?"


def test_a_category_that_is_emptied_comes_back_and_is_no_correction(review):
    page = review(14)
    category = page.get_by_label("Category", exact=True)
    before = category.input_value()
    category.fill("Another")
    expect(page.get_by_label("Corrections").locator("ins")).to_have_text("Another")
    category.fill("")
    expect(page.get_by_label("Corrections")).to_have_count(0)
    category.blur()
    expect(category).to_have_value(before)
    assert before


def test_keys_typed_into_a_text_are_text(app, review):
    page = review(15)
    page.get_by_label("Comment").click()
    page.keyboard.type("5443yyma")
    expect(page.get_by_label("Comment")).to_have_value("5443yyma")
    assert verdicts(app, 15) == []


def test_time_of_looking_is_saved_apart(app, review):
    page = review(16)
    page.wait_for_timeout(1500)
    press(page, RATED + "a")
    [verdict] = judging.wait_for_verdicts(app, page, 16, 1)
    assert 0 < verdict.seconds_looking <= verdict.seconds
    assert verdict.seconds_away == 0
