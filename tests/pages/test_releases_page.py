"""The page Releases: preview, creation, files and verification."""

from __future__ import annotations

import json

import pytest

from accounts.service import command_line_person
from domain.people import Role
from release.service import FormatName, list_releases, verify_release
from storage.unit_of_work import read_only_session
from storage.workspace import current_workspace
from tests.golden.release_world import make_judged_world
from tests.pages.conftest import get_text, wait_for_jobs
from tests.storage.worlds import make_world

pytestmark = pytest.mark.slow

PAGE = "pages/releases.py"


@pytest.fixture
def world(workspace):
    return make_judged_world(workspace)


@pytest.fixture
def page(world, sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    page = run_page(PAGE)
    assert not page.exception
    return page


def click(page, label):
    return next(button for button in page.button if button.label == label).click().run()


def find_by_label(elements, label):
    return next(element for element in elements if element.label == label)


def create_release(page, name):
    find_by_label(page.text_input, "Release name").set_value(name).run()
    click(page, "Create release")
    wait_for_jobs()
    return page.run()


def load_releases():
    with read_only_session() as db:
        return list_releases(db, by=command_line_person())


def test_page_without_a_batch_shows_a_message(workspace, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    assert "No batches yet" in get_text(open_page(PAGE))


def test_release_cannot_be_created_before_any_verdict(workspace, sign_in_as, run_page):
    make_world(workspace)
    sign_in_as("cora", Role.COORDINATOR)
    page = run_page(PAGE)
    find_by_label(page.text_input, "Release name").set_value("v1").run()
    assert "No verdicts in these batches yet." in get_text(page)
    assert find_by_label(page.button, "Create release").disabled


def test_preview_shows_what_a_release_would_contain(page):
    assert "The release will contain 5 of 8 judged questions." in get_text(page)
    rows = page.dataframe[0].value[["Verdict", "Questions"]].to_numpy().tolist()
    assert rows == [
        ["accepted unchanged", 1],
        ["corrected", 4],
        ["rejected", 1],
        ["rejected by one reviewer, not by another", 1],
        ["corrected differently by two reviewers", 1],
        ["not judged yet", 4],
    ]


def test_release_is_created_and_its_files_are_linked(page):
    page = create_release(page, "v1")
    [release] = load_releases()
    assert (release.name, release.items, release.made_by) == ("v1", 5, "Cora")
    assert release.folder == current_workspace().releases / "demo" / "v1"
    assert verify_release(release.folder).ok
    assert "(/files/releases/1/corrections.jsonl)" in get_text(page)
    assert "(/files/releases/1.zip)" in get_text(page)


def test_creating_a_release_again_changes_nothing(page, run_page):
    create_release(page, "v1")
    # In another tab: in the same one, the second creation would count as a double click.
    page = create_release(run_page(PAGE), "v1")
    assert "identical release already existed" in get_text(page)
    assert len(load_releases()) == 1


def test_name_that_is_not_a_folder_name_is_refused(page):
    page = create_release(page, "../v1")
    assert "must have 1 to 64 characters" in get_text(page)
    assert load_releases() == []


def test_verify_detects_a_changed_file(page, run_page):
    page = click(create_release(page, "v1"), "Verify")
    assert "v1 is unchanged: 14 files, 5 questions, 11 corrections." in get_text(page)
    path = load_releases()[0].folder / "gold.csv"
    path.write_bytes(path.read_bytes().replace(b"Effusion", b"effusion", 1))
    page = click(run_page(PAGE), "Verify")
    assert "v1 was changed after its creation" in get_text(page)


@pytest.mark.parametrize("role", [Role.ADMIN, Role.REVIEWER, Role.READER])
def test_page_is_not_found_for_other_roles(world, sign_in_as, run_page, role):
    sign_in_as("jo", role)
    page = run_page(PAGE)
    assert "Page not found." in get_text(page)
    assert "judged questions" not in get_text(page)


def test_unmet_condition_is_shown_and_blocks_the_release(page):
    find_by_label(page.text_input, "Release name").set_value("v1").run()
    find_by_label(page.toggle, "Require a low rate of answer key errors").set_value(True).run()
    assert not page.exception
    assert "the condition requires an upper limit below 5 %" in get_text(page)
    assert find_by_label(page.button, "Create release").disabled


def test_met_condition_is_recorded_in_the_manifest(page):
    find_by_label(page.toggle, "Require a low rate of answer key errors").set_value(True).run()
    find_by_label(page.number_input, "Upper limit (%)").set_value(100.0).run()
    assert not create_release(page, "v1").exception
    (release,) = load_releases()
    manifest = json.loads((release.folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["settings"]["key_errors_under"] == 1.0
    assert "Released on the condition" in (release.folder / "datacard.md").read_text(encoding="utf-8")


def test_only_the_chosen_formats_are_written(page):
    find_by_label(page.multiselect, "Additional formats").set_value([FormatName.COCO]).run()
    assert not create_release(page, "v1").exception
    (release,) = load_releases()
    names = {path.name for path in release.folder.iterdir()}
    assert "boxes.coco.json" in names
    assert names.isdisjoint({"gold.parquet", "rexvqa.json", "gemex"})
    assert verify_release(release.folder).ok
