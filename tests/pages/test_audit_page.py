"""The page Audit trail: a filter without results, one entry in full, and the verification."""

import pytest

from domain.people import Role
from tests.pages.conftest import texts
from tests.storage.judgements import accept, give
from tests.storage.worlds import make_world

PAGE = "pages/audit.py"


@pytest.fixture
def page(workspace, sign_in_as, run_page):
    world = make_world(workspace, assigned_to=["ruth"])
    sign_in_as("cora", Role.COORDINATOR)
    give(world, accept(world, question=1))
    found = run_page(PAGE)
    assert not found.exception
    return found


def shown(page, column):
    return page.dataframe[0].value[column].tolist()


def choose(page, label, value):
    return next(each for each in page.selectbox if each.label == label).set_value(value).run()


def test_what_fits_nothing_says_so(page):
    page = next(each for each in page.text_input if each.label == "Subject").set_value("batch 999").run()
    assert "No entry fits these filters" in texts(page)


def test_an_entry_is_shown_whole_with_its_hash(page):
    page = choose(page, "Look at one", shown(page, "No.")[0])
    assert "the entry before has" in texts(page)


def test_a_whole_trail_is_verified_with_its_counts(page):
    page = next(each for each in page.button if each.label == "Verify").click().run()
    assert "1 judgements agree with theirs" in texts(page)
