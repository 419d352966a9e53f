"""The page Compliance: no dataset, three questions, and a report."""

import pytest

from domain.people import Role
from storage.workspace import current_workspace
from tests.pages.conftest import get_text, wait_for_jobs
from tests.storage.import_worlds import Importer, to_json_lines
from tests.storage.test_compliance import make_guessable_question

PAGE = "pages/compliance.py"


def import_questions(workspace, folder, count):
    importer = Importer(workspace, folder)
    importer.workspace = current_workspace()
    importer(to_json_lines(*(make_guessable_question(number) for number in range(1, count + 1))))


@pytest.fixture
def coordinator(sign_in_as):
    return sign_in_as("cora", Role.COORDINATOR)


def run_stages(page):
    next(button for button in page.button if button.label == "Run compliance stages").click().run()
    wait_for_jobs()
    return page.run()


def test_without_a_dataset_the_page_says_so(workspace, coordinator, run_page):
    assert "No dataset yet" in get_text(run_page(PAGE))


@pytest.mark.slow
def test_three_questions_are_too_few_for_the_text_only_stage(workspace, tmp_path, coordinator, run_page):
    import_questions(workspace, tmp_path, 3)
    text = get_text(run_stages(run_page(PAGE)))
    assert "3 of 3 questions pass 2 stages." in text
    assert "Not examined: needs at least 20 questions" in text


@pytest.mark.slow
def test_the_report_shows_the_stages_the_gain_and_the_options(workspace, tmp_path, coordinator, run_page):
    import_questions(workspace, tmp_path, 30)
    page = run_stages(run_page(PAGE))
    stages, tasks, options, bias = (table.value.to_dict("records") for table in page.dataframe)
    assert [row["Stage"] for row in stages] == [
        "Patient data",
        "Terms of data use",
        "Key revealed by the text",
    ]
    assert [row["Task"] for row in tasks] == ["All", "Presence"]
    shares = {row["The key is"]: row["Share (%)"] for row in options}
    assert (shares["the longest"], shares["the shortest"]) == ("100.0", "0.0")
    assert len(bias) == 9
