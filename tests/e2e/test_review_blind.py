"""Answer first, in a browser: nothing that reveals the answer is sent before the reviewer's own answer."""

import json

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from domain.batches import BatchSettings, Mode
from storage.rows.verdicts import OwnAnswerRow
from storage.unit_of_work import read_only_session
from tests.e2e import review_helpers
from tests.e2e.review_helpers import press, press_answer
from tests.storage.worlds import SECRETS

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return review_helpers.create_review_world(
        app, questions=4, settings=BatchSettings(mode=Mode.ANSWER_FIRST, show_report=True)
    )


class TrafficRecorder:
    """Everything the browser receives: response bodies and websocket frames."""

    def __init__(self, page):
        self.bodies, self.frames = [], []
        page.on("requestfinished", self._record_response)
        page.on(
            "websocket",
            lambda socket: socket.on("framereceived", self._record_frame),
        )

    def _record_frame(self, frame):
        self.frames.append(frame)

    def _record_response(self, request):
        if "/static/" not in request.url:  # Streamlit's own files, the same for everybody
            self.bodies.append(request.response().body())

    def find_seen_words(self):
        """The planted words that were seen."""
        frames = [frame if isinstance(frame, bytes) else frame.encode() for frame in self.frames]
        content = [*frames, *self.bodies]
        return {name for name, word in SECRETS.items() if any(word.encode() in chunk for chunk in content)}


def test_no_planted_word_reaches_the_browser_before_the_own_answer(app, signed_in):
    page = signed_in("ruth")
    traffic = TrafficRecorder(page)
    review_helpers.open_review(page, 1)
    review_helpers.wait_for_question(page, 1)
    press_answer(page, 3, 2)
    page.wait_for_timeout(700)
    assert len(traffic.frames) > 3
    assert len(traffic.bodies) > 5
    assert traffic.find_seen_words() == set()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Explanation")).to_have_value(SECRETS["explanation"])
    page.wait_for_timeout(700)  # the explanation appears before its request counts as finished
    # The report comes after image alignment.
    assert traffic.find_seen_words() == {"explanation", "category", "label"}
    expect(page.get_by_text("C. Pneumothorax")).to_be_visible()
    with read_only_session(app.engine) as db:
        [own_answer] = db.execute(select(OwnAnswerRow).where(OwnAnswerRow.question_id == 1)).scalars()
    assert (json.loads(own_answer.answer), own_answer.confidence) == ([2], 2)


def test_report_opens_after_image_alignment_which_is_then_fixed(app, signed_in):
    page = signed_in("ruth")
    review_helpers.open_review(page, 2)
    press_answer(page, 1, 3)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Open the report")).to_be_disabled()
    press(page, "4443")
    page.get_by_role("button", name="Open the report").click()
    expect(page.get_by_text(SECRETS["report"])).to_be_visible()
    expect(page.locator('[data-step="image_alignment"] button').first).to_be_disabled()
    press(page, "yyma")
    [verdict] = review_helpers.wait_for_verdicts(app, page, 2, 1)
    assert verdict.image_alignment == 3
