"""The page Agreement: each number with its n, text where a value is undefined, and closed to reviewers."""

import pytest

from domain.people import Role
from tests.pages.conftest import texts
from tests.storage.judgements import accept, give, reject
from tests.storage.worlds import make_world

PAGE = "pages/agreement.py"


@pytest.fixture
def page_of(sign_in_as, run_page):
    """The page as the coordinator cora sees it."""

    def run():
        sign_in_as("cora", Role.COORDINATOR)
        found = run_page(PAGE)
        assert not found.exception
        return found

    return run


def test_without_a_batch_the_page_leads_to_drawing_one(workspace, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    assert "No batch yet" in texts(open_page(PAGE))


def test_a_reviewer_does_not_get_the_page(workspace, sign_in_as, run_page):
    make_world(workspace)
    sign_in_as("ruth", Role.REVIEWER)
    assert "Page not found." in texts(run_page(PAGE))


def test_without_a_shared_question_the_page_leads_to_second_opinions(workspace, sign_in_as, open_page):
    make_world(workspace, assigned_to=["ruth"])
    sign_in_as("cora", Role.COORDINATOR)
    assert "No question was judged twice yet" in texts(open_page(PAGE))


def test_each_cell_has_its_n(workspace, page_of):
    world = make_world(workspace, assigned_to=["ruth", "remo"])
    for question in (1, 2, 3):
        give(world, accept(world, question=question))
        give(world, accept(world, question=question, person="remo"), "remo")
    give(world, reject(world, question=4))
    give(world, accept(world, question=4, person="remo"), "remo")
    (decision,) = page_of().dataframe[0].value.to_dict("records")
    assert decision["Agreement"].startswith("75 % (")
    assert all("n = 4" in decision[each] for each in ("Agreement", "Kappa", "AC1 or other"))
