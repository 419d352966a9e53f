"""A save followed at once by another action leaves exactly one verdict.

This module has the cases that need a browser or the database. Clicks and keys within the form are tested in
frontend/tests/review/. Each race is run a few times, with gaps from 0 to 250 ms; `make soak` runs it 30
times, and 1,000 races of further kinds (benchmarks/soak_clicks.py).
"""

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from accounts.service import command_line_person, list_people
from domain.batches import BatchState
from review import service as review
from storage.sampling.batches import load_batch
from storage.unit_of_work import read_only_session, unit_of_work
from tests.e2e import review_helpers
from tests.e2e.review_helpers import load_verdicts, open_review, press
from tests.e2e.streamlit_pages import wait_for_script

pytestmark = [pytest.mark.browser, pytest.mark.full]

#: How often a race is run, and the first of its questions.
FEW, MANY = (6, 1), (30, 101)
KEYS_OF_ALL_RATINGS = "3333nne"
#: Sets `hasRun` once the server has begun to run the script of the page.
WATCH_NEXT_RUN = """() => {
    const app = document.querySelector('[data-testid="stApp"]')
    new MutationObserver(() => {
        window.hasRun ||= app.dataset.testScriptState === 'running'
    }).observe(app, { attributes: true })
}"""

few_and_many_tries = pytest.mark.parametrize(
    ("tries", "first"), [FEW, pytest.param(*MANY, marks=pytest.mark.soak)], ids=["few", "many"]
)


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return review_helpers.create_review_world(app, questions=200, per_exam=20)


def compute_gap(attempt, tries):
    """Milliseconds between the two clicks, from 0 to 250 over the tries."""
    return round(250 * attempt / (tries - 1))


def find_accept_button(page):
    return page.get_by_role("button", name="Accept", exact=True)


@few_and_many_tries
def test_save_followed_at_once_by_another_page_leaves_one_verdict(app, signed_in, tries, first):
    page = signed_in("ruth")
    for attempt in range(0, tries, 2):
        number = first + 30 + attempt
        open_review(page, number)
        press(page, KEYS_OF_ALL_RATINGS)
        find_accept_button(page).click(no_wait_after=True)
        page.wait_for_timeout(compute_gap(attempt, tries))
        page.get_by_role("link", name="Home").click(no_wait_after=True)
        assert len(review_helpers.wait_for_verdicts(app, page, number, 1)) == 1, f"try {number}"


def make_tab_closer(page: Page) -> Callable[[], object]:
    """A function that closes the tab without waiting: Playwright's close hangs while a page is navigating."""
    session = page.context.new_cdp_session(page)
    target = session.send("Target.getTargetInfo")["targetInfo"]["targetId"]
    session.detach()
    browser_session = page.context.browser.new_browser_cdp_session()
    return lambda: browser_session.send("Target.closeTarget", {"targetId": target})


@few_and_many_tries
def test_save_followed_at_once_by_back_leaves_one_verdict(app, signed_in, tries, first):
    context = signed_in("remo").context
    for attempt in range(0, tries, 2):
        number = first + attempt
        page = context.new_page()  # in the old tab, a new address would interrupt an unfinished Back
        close_tab = make_tab_closer(page)
        page.goto("/")
        open_review(page, number)
        page.wait_for_timeout(600)  # the form does not save a question that has only just appeared
        press(page, KEYS_OF_ALL_RATINGS)
        find_accept_button(page).click(no_wait_after=True)
        page.wait_for_timeout(compute_gap(attempt, tries))
        page.evaluate("setTimeout(() => history.back(), 0)")  # this call must not wait for the navigation
        assert len(wait_for_remos_verdicts(app, page, number)) == 1, f"try {number}"
        close_tab()


def click_until_the_script_runs(page: Page, name: str) -> None:
    """Click a button, again if it was being redrawn at that moment and the click reached nothing."""
    for _ in range(3):
        page.get_by_role("button", name=name).click(no_wait_after=True)
        with suppress(PlaywrightTimeout):
            page.wait_for_function("() => window.hasRun", timeout=10_000)
            return
    raise AssertionError(f"{name} was clicked three times, and the script did not run")


@few_and_many_tries
def test_coordinators_click_is_carried_out_if_the_page_is_reloaded_meanwhile(app, signed_in, tries, first):
    """This holds once the script runs. Streamlit drops a click if the page is left milliseconds earlier."""
    page, target_state = signed_in("cora"), BatchState.CLOSED
    for attempt in range(tries):  # an even number, so that the batch is left open
        page.goto("/assign")
        wait_for_script(page)
        page.evaluate(WATCH_NEXT_RUN)
        name = "Close batch" if target_state is BatchState.CLOSED else "Reopen batch"
        click_until_the_script_runs(page, name)
        page.wait_for_timeout(compute_gap(attempt, tries) / 5)
        page.reload(wait_until="commit")
        deadline = time.monotonic() + 30
        while load_batch_state(app, "first") is not target_state and time.monotonic() < deadline:
            time.sleep(0.05)
        assert load_batch_state(app, "first") is target_state, f"{name}, try {attempt}"
        target_state = BatchState.OPEN if target_state is BatchState.CLOSED else BatchState.CLOSED


def load_batch_state(app, name):
    with read_only_session(app.engine) as db:
        return load_batch(db, name=name).state


def test_question_judged_in_two_tabs_is_saved_once(app, signed_in):
    page = open_review(signed_in("remo"), 40)
    press(page, KEYS_OF_ALL_RATINGS)
    second_tab = open_review(page.context.new_page(), 40)
    press(second_tab, KEYS_OF_ALL_RATINGS)
    second_tab.wait_for_timeout(700)
    for tab in (page, second_tab):
        tab.keyboard.press("a")
    assert len(wait_for_remos_verdicts(app, page, 40)) == 1
    second_tab.wait_for_timeout(1_000)
    assert len(wait_for_remos_verdicts(app, page, 40)) == 1


def test_verdict_on_a_reassigned_question_is_refused(app, world, signed_in):
    page = open_review(signed_in("remo"), 50)
    press(page, KEYS_OF_ALL_RATINGS)
    page.wait_for_timeout(600)
    with unit_of_work(app.engine) as db:
        review.withdraw(db, by=world.people["cora"], batch="first", from_="remo", now=datetime.now(UTC))
    press(page, "a")
    page.get_by_text("unassigned or reassigned").wait_for(timeout=30_000)
    assert [row for row in load_verdicts(app, 50) if row.person_id == world.people["remo"].id] == []


def wait_for_remos_verdicts(app, page, number):
    """Remo's verdicts on a question, once there is one; after 30 seconds, those that there are."""
    with read_only_session(app.engine) as db:
        remo = next(
            person.id for person in list_people(db, by=command_line_person()) if person.name == "remo"
        )
    for _ in range(300):
        rows = load_verdicts(app, number, remo)
        if rows:
            break
        page.wait_for_timeout(100)
    return rows
