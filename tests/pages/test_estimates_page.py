"""The pages Dataset estimates and Statistics, and the bulk actions of the page Browse."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from accounts.service import command_line_person
from browsing.service import Search, index_questions, reject_matching
from domain.people import Role
from domain.vocabulary import Difficulty
from storage.browsing.bulk_actions import list_bulk_actions
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import get_text
from tests.storage.import_worlds import Importer, make_record, to_json_lines
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import NOW, make_world

ESTIMATES, STATISTICS = "pages/estimates.py", "pages/statistics.py"


@pytest.fixture
def open_as_coordinator(sign_in_as, run_page):
    """A page as the coordinator cora sees it, without an error."""

    def run(page):
        sign_in_as("cora", Role.COORDINATOR)
        app_test = run_page(page)
        assert not app_test.exception
        return app_test

    return run


def test_without_a_sample_the_page_says_so(workspace, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    assert "No random sample yet" in get_text(open_page(ESTIMATES))


def test_without_verdicts_the_page_says_so(workspace, sign_in_as, open_page):
    make_world(workspace)
    sign_in_as("cora", Role.COORDINATOR)
    page_text = get_text(open_page(ESTIMATES))
    assert "No verdicts yet" in page_text
    assert "The sample of demo (120 questions) has not been reviewed yet." in page_text


def test_three_judged_questions_are_shown_with_their_intervals(workspace, open_as_coordinator):
    world = make_world(workspace, assigned_to=["ruth"])
    save_verdict(world, make_acceptance(world, question=1))
    save_verdict(world, make_acceptance(world, question=2))
    save_verdict(world, make_rejection(world, question=3))
    page = open_as_coordinator(ESTIMATES)
    assert "3 judged questions represent 120 of 120 questions" in get_text(page)
    assert {metric.label: metric.value for metric in page.metric}["Key error"] == "33.3 %"
    assert "95 %" in get_text(page)


def test_a_reviewer_cannot_open_estimates_or_statistics(workspace, sign_in_as, run_page):
    make_world(workspace)
    sign_in_as("ruth", Role.REVIEWER)
    for page in (ESTIMATES, STATISTICS):
        assert "Page not found." in get_text(run_page(page))


def test_statistics_without_questions_say_so(workspace, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    assert "No questions yet" in get_text(open_page(STATISTICS))


def test_statistics_count_questions_and_exams(workspace, open_as_coordinator):
    make_world(workspace)
    assert "12 questions of 6 exams" in get_text(open_as_coordinator(STATISTICS))


def test_bulk_actions_require_a_search(workspace, open_as_coordinator):
    world = make_world(workspace)
    with unit_of_work(workspace) as db:
        index_questions(db)
    page = open_as_coordinator("pages/browse.py")
    assert "Search or filter first." in get_text(page)
    assert world.dataset == "demo"
    with read_only_session(workspace) as db:
        assert list_bulk_actions(db) == []


def test_the_browse_page_lists_bulk_actions_and_undoes_them(workspace, open_as_coordinator):
    make_world(workspace)
    with unit_of_work(workspace) as db:
        db.execute(text("DELETE FROM batch_question"))
        index_questions(db)
        search = Search(dataset="demo", difficulty=Difficulty.HARD)
        reject_matching(
            db, by=command_line_person(), search=search, reason="Compares with a prior.", expected=4, now=NOW
        )
    page = open_as_coordinator("pages/browse.py")
    assert "Bulk action 1: 4 questions rejected by command line" in get_text(page)
    next(field for field in page.text_input if field.label == "Reason for undoing").set_value("Wrong.").run()
    next(button for button in page.button if button.label == "Undo").click().run()
    assert "Bulk action 1 was undone; 4 questions can be drawn again." in get_text(page)


@pytest.mark.slow
def test_datasets_are_compared_for_leaks_and_the_result_is_below_the_button(
    workspace, open_as_coordinator, tmp_path
):
    make_world(workspace)
    Importer(workspace, tmp_path)(to_json_lines(make_record()), dataset="other")
    page = open_as_coordinator(STATISTICS)
    page.multiselect[0].set_value(["demo"]).run()  # "other" was imported last, so it is open
    next(button for button in page.button if button.label == "Check for leaks").click().run()
    table = next(frame.value for frame in page.dataframe if "In more than one dataset" in frame.value)
    assert table["In more than one dataset"].tolist() == ["Patients", "Images", "Equal reports"]
    assert "Images were compared by their files" in get_text(page)
    next(box for box in page.checkbox if box.label == "Compare questions").check().run()
    next(button for button in page.button if button.label == "Check for leaks").click().run()
    tables = [frame.value for frame in page.dataframe if "In more than one dataset" in frame.value]
    assert tables[-1]["In more than one dataset"].tolist()[-1] == "Questions"
    assert "No wording is in more than one dataset." in get_text(page)
