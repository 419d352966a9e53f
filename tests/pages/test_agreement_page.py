"""The page Agreement: each number with its n, text where a value is undefined, and closed to reviewers."""

import pytest

from domain.people import Role
from tests.pages.conftest import get_text
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import make_world

PAGE = "pages/agreement.py"


@pytest.fixture
def open_agreement_page(sign_in_as, run_page):
    """The page as the coordinator cora sees it."""

    def run():
        sign_in_as("cora", Role.COORDINATOR)
        page = run_page(PAGE)
        assert not page.exception
        return page

    return run


def test_without_a_batch_the_page_leads_to_drawing_one(workspace, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    assert "No batch yet" in get_text(open_page(PAGE))


def test_a_reviewer_does_not_get_the_page(workspace, sign_in_as, run_page):
    make_world(workspace)
    sign_in_as("ruth", Role.REVIEWER)
    assert "Page not found." in get_text(run_page(PAGE))


def test_without_a_shared_question_the_page_leads_to_second_opinions(workspace, sign_in_as, open_page):
    make_world(workspace, assigned_to=["ruth"])
    sign_in_as("cora", Role.COORDINATOR)
    assert "No questions judged twice yet" in get_text(open_page(PAGE))


def test_each_cell_has_its_n(workspace, open_agreement_page):
    world = make_world(workspace, assigned_to=["ruth", "remo"])
    for question in (1, 2, 3):
        save_verdict(world, make_acceptance(world, question=question))
        save_verdict(world, make_acceptance(world, question=question, person="remo"), "remo")
    save_verdict(world, make_rejection(world, question=4))
    save_verdict(world, make_acceptance(world, question=4, person="remo"), "remo")
    (decision,) = open_agreement_page().dataframe[0].value.to_dict("records")
    assert decision["Agreement"].startswith("75 % (")
    assert all("n = 4" in decision[column] for column in ("Agreement", "Kappa", "AC1 or alternative"))
