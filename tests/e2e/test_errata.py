"""Errata in the browser: report a problem, adjudicate it, create release 1.1, and read the differences."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from domain.people import Role
from tests.e2e.conftest import RunningApp
from tests.e2e.streamlit_pages import wait_for_script
from tests.e2e.test_adjudication import sign_in_as
from tests.storage.leaderboard_worlds import (
    LeaderboardWorld,
    make_leaderboard_world,
)

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module")
def world(app: RunningApp) -> LeaderboardWorld:
    """The release "v1" of 12 questions, 6 of them private; anna is the adjudicator."""
    made = make_leaderboard_world(app.engine, app.home, questions=12)
    app.add_person("dana", Role.COORDINATOR)
    app.add_person("anna", Role.REVIEWER)
    app.command("adjudicate", "rules", "first", "--adjudicators", "anna")
    return made


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option).first.click()
    wait_for_script(page)


def test_a_problem_is_reported_settled_released_and_compared(app, world, page: Page, sign_in):
    question = min(world.keys)
    sign_in("dana")
    page.goto(f"/errata?release=1&question={question}")
    page.get_by_role("heading", name="Report a problem").wait_for(timeout=30_000)
    wait_for_script(page)
    choose(page, "Problem", "wrong key")
    page.get_by_role("textbox", name="Description").fill("The finding is on the other side.")
    page.keyboard.press("Tab")
    wait_for_script(page)
    page.get_by_role("button", name="Report problem").click()
    expect(page.get_by_text(f"Reported: wrong key in question {question}.")).to_be_visible(timeout=20_000)

    sign_in_as(page, "anna")
    page.goto("/adjudicate")
    expect(page.locator(".settling .reports")).to_contain_text("on the other side", timeout=30_000)
    page.keyboard.press("0")
    page.get_by_label("Key: own").check()
    own = page.locator(".settling .own-cell .ticks").first
    own.get_by_role("radio").nth((world.keys[question] + 1) % 3).check()
    page.get_by_label("Reason").fill("It is.")
    page.keyboard.press("Escape")
    # A save is refused until everything was displayed, and the radiographs of this world have no files.
    saved = page.get_by_text("1 dispute of batch first adjudicated, none left.")
    for _ in range(5):
        page.keyboard.press("Enter")
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(500)
        if saved.count():
            break
    expect(page.get_by_text("1 dispute of batch first adjudicated, none left.")).to_be_visible(timeout=20_000)

    sign_in_as(page, "dana")
    page.goto("/releases")
    page.get_by_role("textbox", name="Release name").fill("v1.1")
    page.get_by_role("spinbutton", name="Private (%)").fill("50")
    page.keyboard.press("Tab")
    wait_for_script(page)
    page.get_by_role("spinbutton", name="Split seed").fill("1")
    page.keyboard.press("Tab")
    wait_for_script(page)
    page.get_by_role("button", name="Create release").click()
    expect(page.get_by_text("v1.1 compared with v1: 1 key changed; 11 unchanged")).to_be_visible(
        timeout=60_000
    )
    page.goto("/errata")
    expect(page.get_by_test_id("stMain")).to_contain_text("Settled", timeout=30_000)
