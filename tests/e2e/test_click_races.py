"""A save followed at once by another action leaves exactly one verdict.

This module has the cases that need a browser or the database. Clicks and keys within the form are tested in
frontend/tests/review/. Each race is run a few times, with gaps from 0 to 250 ms; `make soak` runs it 30
times, and 1,000 races of further kinds (benchmarks/soak_clicks.py).
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page

from accounts.service import command_line_person, list_people
from domain.batches import BatchState
from review import service as review
from storage.sampling.batches import load_batch
from storage.unit_of_work import read_only_session, unit_of_work
from tests.e2e import judging
from tests.e2e.judging import open_review, press, verdicts

pytestmark = [pytest.mark.browser, pytest.mark.full]

#: How often a race is run, and the first of the questions on which it is run.
FEW, MANY = (6, 1), (30, 101)
RATED = "3333nne"

often = pytest.mark.parametrize(
    ("tries", "first"), [FEW, pytest.param(*MANY, marks=pytest.mark.soak)], ids=["few", "many"]
)


@pytest.fixture(scope="module", autouse=True)
def world(app):
    return judging.world_to_judge(app, questions=200, per_exam=20)


def gap(attempt, tries):
    """Milliseconds between the two clicks, from 0 to 250 over the tries."""
    return round(250 * attempt / (tries - 1))


def accept(page):
    return page.get_by_role("button", name="Accept")


@often
def test_a_save_followed_at_once_by_another_page_leaves_one_verdict(app, signed_in, tries, first):
    page = signed_in("ruth")
    for attempt in range(0, tries, 2):
        number = first + 30 + attempt
        open_review(page, number)
        press(page, RATED)
        accept(page).click(no_wait_after=True)
        page.wait_for_timeout(gap(attempt, tries))
        page.get_by_role("link", name="Home").click(no_wait_after=True)
        assert len(judging.wait_for_verdicts(app, page, number, 1)) == 1, f"try {number}"


def shutter(page: Page) -> Callable[[], object]:
    """Close the tab without waiting for its page: Playwright's close hangs while a page is navigating."""
    session = page.context.new_cdp_session(page)
    target = session.send("Target.getTargetInfo")["targetInfo"]["targetId"]
    session.detach()
    whole = page.context.browser.new_browser_cdp_session()
    return lambda: whole.send("Target.closeTarget", {"targetId": target})


@often
def test_a_save_followed_at_once_by_the_way_back_leaves_one_verdict(app, signed_in, tries, first):
    context = signed_in("remo").context
    for attempt in range(0, tries, 2):
        number = first + attempt
        page = context.new_page()  # going back may not have finished: another address would interrupt it
        shut = shutter(page)
        page.goto("/")
        open_review(page, number)
        page.wait_for_timeout(600)  # the form does not save a question that has only just appeared
        press(page, RATED)
        accept(page).click(no_wait_after=True)
        page.wait_for_timeout(gap(attempt, tries))
        page.evaluate("setTimeout(() => history.back(), 0)")  # this call must not wait for the navigation
        assert len(of_remo(app, page, number)) == 1, f"try {number}"
        shut()


@often
def test_a_coordinators_click_followed_at_once_by_a_reload_is_carried_out(app, signed_in, tries, first):
    page, then = signed_in("cora"), BatchState.CLOSED
    for attempt in range(tries):  # an even number, so that the batch is left open
        page.goto("/assign")
        name = "Close batch" if then is BatchState.CLOSED else "Reopen batch"
        page.get_by_role("button", name=name).click(no_wait_after=True)
        page.wait_for_timeout(gap(attempt, tries) / 5)
        page.reload(wait_until="commit")
        until = time.monotonic() + 10
        while state_of(app, "first") is not then and time.monotonic() < until:
            time.sleep(0.05)
        assert state_of(app, "first") is then, f"{name}, try {attempt}"
        then = BatchState.OPEN if then is BatchState.CLOSED else BatchState.CLOSED


def state_of(app, name):
    with read_only_session(app.engine) as db:
        return load_batch(db, name=name).state


def test_the_same_question_judged_in_two_tabs_is_judged_once(app, signed_in):
    page = open_review(signed_in("remo"), 40)
    press(page, RATED)
    second = open_review(page.context.new_page(), 40)
    press(second, RATED)
    second.wait_for_timeout(700)
    for tab in (page, second):
        tab.keyboard.press("a")
    assert len(of_remo(app, page, 40)) == 1
    second.wait_for_timeout(1_000)
    assert len(of_remo(app, page, 40)) == 1


def test_a_tab_on_a_question_that_was_given_to_somebody_else_says_that_nothing_is_saved(
    app, world, signed_in
):
    page = open_review(signed_in("remo"), 50)
    press(page, RATED)
    page.wait_for_timeout(600)
    with unit_of_work(app.engine) as db:
        review.withdraw(db, by=world.people["cora"], batch="first", from_="remo", now=datetime.now(UTC))
    press(page, "a")
    page.get_by_text("unassigned or reassigned").wait_for(timeout=30_000)
    assert [row for row in verdicts(app, 50) if row.person_id == world.people["remo"].id] == []


def of_remo(app, page, number):
    """Remo's verdicts on a question, once there is one; after ten seconds, those that there are."""
    with read_only_session(app.engine) as db:
        remo = next(each.id for each in list_people(db, by=command_line_person()) if each.name == "remo")
    for _ in range(100):
        found = verdicts(app, number, remo)
        if found:
            break
        page.wait_for_timeout(100)
    return found
