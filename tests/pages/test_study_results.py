"""The report of a study on the page, computed when it is asked for."""

from __future__ import annotations

from domain.people import Role
from domain.protocols import Protocol
from tests.pages.conftest import texts
from tests.storage.study_worlds import make_study_world, read_all


def open_page(sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    page = run_page("pages/studies.py")
    assert not page.exception
    return page


def compute(page) -> str:
    next(each for each in page.button if each.label == "Compute the figures").click().run(timeout=120)
    assert not page.exception
    return texts(page)


def test_the_figures_come_when_asked_for_with_their_n(workspace, sign_in_as, run_page):
    made = make_study_world(workspace, cases=4, protocol=Protocol(bootstrap=0))
    read_all(made, "rea", place=0)
    read_all(made, "rob", place=1)
    page = open_page(sign_in_as, run_page)
    assert "On 4 cases" not in texts(page)
    assert "On 4 cases, rea was right on" in compute(page)


def test_a_study_without_answers_says_so(workspace, sign_in_as, run_page):
    make_study_world(workspace, cases=4)
    assert "nothing to report" in compute(open_page(sign_in_as, run_page))
