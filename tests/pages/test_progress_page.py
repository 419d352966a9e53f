"""The page Progress: numbers with their n, and text where a number is undefined."""

import pytest

from domain.people import Role
from domain.verdicts import ErrorKind
from storage.unit_of_work import unit_of_work
from tests.pages.conftest import get_text
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import make_batch, make_world

PAGE = "pages/progress.py"


@pytest.fixture
def open_progress_page(sign_in_as, run_page):
    """Opens the page as the coordinator cora."""

    def run():
        sign_in_as("cora", Role.COORDINATOR)
        page = run_page(PAGE)
        assert not page.exception
        return page

    return run


def get_metrics(page):
    return {metric.label: metric.value for metric in page.metric}


def get_unescaped_text(page):
    return get_text(page).replace("\\", "")


def test_page_without_a_batch_shows_a_message(workspace, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    page = open_page(PAGE)
    assert "No batch yet" in get_text(page)


def test_page_is_not_found_for_a_reviewer(workspace, sign_in_as, run_page):
    make_world(workspace)
    sign_in_as("ruth", Role.REVIEWER)
    assert "Page not found." in get_text(run_page(PAGE))


def test_page_of_an_unassigned_batch_shows_a_message(workspace, sign_in_as, open_page):
    make_world(workspace)
    sign_in_as("cora", Role.COORDINATOR)
    assert "No questions of this batch are assigned yet" in get_text(open_page(PAGE))


def test_undefined_figures_are_marked_before_the_first_verdict(workspace, open_progress_page):
    make_world(workspace, assigned_to=["ruth"])
    page = open_progress_page()
    assert get_metrics(page) == {
        "Done": "0",
        "Skipped": "0",
        "Left": "12",
        "Median viewing time": "none yet",
        "Estimated finish": "not yet known",
    }
    assert "Not defined yet: no question has a verdict." in get_text(page)
    assert "Not defined yet: no judged question has both" in get_text(page)


def test_verdicts_are_counted_and_errors_have_share_and_interval(workspace, open_progress_page):
    world = make_world(workspace, questions=12, per_exam=1, assigned_to=["ruth"])
    for number in range(1, 4):
        save_verdict(world, make_acceptance(world, question=number))
    save_verdict(world, make_rejection(world, question=4, kind=ErrorKind.WRONG_KEY))
    page = open_progress_page()
    assert (get_metrics(page)["Done"], get_metrics(page)["Left"]) == ("4", "8")
    # Wilson, 1 of 4: 4.6 to 69.9 %
    assert "1 wrong key (25.0 %, 4.6–69.9)" in get_unescaped_text(page)
    errors = next(table.value for table in page.dataframe if "Kind of error" in table.value)
    row = errors[errors["Kind of error"] == "wrong key"].iloc[0]
    assert (row["Questions"], row["n"], row["Share"]) == (1, 4, "25.0 %")


def test_kappas_of_the_tiers_are_shown_with_their_n(workspace, open_progress_page):
    world = make_world(workspace, questions=6, per_exam=1, assigned_to=["ruth"])
    for number in world.questions:
        save_verdict(world, make_acceptance(world, question=number))  # rated as medium
    kappas = next(table.value for table in open_progress_page().dataframe if "Kappa" in table.value)
    assert list(kappas["Estimate"]) == ["0.00", "0.00"]
    assert list(kappas["95 % interval"]) == ["none", "none"]
    assert list(kappas["n"]) == [6, 6]
    assert "single category" in kappas["Note"][0]


def test_another_batch_can_be_chosen(workspace, sign_in_as, open_page):
    world = make_world(workspace, assigned_to=["ruth"])
    with unit_of_work() as db:
        make_batch(db, dataset_id=world.dataset_id, name="second", questions=world.questions[:3])
    sign_in_as("cora", Role.COORDINATOR)
    page = open_page(PAGE)
    page.selectbox(key="batch-to-follow").set_value("first").run()
    assert "12 questions, 12 judgements requested" in get_unescaped_text(page)
