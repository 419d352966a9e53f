"""The page Releases: preview, creation, files and verification."""

from __future__ import annotations

import json

import pytest

from accounts.service import command_line_person
from domain.people import Role
from release.service import FormatName, list_releases, verify_release
from storage.unit_of_work import read_only_session
from storage.workspace import current_workspace
from tests.golden.release_world import judged_world
from tests.pages.conftest import settled, texts
from tests.storage.worlds import make_world

pytestmark = pytest.mark.slow

PAGE = "pages/releases.py"


@pytest.fixture
def world(workspace):
    return judged_world(workspace)


@pytest.fixture
def page(world, sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    found = run_page(PAGE)
    assert not found.exception
    return found


def click(page, label):
    return next(button for button in page.button if button.label == label).click().run()


def by_label(elements, label):
    return next(element for element in elements if element.label == label)


def make(page, name):
    by_label(page.text_input, "Name of the release").set_value(name).run()
    click(page, "Make the release")
    settled()
    return page.run()


def releases():
    with read_only_session() as db:
        return list_releases(db, by=command_line_person())


def test_without_a_batch_the_page_leads_to_drawing_one(workspace, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    assert "Nothing to release yet" in texts(open_page(PAGE))


def test_before_anything_is_judged_nothing_can_be_made(workspace, sign_in_as, run_page):
    make_world(workspace)
    sign_in_as("cora", Role.COORDINATOR)
    page = run_page(PAGE)
    by_label(page.text_input, "Name of the release").set_value("v1").run()
    assert "Nobody has judged a question of these batches yet." in texts(page)
    assert by_label(page.button, "Make the release").disabled


def test_what_a_release_would_hold_is_shown_before(page):
    assert "A release made now would hold 5 of the 8 judged questions." in texts(page)
    rows = page.dataframe[0].value[["Questions", "Number"]].to_numpy().tolist()
    assert rows == [
        ["accepted as they are", 1],
        ["corrected", 4],
        ["rejected", 1],
        ["rejected by one reviewer, not by another", 1],
        ["corrected differently by two reviewers", 1],
        ["not judged yet", 4],
    ]


def test_a_release_is_made_and_its_files_are_linked(page):
    page = make(page, "v1")
    [made] = releases()
    assert (made.name, made.items, made.made_by) == ("v1", 5, "Cora")
    assert made.folder == current_workspace().releases / "demo" / "v1"
    assert verify_release(made.folder).ok
    assert "(/files/releases/1/corrections.jsonl)" in texts(page)
    assert "(/files/releases/1.zip)" in texts(page)


def test_made_again_under_its_name_it_is_the_same(page, run_page):
    make(page, "v1")
    page = make(run_page(PAGE), "v1")  # another tab; in this one it would count as a double click
    assert "there already, the same byte for byte" in texts(page)
    assert len(releases()) == 1


def test_a_name_that_is_no_folder_is_refused_at_the_click(page):
    page = make(page, "../v1")
    assert "must be 1 to 64 letters" in texts(page)
    assert releases() == []


def test_verify_says_what_was_changed(page, run_page):
    page = click(make(page, "v1"), "Verify")
    assert "v1 is as it was made: 14 files, 5 questions, 11 corrections." in texts(page)
    path = releases()[0].folder / "gold.csv"
    path.write_bytes(path.read_bytes().replace(b"Effusion", b"effusion", 1))
    page = click(run_page(PAGE), "Verify")
    assert "v1 is not as it was made" in texts(page)


@pytest.mark.parametrize("role", [Role.ADMIN, Role.REVIEWER, Role.READER])
def test_nobody_else_sees_the_page(world, sign_in_as, run_page, role):
    sign_in_as("somebody", role)
    page = run_page(PAGE)
    assert "Page not found." in texts(page)
    assert "judged questions" not in texts(page)


def test_a_condition_that_is_not_met_is_said_with_its_figure_and_nothing_can_be_made(page):
    by_label(page.text_input, "Name of the release").set_value("v1").run()
    by_label(page.toggle, "Only if key errors in the whole dataset are few").set_value(True).run()
    assert not page.exception
    assert "the rule asks for an upper limit under 5 %" in texts(page)
    assert by_label(page.button, "Make the release").disabled


def test_a_condition_that_is_met_stands_in_the_manifest(page):
    by_label(page.toggle, "Only if key errors in the whole dataset are few").set_value(True).run()
    by_label(page.number_input, "Upper limit under, %").set_value(100.0).run()
    assert not make(page, "v1").exception
    (made,) = releases()
    manifest = json.loads((made.folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["settings"]["key_errors_under"] == 1.0
    assert "Released on the condition" in (made.folder / "datacard.md").read_text(encoding="utf-8")


def test_only_the_forms_that_are_chosen_are_written(page):
    by_label(page.multiselect, "Written as, beside JSON Lines and CSV").set_value([FormatName.COCO]).run()
    assert not make(page, "v1").exception
    (made,) = releases()
    names = {path.name for path in made.folder.iterdir()}
    assert "boxes.coco.json" in names
    assert names.isdisjoint({"gold.parquet", "rexvqa.json", "gemex"})
    assert verify_release(made.folder).ok
