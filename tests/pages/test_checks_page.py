"""The page Checks: counts by check and field, running the checks, and opening an example."""

from pathlib import Path

import pytest

from domain.people import Role
from storage.workspace import current_workspace
from tests.pages.conftest import get_text
from tests.storage.import_worlds import Importer, make_record, to_json_lines

PAGE = "pages/checks.py"


@pytest.fixture
def page(workspace, tmp_path, sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    importer = Importer(workspace, tmp_path)
    importer.workspace = current_workspace()
    importer(
        to_json_lines(
            make_record(1),
            make_record(2, options=["a", "b", "c"]),
            make_record(3, category=None),
            make_record(4, task=None),
        )
    )
    page = run_page(PAGE)
    assert not page.exception
    return page


def click(page, label):
    return next(button for button in page.button if button.label == label).click().run()


def read_table(page):
    frame = page.dataframe[0].value
    return {row["Check"]: row for row in frame.to_dict("records")}


def test_each_check_has_its_counts(page):
    assert [(metric.label, metric.value) for metric in page.metric] == [
        ("No problem so far", "1"),
        ("With a problem", "3"),
        ("Checks pending", "4"),  # an import runs the structural checks only
    ]
    assert get_text(page).count("n = 4") == 3
    counts = {check: (row["With a problem"], row["Passed"]) for check, row in read_table(page).items()}
    assert (counts["Schema"], counts["Types"]) == ((1, 3), (0, 4))
    assert (counts["Format"], counts["Completeness"]) == ((0, 4), (2, 2))


def test_example_opens_its_question(page):
    chooser = next(selectbox for selectbox in page.selectbox if selectbox.label == "View question")
    page = chooser.select_index(0).run()
    assert "options 3 instead of 4" in get_text(page)
    assert "Which finding is present on this radiograph?" in get_text(page)
    assert "Schema: problem · Types: passed" in get_text(page)


@pytest.mark.slow
def test_a_run_uses_the_new_setting(page):
    page = page.number_input[0].set_value(500).run()
    page = click(page, "Save settings")
    assert "Saved. Run the checks to apply the settings to 4 questions." in get_text(page)
    page = click(page, "Run checks").run()
    assert "Checked 4 questions. Problems:" in get_text(page)
    assert read_table(page)["Format"]["With a problem"] == 4
    assert {metric.label: metric.value for metric in page.metric}["Checks pending"] == "0"


@pytest.mark.slow
def test_a_check_that_is_switched_off_does_not_count(page):
    box = next(checkbox for checkbox in page.checkbox if checkbox.label == "Completeness")
    page = click(box.uncheck().run(), "Save settings")
    assert {metric.label: metric.value for metric in page.metric}["No problem so far"] == "3"
    assert read_table(page)["Completeness"]["Status"] == "off"
    page = page.run()
    assert not next(checkbox for checkbox in page.checkbox if checkbox.label == "Completeness").value


def test_without_a_dataset_the_page_says_so(workspace, sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    assert "No dataset yet" in get_text(run_page(PAGE))


def test_page_is_not_found_for_a_reviewer(workspace, sign_in_as, run_page):
    sign_in_as("rhea", Role.REVIEWER)
    assert "Page not found." in get_text(run_page(PAGE))


def _import_dataset(workspace, folder, dataset, first_number):
    folder.mkdir()
    importer = Importer(workspace, folder)
    importer.workspace = current_workspace()
    importer(to_json_lines(make_record(first_number), make_record(first_number + 1)), dataset=dataset)


def _get_dataset(page):
    return next(selectbox for selectbox in page.selectbox if selectbox.label == "Dataset").value


@pytest.mark.slow
def test_page_opens_with_the_dataset_imported_last(workspace, tmp_path, sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    for first_number, dataset in ((1, "Demo"), (11, "zebra"), (21, "middle")):
        _import_dataset(workspace, tmp_path / dataset, dataset, first_number)
    assert _get_dataset(run_page(PAGE)) == "middle"


@pytest.mark.slow
def test_page_opens_with_the_dataset_chosen_on_another_page(workspace, tmp_path, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    for first_number, dataset in ((1, "Demo"), (11, "zebra")):
        _import_dataset(workspace, tmp_path / dataset, dataset, first_number)
    page = open_page("pages/statistics.py")
    next(selectbox for selectbox in page.selectbox if selectbox.label == "Dataset").set_value("Demo").run()
    page = page.switch_page(str(Path(__file__).resolve().parents[2] / PAGE)).run()
    assert _get_dataset(page) == "Demo"
