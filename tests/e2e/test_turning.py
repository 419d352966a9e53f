"""From one question to the next: the response to a save contains it; the Streamlit script runs later."""

import pytest
from playwright.sync_api import expect

from tests.e2e import judging
from tests.e2e.judging import drafts, open_review, press, question_shown, verdicts, wait_for_question
from tests.storage.judgements import accept, give

pytestmark = [pytest.mark.browser, pytest.mark.full]

RATED = "4444yyh"


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return judging.world_to_judge(app, questions=24)


class Wire:
    """The page's websocket. Messages to the browser can be held; if deaf, those to the server are dropped."""

    def __init__(self, page):
        self.is_held = self.is_deaf = False
        self.waiting = []
        page.route_web_socket("**/_stcore/stream", self._join)

    def _join(self, socket):
        server = socket.connect_to_server()
        socket.on_message(lambda message: None if self.is_deaf else server.send(message))
        self.send = socket.send
        server.on_message(
            lambda message: self.waiting.append(message) if self.is_held else self.send(message)
        )

    def release(self):
        self.is_held = False
        for message in self.waiting:
            self.send(message)
        self.waiting.clear()


@pytest.fixture
def held(signed_in, page):
    """``held(number)``: that question in the plain editor, and the websocket of its page."""

    def open_at(question):
        wire = Wire(page)
        return open_review(signed_in("ruth"), question), wire

    return open_at


def test_the_next_question_does_not_wait_for_the_pages_script(app, held):
    page, wire = held(1)
    wire.is_held = True
    press(page, RATED + "a")
    wait_for_question(page, 2)
    press(page, RATED + "a")
    wait_for_question(page, 3)
    assert [len(verdicts(app, number)) for number in (1, 2, 3)] == [1, 1, 0]


def test_what_the_script_draws_late_neither_turns_the_page_nor_takes_what_was_typed(app, held):
    page, wire = held(4)
    wire.is_held = True
    press(page, RATED + "a")
    wait_for_question(page, 5)
    press(page, "55w")
    page.keyboard.type("typed before the script came")
    for _ in range(100):
        if len(wire.waiting) > 3:
            break
        page.wait_for_timeout(100)
    assert wire.waiting
    wire.release()
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"
    )
    page.keyboard.type(", and after")
    expect(page.get_by_label("Comment", exact=True)).to_have_value("typed before the script came, and after")
    assert "radiograph 5?" in question_shown(page)
    assert page.url.endswith("question=5")
    for _ in range(100):
        if "and after" in drafts(app, 5).get("form", ""):
            break
        page.wait_for_timeout(100)
    assert "and after" in drafts(app, 5)["form"]


def test_loading_the_page_anew_at_once_stays_on_the_question_shown(held):
    page, wire = held(6)
    wire.is_held = True
    press(page, RATED + "a")
    wait_for_question(page, 7)
    wire.is_held = False
    page.reload()
    wait_for_question(page, 7)
    expect(page.get_by_text("Your verdict of")).to_have_count(0)


def test_a_late_answer_to_the_turn_before_does_not_set_the_address_back(held):
    page, wire = held(18)
    wire.is_held = True
    press(page, RATED + "a")
    wait_for_question(page, 19)
    for _ in range(100):
        if any(b"question=19" in message for message in wire.waiting):
            break
        page.wait_for_timeout(100)
    wire.is_deaf = True
    press(page, RATED + "a")
    wait_for_question(page, 20)
    wire.release()
    page.wait_for_timeout(500)  # the old address arrives first; the form corrects it a little later
    page.wait_for_function("() => location.search.endsWith('question=20')")
    assert "radiograph 20?" in question_shown(page)
    wire.is_deaf = False
    page.reload()
    wait_for_question(page, 20)


def test_the_way_back_in_the_browser_leads_to_the_question_before(held):
    page, _wire = held(8)
    press(page, RATED + "a")
    wait_for_question(page, 9)
    press(page, RATED + "a")
    wait_for_question(page, 10)
    page.go_back()
    wait_for_question(page, 9)
    expect(page.get_by_text("Your verdict of")).to_be_visible()
    page.go_back()
    wait_for_question(page, 8)
    page.go_forward()
    wait_for_question(page, 9)


def test_the_second_half_of_a_double_click_judges_no_question_that_nobody_has_seen(app, held):
    page, _wire = held(12)
    press(page, RATED)
    expect(page.get_by_text("Draft saved")).to_be_visible()
    open_review(page, 11)
    press(page, RATED)
    page.get_by_role("button", name="Accept").dblclick()
    wait_for_question(page, 12)
    expect(page.get_by_text("Draft restored.")).to_be_visible()
    assert len(judging.wait_for_verdicts(app, page, 11, 1)) == 1
    page.keyboard.press("5")  # all ratings are given: a key that saves nothing
    expect(page.get_by_text("All ratings are given")).to_be_visible()
    assert verdicts(app, 12) == []


def test_who_leaves_while_a_verdict_is_saved_is_left_alone(app, held):
    page, _wire = held(13)
    waiting = []
    page.route("**/judging/verdict", lambda route, _request: waiting.append(route))
    press(page, RATED + "a")
    expect(page.get_by_text("Saving …")).to_be_visible()
    page.get_by_role("link", name="Home").click()
    expect(page.get_by_role("button", name="Accept")).to_have_count(0)
    [request] = waiting
    request.continue_()
    assert len(judging.wait_for_verdicts(app, page, 13, 1)) == 1
    assert "question=" not in page.url


def test_arrows_go_to_the_neighbours_and_skipping_goes_on(app, held):
    page, wire = held(15)
    wire.is_held = True
    page.keyboard.press("ArrowLeft")
    wait_for_question(page, 14)
    page.keyboard.press("ArrowRight")
    wait_for_question(page, 15)
    press(page, "s")
    page.get_by_role("button", name="outside my specialty").click()
    wait_for_question(page, 16)
    assert judging.skips(app, 15) == ["outside my specialty"]


def test_after_the_last_open_question_the_page_says_so(app, world, held):
    *others, last = [number for number in range(1, 25) if not verdicts(app, number)]
    for number in others:
        give(world, accept(world, question=number))
    page, _wire = held(last)
    press(page, RATED + "a")
    expect(page.get_by_text("review complete")).to_be_visible()
