"""The page Near-duplicates: nothing to search, a search, the limit, marks, and the calibration."""

import pytest

from domain.people import Role
from storage.workspace import current_workspace
from tests.pages.conftest import get_text, wait_for_jobs
from tests.storage.import_worlds import Importer, make_record, to_json_lines

PAGE = "pages/duplicates.py"
STEMS = (
    "Is there a pleural effusion on the left side?",
    "Is there a pleural effusion on the right side?",
    "Is there a pneumothorax?",
    "Is there cardiomegaly?",
    "Is there a fracture?",
    "is there any pneumothorax ?",
)


def import_questions(workspace, folder, stems):
    importer = Importer(workspace, folder)
    importer.workspace = current_workspace()
    importer(
        to_json_lines(
            *(
                make_record(number, format="closed", stem=stem, options=..., answer="yes")
                for number, stem in enumerate(stems, start=1)
            )
        )
    )


@pytest.fixture
def coordinator(sign_in_as):
    return sign_in_as("cora", Role.COORDINATOR)


def click(page, label):
    return next(button for button in page.button if button.label == label).click().run()


def start_job(page, label):
    """Click a button that starts a job, and wait for the job."""
    page = click(page, label)
    wait_for_jobs()
    return page.run()


def list_button_labels(page):
    return [button.label for button in page.button]


def test_without_a_dataset_the_page_says_so(workspace, coordinator, run_page):
    page = run_page(PAGE)
    assert "No dataset yet" in get_text(page)


def test_one_question_has_no_duplicate_and_nothing_to_judge(workspace, tmp_path, coordinator, run_page):
    import_questions(workspace, tmp_path, STEMS[:1])
    page = start_job(run_page(PAGE), "Search for near-duplicates")
    assert "No near-duplicates and no contradicting keys found." in get_text(page)
    assert "Mark near-duplicates" not in list_button_labels(page)
    page = start_job(page, "Draw pairs")
    assert "Nothing to judge" in get_text(page)


@pytest.mark.slow
def test_a_search_shows_shares_and_pairs_before_anything_is_marked(
    workspace, tmp_path, coordinator, run_page
):
    import_questions(workspace, tmp_path, STEMS)
    page = start_job(run_page(PAGE), "Search for near-duplicates")
    text = get_text(page)
    assert "1 near-duplicate and 0 pairs with contradicting keys found. Nothing is marked yet." in text
    rows = page.dataframe[0].value.to_dict("records")
    assert rows[0]["Questions of"] == "All questions"
    assert (rows[0]["Questions"], rows[0]["Near-duplicates"]) == (6, 1)
    page = start_job(page, "Mark near-duplicates")
    assert "1 near-duplicate and 0 pairs with contradicting keys marked." in get_text(page)
    assert "Mark near-duplicates" not in list_button_labels(page)


def test_above_the_limit_nothing_is_marked_and_the_result_stays(workspace, tmp_path, coordinator, run_page):
    import_questions(workspace, tmp_path, [STEMS[0]] * 30)
    page = start_job(run_page(PAGE), "Search for near-duplicates")
    page = click(page, "Mark near-duplicates")
    text = get_text(page)
    assert "29 of 30 questions of the dataset would be marked" in text
    assert "29 near-duplicates and 0 pairs with contradicting keys found." in text
    assert "Mark near-duplicates" in list_button_labels(page)


def test_a_judgement_shows_the_estimate_and_can_be_undone(workspace, tmp_path, coordinator, run_page):
    import_questions(workspace, tmp_path, STEMS)
    page = start_job(run_page(PAGE), "Draw pairs")
    assert "0 of 1 pairs judged" in get_text(page)
    page = click(page, "Different")
    assert "All drawn pairs are judged." in get_text(page)
    rates = [row["Wrong merges (95 % interval)"] for row in page.dataframe[0].value.to_dict("records")]
    assert rates[0].startswith("100.0%")
    assert rates[-1] == "no pairs"
    page = click(page, "Undo last judgement")
    assert "0 of 1 pairs judged" in get_text(page)
