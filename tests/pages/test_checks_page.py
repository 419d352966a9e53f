"""The page Checks: counts with n, by check and field, and the question behind each example."""

import pytest

from domain.people import Role
from storage.workspace import current_workspace
from tests.pages.conftest import texts
from tests.storage.import_worlds import Importer, lines, record

PAGE = "pages/checks.py"


@pytest.fixture
def page(workspace, tmp_path, sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    importer = Importer(workspace, tmp_path)
    importer.workspace = current_workspace()
    importer(
        lines(record(1), record(2, options=["a", "b", "c"]), record(3, category=None), record(4, task=None))
    )
    found = run_page(PAGE)
    assert not found.exception
    return found


def click(page, label):
    return next(button for button in page.button if button.label == label).click().run()


def test_each_check_has_its_count_with_n(page):
    assert [(each.label, each.value) for each in page.metric] == [
        ("With a problem", "3"),
        ("Schema", "1"),
        ("Types", "0"),
        ("Format", "0"),
        ("Completeness", "2"),
    ]
    assert texts(page).count("n = 4") == 5


def test_an_example_leads_to_its_question(page):
    chooser = next(each for each in page.selectbox if each.label == "View question")
    page = chooser.select_index(0).run()
    assert "options there are 3; the published format has 4" in texts(page)
    assert "Which finding is present on this radiograph?" in texts(page)


def test_checking_again_takes_the_new_setting(page):
    page = page.number_input[0].set_value(500).run()
    page = click(page, "Run checks again")
    assert "Checked 4 questions; 4 with problems." in texts(page)
    assert {each.label: each.value for each in page.metric}["Format"] == "4"


def test_without_a_dataset_the_page_leads_to_the_import(workspace, sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    assert "No dataset yet" in texts(run_page(PAGE))


def test_a_reviewer_finds_no_such_page(workspace, sign_in_as, run_page):
    sign_in_as("rhea", Role.REVIEWER)
    assert "Page not found." in texts(run_page(PAGE))
