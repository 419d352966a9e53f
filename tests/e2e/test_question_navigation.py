"""The response to a save contains the next question; the Streamlit script runs later."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e import review_helpers
from tests.e2e.review_helpers import (
    get_shown_stem,
    load_drafts,
    load_verdicts,
    open_review,
    press,
    wait_for_question,
)
from tests.e2e.streamlit_pages import wait_for_script
from tests.storage.judgements import make_acceptance, save_verdict

pytestmark = [pytest.mark.browser, pytest.mark.full]

RATING_KEYS = "4444yyh"
REJECT_KEYS = "fcx"


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return review_helpers.create_review_world(app, questions=24)


class HeldWebSocket:
    """The page's websocket. It can hold messages to the browser, and drop messages to the server."""

    def __init__(self, page):
        self.is_held = self.drops_messages_to_server = False
        self.held_messages = []
        page.route_web_socket("**/_stcore/stream", self._join)

    def _join(self, socket):
        server = socket.connect_to_server()
        socket.on_message(lambda message: None if self.drops_messages_to_server else server.send(message))
        self.send = socket.send
        server.on_message(
            lambda message: self.held_messages.append(message) if self.is_held else self.send(message)
        )

    def release(self):
        self.is_held = False
        for message in self.held_messages:
            self.send(message)
        self.held_messages.clear()


@pytest.fixture
def open_question_with_held_websocket(signed_in, page):
    """A function that opens a question by number; it returns the page and its websocket."""

    def open_at(question):
        websocket = HeldWebSocket(page)
        return open_review(signed_in("ruth"), question), websocket

    return open_at


def test_the_next_question_does_not_wait_for_the_pages_script(app, open_question_with_held_websocket):
    page, websocket = open_question_with_held_websocket(1)
    websocket.is_held = True
    press(page, RATING_KEYS + "a")
    wait_for_question(page, 2)
    press(page, RATING_KEYS + "a")
    wait_for_question(page, 3)
    assert [len(load_verdicts(app, number)) for number in (1, 2, 3)] == [1, 1, 0]


def test_late_script_run_keeps_the_question_and_the_input(app, open_question_with_held_websocket):
    page, websocket = open_question_with_held_websocket(4)
    websocket.is_held = True
    press(page, RATING_KEYS + "a")
    wait_for_question(page, 5)
    press(page, "55w")
    page.keyboard.type("typed before the script came")
    for _ in range(100):
        if len(websocket.held_messages) > 3:
            break
        page.wait_for_timeout(100)
    assert websocket.held_messages
    websocket.release()
    wait_for_script(page)
    page.keyboard.type(", and after")
    expect(page.get_by_label("Comment", exact=True)).to_have_value("typed before the script came, and after")
    assert "radiograph 5?" in get_shown_stem(page)
    assert page.url.endswith("question=5")
    for _ in range(100):
        if "and after" in load_drafts(app, 5).get("form", ""):
            break
        page.wait_for_timeout(100)
    assert "and after" in load_drafts(app, 5)["form"]


def test_reloading_at_once_keeps_the_shown_question(open_question_with_held_websocket):
    page, websocket = open_question_with_held_websocket(6)
    websocket.is_held = True
    press(page, RATING_KEYS + "a")
    wait_for_question(page, 7)
    websocket.is_held = False
    page.reload()
    wait_for_question(page, 7)
    expect(page.get_by_text("Your verdict of")).to_have_count(0)


def test_late_response_to_an_earlier_step_does_not_change_the_address(open_question_with_held_websocket):
    page, websocket = open_question_with_held_websocket(18)
    websocket.is_held = True
    press(page, RATING_KEYS + "a")
    wait_for_question(page, 19)
    for _ in range(100):
        if any(b"question=19" in message for message in websocket.held_messages):
            break
        page.wait_for_timeout(100)
    websocket.drops_messages_to_server = True
    press(page, RATING_KEYS + "a")
    wait_for_question(page, 20)
    websocket.release()
    page.wait_for_timeout(500)  # the old address arrives first; the form corrects it a little later
    page.wait_for_function("() => location.search.endsWith('question=20')")
    assert "radiograph 20?" in get_shown_stem(page)
    websocket.drops_messages_to_server = False
    page.reload()
    wait_for_question(page, 20)


def test_browser_back_opens_the_previous_question(open_question_with_held_websocket):
    page, _websocket = open_question_with_held_websocket(8)
    press(page, RATING_KEYS + "a")
    wait_for_question(page, 9)
    press(page, RATING_KEYS + "a")
    wait_for_question(page, 10)
    page.go_back()
    wait_for_question(page, 9)
    expect(page.get_by_text("Your verdict of")).to_be_visible()
    page.go_back()
    wait_for_question(page, 8)
    page.go_forward()
    wait_for_question(page, 9)


#: Clicks "Sign out" just before the form reports the next question, so that Streamlit sends both in one
#: message.
SIGN_OUT_WITH_REPORT = """() => {
  const start = window.setTimeout;
  window.setTimeout = (action, delay, ...values) => start(() => {
    if (delay === 150) document.querySelector('.st-key-sign-out button').click();
    action(...values);
  }, delay);
}"""


def test_sign_out_at_the_moment_the_form_reports_a_question_opens_the_sign_in_page(signed_in, page):
    open_review(signed_in("ruth"), 21)
    page.evaluate(SIGN_OUT_WITH_REPORT)
    with page.expect_console_message(lambda message: "Multiple different fragmentIds" in message.text):
        press(page, RATING_KEYS + "a")
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible(timeout=30_000)


def test_double_click_judges_only_the_question_on_screen(app, open_question_with_held_websocket):
    page, _websocket = open_question_with_held_websocket(12)
    press(page, RATING_KEYS)
    expect(page.get_by_text("Draft saved")).to_be_visible()
    open_review(page, 11)
    press(page, RATING_KEYS)
    page.get_by_role("button", name="Accept", exact=True).dblclick()
    wait_for_question(page, 12)
    expect(page.get_by_text("Draft restored.")).to_be_visible()
    assert len(review_helpers.wait_for_verdicts(app, page, 11, 1)) == 1
    page.keyboard.press("5")  # All ratings are given, so this key saves nothing.
    expect(page.get_by_text("All ratings are given")).to_be_visible()
    assert load_verdicts(app, 12) == []


def test_page_opened_while_a_verdict_is_saved_stays_open(app, open_question_with_held_websocket):
    page, _websocket = open_question_with_held_websocket(13)
    held_routes = []
    page.route("**/review/verdict", lambda route, _request: held_routes.append(route))
    press(page, RATING_KEYS + "a")
    expect(page.get_by_text("Saving …")).to_be_visible()
    page.get_by_role("link", name="Home").click()
    expect(page.get_by_role("button", name="Accept", exact=True)).to_have_count(0)
    [held_route] = held_routes
    held_route.continue_()
    assert len(review_helpers.wait_for_verdicts(app, page, 13, 1)) == 1
    assert "question=" not in page.url


def test_arrow_keys_and_skipping_change_the_question(app, open_question_with_held_websocket):
    page, websocket = open_question_with_held_websocket(15)
    websocket.is_held = True
    page.keyboard.press("ArrowLeft")
    wait_for_question(page, 14)
    page.keyboard.press("ArrowRight")
    wait_for_question(page, 15)
    press(page, "s")
    page.get_by_role("button", name="outside my specialty").click()
    wait_for_question(page, 16)
    assert review_helpers.load_skip_reasons(app, 15) == ["outside my specialty"]


def test_page_reports_that_all_questions_are_judged(app, world, open_question_with_held_websocket):
    *others, last = [number for number in range(1, 25) if not load_verdicts(app, number)]
    for number in others:
        save_verdict(world, make_acceptance(world, question=number))
    page, _websocket = open_question_with_held_websocket(last)
    press(page, RATING_KEYS + "a")
    expect(page.get_by_text("your review is complete")).to_be_visible()


def test_a_listed_verdict_can_be_reopened_by_click_or_key(app, signed_in):
    page = open_review(signed_in("remo"), 1)
    expect(page.locator(".recent")).to_have_count(0)
    for number in range(1, 13):
        wait_for_question(page, number)
        press(page, RATING_KEYS + (REJECT_KEYS if number == 12 else "a"))
    wait_for_question(page, 13)
    verdict_buttons = page.get_by_role("list", name="Your last verdicts, newest first").get_by_role("button")
    expect(verdict_buttons).to_have_count(10)
    expect(verdict_buttons.first).to_have_accessible_name(
        re.compile(r"^last verdict: rejected at \d\d:\d\d:\d\d$")
    )
    verdict_buttons.nth(2).click()
    wait_for_question(page, 10)
    expect(verdict_buttons.nth(2)).to_have_attribute("aria-current", "true")
    press(page, "j")
    wait_for_question(page, 11)
    page.keyboard.press("Shift+Y")
    press(page, "0")
    wait_for_question(page, 3)
    press(page, REJECT_KEYS)
    page.wait_for_url("**/review?batch=*&question=13")
    expect(verdict_buttons.first).to_have_accessible_name(re.compile("^last verdict: rejected"))
    expect(page.locator(".recent .reject")).to_have_count(2)  # question 3 has moved to the front, once
    page.reload()
    expect(verdict_buttons).to_have_count(10)


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (1440, 900)])
def test_the_line_of_last_verdicts_does_not_make_the_image_smaller(signed_in, width, height):
    page = signed_in("remo")
    page.set_viewport_size({"width": width, "height": height})
    page.goto("/review?batch=1&question=20")
    line, image = page.locator(".recent"), page.locator(".reading-room")
    image.wait_for(timeout=30_000)

    def check_line():
        line_bounds, column_bounds = line.bounding_box(), page.locator(".right").bounding_box()
        assert line_bounds["height"] < 30
        assert line_bounds["x"] >= column_bounds["x"]
        assert line_bounds["x"] + line_bounds["width"] <= column_bounds["x"] + column_bounds["width"]
        assert line.evaluate("line => line.scrollWidth <= line.clientWidth")
        return image.bounding_box()

    image_bounds = check_line()
    line.evaluate("line => { line.style.display = 'none'; }")
    assert image.bounding_box() == image_bounds
    line.evaluate("line => { line.style.display = ''; }")
    page.keyboard.press("Shift+E")
    page.locator(".judging:fullscreen").wait_for()
    check_line()
