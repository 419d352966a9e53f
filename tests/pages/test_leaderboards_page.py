"""The page Leaderboards for a coordinator: create, add a team, and move to a corrected release."""

from __future__ import annotations

import pytest

from domain.people import Role
from storage.unit_of_work import unit_of_work
from tests.pages.conftest import get_text, skip_double_click_time
from tests.storage.backup_worlds import make_workspace
from tests.storage.leaderboard_worlds import (
    BY,
    SPLIT,
    add_board,
    add_team,
    answer_with_errors,
    make_leaderboard_world,
    submit,
    write_predictions,
)
from tests.storage.release_helpers import create_release
from tests.storage.worlds import NOW

PAGE = "pages/leaderboards.py"


def press(page, label):
    button = next(element for element in page.button if element.label == label)
    return skip_double_click_time(button.click().run())


@pytest.mark.slow
def test_in_an_empty_workspace_the_page_says_what_is_missing(sign_in_as, run_page):
    sign_in_as("dana", Role.COORDINATOR)
    text = get_text(run_page(PAGE))
    assert "No leaderboards yet" in text
    assert "No release with a private split yet" in text
    sign_in_as("sue", Role.SUBMITTER)
    text = get_text(run_page(PAGE))
    assert "A coordinator creates leaderboards." in text
    assert "Create" not in text


@pytest.mark.full
def test_a_coordinator_creates_a_leaderboard_with_a_team(sign_in_as, run_page, workspace_engine, tmp_path):
    make_leaderboard_world(workspace_engine, tmp_path / "workspace", questions=12)
    sign_in_as("dana", Role.COORDINATOR)
    page = press(run_page(PAGE), "Create leaderboard")
    assert "name: must have 1 to 80 printable characters" in get_text(page)
    next(element for element in page.text_input if element.label == "Name").set_value("CXR 2026")
    page = press(page, "Create leaderboard")
    text = get_text(page)
    assert "Created CXR 2026" in text
    assert "Nobody has the role submitter yet" in text
    next(element for element in page.text_input if element.label == "New team").set_value("Team A")
    page = press(page, "Add team")
    assert "Added Team A. Choose its members." in get_text(page)


@pytest.mark.full
def test_submissions_are_scored_again_on_a_corrected_release(
    sign_in_as, run_page, workspace_engine, tmp_path
):
    home = tmp_path / "workspace"
    world = make_leaderboard_world(workspace_engine, home, questions=12)
    add_board(workspace_engine)
    add_team(workspace_engine, "A", "sue")
    path = write_predictions(tmp_path / "p.jsonl", answer_with_errors(world, lambda _: False))
    submit(workspace_engine, path, team="A")
    with unit_of_work(workspace_engine) as db:
        create_release(
            db, by=BY, dataset="demo", name="v1.1", out=home / "releases" / "v1.1", now=NOW,
            workspace=make_workspace(workspace_engine, home), split=SPLIT,
        )  # fmt: skip
    sign_in_as("dana", Role.COORDINATOR)
    page = press(run_page(PAGE), "Score all submissions again")
    text = get_text(page)
    assert "Version 2: all submissions were scored again on v1.1." in text
    assert "Private split of demo v1.1" in text
    version = next(element for element in page.selectbox if element.label == "Version")
    assert "Private split of demo v1:" in get_text(version.select(1).run())
    sign_in_as("sue", Role.SUBMITTER)
    [own_table] = [table.value for table in run_page(PAGE).dataframe if "Version 1" in table.value]
    assert list(own_table["Version 1"]) == list(own_table["Score"])
