"""The report of a study on its page: computed in the background on request, then stored."""

from __future__ import annotations

import pytest

from domain.people import Role
from domain.protocols import Protocol
from tests.pages.conftest import settled, texts
from tests.storage.study_reports import predict, scored
from tests.storage.study_worlds import make_design, make_study_world, read_all

pytestmark = pytest.mark.slow


def open_report(sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    return report_page(run_page)


def report_page(run_page):
    page = run_page("pages/studies.py")
    next(each for each in page.segmented_control if "Report" in each.options).set_value("Report").run()
    assert not page.exception
    return page


def compute(page) -> str:
    """The page once the background thread has finished."""
    next(each for each in page.button if each.label == "Compute the figures").click().run(timeout=120)
    settled(within=60)
    page.run(timeout=120)
    assert not page.exception
    return texts(page)


def test_the_figures_come_when_asked_for_with_their_n(workspace, sign_in_as, run_page):
    made = make_study_world(workspace, cases=4, protocol=Protocol(bootstrap=0))
    read_all(made, "rea", place=0)
    read_all(made, "rob", place=1)
    page = open_report(sign_in_as, run_page)
    assert "On 4 cases" not in texts(page)
    assert "On 4 cases, rea was right on" in compute(page)


def test_a_study_without_answers_says_so(workspace, sign_in_as, run_page):
    make_study_world(workspace, cases=4)
    assert "nothing to report" in compute(open_report(sign_in_as, run_page))


def test_every_part_of_the_report_draws_and_links_its_files(workspace, sign_in_as, run_page):
    made = make_study_world(
        workspace, design=make_design(6, repeats=2, repeat_gap=1), protocol=Protocol(bootstrap=0)
    )
    read_all(made, "rea", place=0)
    read_all(made, "rob", place=1)
    page = open_report(sign_in_as, run_page)
    compute(page)
    files = {
        "Accuracy": "figures/accuracy-all.svg",
        "Differences": "No model has predictions",
        "Agreement": "figures/repeats.csv",
        "Time and order": "figures/learning.svg",
        "Answers": "figures/confusion-rea.svg",
        "Lists and protocol": "tables/exclusions.csv",
    }
    for part, link in files.items():
        sections = next(each for each in page.segmented_control if part in each.options)
        sections.set_value(part).run(timeout=60)
        assert not page.exception
        assert link in texts(page)


def test_the_differences_to_a_model_and_the_accuracies_by_category_are_drawn(
    workspace, sign_in_as, run_page, tmp_path
):
    made = make_study_world(workspace, cases=4, protocol=Protocol(bootstrap=0))
    read_all(made, "rea", place=0)
    predict(made, tmp_path, {case.question.id: {"answer": "A"} for case in scored(made)})
    page = open_report(sign_in_as, run_page)
    compute(page)
    next(each for each in page.segmented_control if "category" in each.options).set_value("category").run()
    assert not page.exception
    assert "tables/by_category.csv" in texts(page)
    next(each for each in page.segmented_control if "Differences" in each.options).set_value(
        "Differences"
    ).run(timeout=60)
    assert not page.exception
    assert "figures/differences-all.svg" in texts(page)
    assert "Readers together against each model" in texts(page)


def test_a_report_that_is_kept_is_shown_at_once(workspace, sign_in_as, run_page):
    made = make_study_world(workspace, cases=4, protocol=Protocol(bootstrap=0))
    read_all(made, "rea", place=0)
    compute(open_report(sign_in_as, run_page))
    assert "On 4 cases, rea was right on" in texts(report_page(run_page))
