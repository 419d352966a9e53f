"""The page Progress: numbers with their n, and text where a number is undefined."""

import pytest

from domain.people import Role
from domain.verdicts import ErrorKind
from storage.unit_of_work import unit_of_work
from tests.pages.conftest import texts
from tests.storage.judgements import accept, give, reject
from tests.storage.worlds import make_batch, make_world

PAGE = "pages/progress.py"


@pytest.fixture
def page_of(sign_in_as, run_page):
    """The page as the coordinator cora sees it."""

    def run():
        sign_in_as("cora", Role.COORDINATOR)
        found = run_page(PAGE)
        assert not found.exception
        return found

    return run


def metrics(page):
    return {metric.label: metric.value for metric in page.metric}


def shown(page):
    return texts(page).replace("\\", "")


def test_without_a_batch_the_page_leads_to_drawing_one(workspace, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    page = open_page(PAGE)
    assert "No batch yet" in texts(page)


def test_a_reviewer_does_not_get_the_page(workspace, sign_in_as, run_page):
    make_world(workspace)
    sign_in_as("ruth", Role.REVIEWER)
    assert "Page not found." in texts(run_page(PAGE))


def test_a_batch_with_nobody_leads_to_assigning(workspace, sign_in_as, open_page):
    make_world(workspace)
    sign_in_as("cora", Role.COORDINATOR)
    assert "No questions of this batch are assigned yet" in texts(open_page(PAGE))


def test_before_the_first_verdict_the_page_says_what_is_not_defined(workspace, page_of):
    make_world(workspace, assigned_to=["ruth"])
    page = page_of()
    assert metrics(page) == {
        "Done": "0",
        "Skipped": "0",
        "Left": "12",
        "Median viewing time": "none yet",
        "Estimated finish": "not yet known",
    }
    assert "Not defined yet: no question has a verdict." in texts(page)
    assert "Not defined yet: no judgement has both" in texts(page)


def test_verdicts_are_counted_and_errors_have_share_and_interval(workspace, page_of):
    world = make_world(workspace, questions=12, per_exam=1, assigned_to=["ruth"])
    for number in range(1, 4):
        give(world, accept(world, question=number))
    give(world, reject(world, question=4, kind=ErrorKind.WRONG_KEY))
    page = page_of()
    assert (metrics(page)["Done"], metrics(page)["Left"]) == ("4", "8")
    # Wilson, 1 of 4: 4.6 to 69.9 %
    assert "1 wrong key (25.0 %, 4.6–69.9)" in shown(page)
    errors = next(each.value for each in page.dataframe if "Kind of error" in each.value)
    row = errors[errors["Kind of error"] == "wrong key"].iloc[0]
    assert (row["Questions"], row["n"], row["Share"]) == (1, 4, "25.0 %")


def test_tiers_show_kappa_with_its_n(workspace, page_of):
    world = make_world(workspace, questions=6, per_exam=1, assigned_to=["ruth"])
    for number in world.questions:
        give(world, accept(world, question=number))  # the reviewer rates each as medium
    kappas = next(each.value for each in page_of().dataframe if "Kappa" in each.value)
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
    assert "12 questions, 12 judgements requested" in shown(page)
