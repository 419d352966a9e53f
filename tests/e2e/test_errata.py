"""Errata in the browser: report, adjudicate, create release 1.1, score leaderboard and study again."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from domain.people import Role
from leaderboard import service as leaderboards
from reader_study import service as studies
from storage.unit_of_work import read_only_session, unit_of_work
from tests.e2e.conftest import RunningApp
from tests.e2e.streamlit_pages import choose_option, wait_for_script
from tests.e2e.test_adjudication import sign_in_as
from tests.storage.leaderboard_worlds import (
    BOARD,
    BY,
    LeaderboardWorld,
    add_board,
    add_team,
    make_leaderboard_world,
    submit,
    write_predictions,
)
from tests.storage.test_errata import read_study
from tests.storage.worlds import NOW

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module")
def world(app: RunningApp) -> LeaderboardWorld:
    """The release "v1" of 12 questions, 6 of them private; anna is the adjudicator.

    Team A answered the private questions with their keys; rea read the questions in a study.
    """
    leaderboard_world = make_leaderboard_world(app.engine, app.home, questions=12)
    add_board(app.engine)
    add_team(app.engine, "Team A")
    submit(app.engine, write_predictions(app.home / "a.jsonl", leaderboard_world.keys), team="Team A")
    read_study(leaderboard_world)
    with unit_of_work(app.engine) as db:
        studies.close_study(db, by=BY, study="study", now=NOW)
    app.add_person("dana", Role.COORDINATOR)
    app.add_person("anna", Role.REVIEWER)
    app.command("adjudicate", "rules", "first", "--adjudicators", "anna")
    return leaderboard_world


def load_scores(app: RunningApp) -> list[int]:
    """The number of correct answers of Team A in each version of the leaderboard."""
    with read_only_session(app.engine) as db:
        return [
            leaderboards.load_standings(db, by=BY, leaderboard=BOARD, version=version).rows[0].score.correct
            for version in (1, 2)
        ]


def test_a_reported_problem_is_settled_and_its_correction_released_and_scored_again(
    app, world, page: Page, sign_in
):
    question = min(world.keys)
    sign_in("dana")
    page.goto(f"/errata?release=1&question={question}")
    page.get_by_role("heading", name="Report a problem").wait_for(timeout=30_000)
    wait_for_script(page)
    choose_option(page, page.get_by_role("combobox", name="Problem"), "wrong key")
    page.get_by_role("textbox", name="Description").fill("The finding is on the other side.")
    page.keyboard.press("Tab")
    wait_for_script(page)
    page.get_by_role("button", name="Report problem").click()
    expect(page.get_by_text(f"Reported: wrong key in question {question}.")).to_be_visible(timeout=20_000)

    sign_in_as(page, "anna")
    page.goto("/adjudicate")
    expect(page.locator(".adjudication .reports")).to_contain_text("on the other side", timeout=30_000)
    page.keyboard.press("0")
    page.get_by_label("Answer key: own").check()
    own_answer = page.locator(".adjudication .own-cell .ticks").first
    own_answer.get_by_role("radio").nth((world.keys[question] + 1) % 3).check()
    page.get_by_label("Reason").fill("It is.")
    page.keyboard.press("Escape")
    # A save is refused until everything was displayed, and the radiographs of this world have no files.
    saved_message = page.get_by_text("1 dispute of batch first: all adjudicated.")
    for _ in range(5):
        page.keyboard.press("Enter")
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(500)
        if saved_message.count():
            break
    expect(page.get_by_text("1 dispute of batch first: all adjudicated.")).to_be_visible(timeout=20_000)

    sign_in_as(page, "dana")
    page.goto("/releases")
    page.get_by_role("textbox", name="Release name").fill("v1.1")
    page.get_by_role("spinbutton", name="Private (%)").fill("50")
    page.keyboard.press("Tab")
    wait_for_script(page)
    page.get_by_role("spinbutton", name="Seed of the splits").fill("1")
    page.keyboard.press("Tab")
    wait_for_script(page)
    page.get_by_role("button", name="Create release").click()
    expect(page.get_by_text("v1.1 compared with v1: 1 key changed; 11 unchanged")).to_be_visible(
        timeout=60_000
    )
    page.goto("/errata")
    expect(page.get_by_test_id("stMain")).to_contain_text("Settled", timeout=30_000)

    page.goto("/leaderboards")
    expect(page.get_by_text("Private split of demo v1:")).to_be_visible(timeout=30_000)
    wait_for_script(page)
    page.get_by_text("Move to a corrected release", exact=True).click()
    page.get_by_role("button", name="Score all submissions again").click()
    expect(page.get_by_text("Version 2: all submissions were scored again on v1.1.")).to_be_visible(
        timeout=30_000
    )
    assert load_scores(app) == [6, 5]

    page.goto("/studies")
    page.get_by_role("radio", name="Report", exact=True).click(timeout=30_000)
    for keys, result in (
        ("as frozen in the study", "rea answered 3 of 12 cases correctly"),
        ("release v1.1", "rea answered 2 of 12 cases correctly"),
    ):
        choose_option(page, page.get_by_role("combobox", name="Answer keys"), keys)
        page.get_by_role("button", name="Create report").click()
        expect(page.get_by_text(result)).to_be_visible(timeout=60_000)
