"""The coordinator's page Reader studies, and the reader's page when there is no case."""

from __future__ import annotations

from dataclasses import replace

import pytest

from domain.people import Role
from domain.protocols import Protocol
from reader_study import service as studies
from storage.reader_study.studies import find_study
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import texts
from tests.storage.study_worlds import answer, make_study_world, read_all
from tests.storage.worlds import NOW, make_world

PAGE, READ = "pages/studies.py", "pages/read.py"


@pytest.fixture
def coordinator(sign_in_as, run_page):
    """The page as cora sees it, on one of its views."""

    def run(view: str = "Studies"):
        sign_in_as("cora", Role.COORDINATOR)
        page = run_page(PAGE)
        if view != "Studies":
            page.session_state["studies-view"] = view
            page.run()
        assert not page.exception
        return page

    return run


def test_without_a_study_the_page_says_what_to_do(workspace, coordinator):
    make_world(workspace)
    assert "No reader study yet" in texts(coordinator())


@pytest.mark.parametrize("role", [Role.ADMIN, Role.REVIEWER, Role.READER])
def test_others_do_not_get_the_page(workspace, sign_in_as, run_page, role):
    sign_in_as("somebody", role)
    assert texts(run_page(PAGE)) == "Page not found."


def test_a_study_shows_design_protocol_and_progress_but_no_question(workspace, coordinator):
    made = make_study_world(workspace)
    answer(made)
    page = coordinator()
    shown = texts(page)
    assert "6 cases of dataset demo" in shown
    assert Protocol().sha256() in shown
    assert "frozen: the first answer is in" in shown
    assert "SECRET" not in shown + str([frame.value.to_dict() for frame in page.dataframe])
    assert page.dataframe[0].value["Read"].tolist() == ["1 of 6", "0 of 6"]


def test_readers_are_named_on_the_page(workspace, coordinator):
    make_study_world(workspace, readers=[])
    page = coordinator()
    page.multiselect[0].set_value(["rea", "ria"]).run()
    next(each for each in page.button if each.label == "Add").click().run()
    assert "2 readers; each has an order of their own." in texts(page)


def test_a_later_version_of_the_protocol_is_shown_with_its_reason(workspace, coordinator):
    made = make_study_world(workspace)
    answer(made)
    with unit_of_work() as db:
        changed = replace(Protocol(), margin=0.04)
        studies.change_protocol(
            db, by=made.cora, study="first", protocol=changed, why="the margin was left out", now=NOW
        )
    shown = texts(coordinator())
    assert "Version 2" in shown
    assert "1 answers were in" in shown
    assert "the margin was left out" in shown


def test_a_study_is_made_on_the_page(workspace, coordinator):
    made = make_study_world(workspace, readers=[])
    page = coordinator("New study")
    page.text_input[0].set_value("second")
    for field, value in (("Cases", 5), ("Training cases", 1), ("Hidden repeats", 0)):
        next(each for each in page.number_input if each.label == field).set_value(value)
    page.run()
    next(each for each in page.button if each.label == "Make the study").click().run()
    assert not page.exception
    with read_only_session() as db:
        found = find_study(db, name="second")
    assert found is not None
    assert found.design.training == 1
    assert found.dataset_id == made.world.dataset_id


def test_a_study_is_closed_and_opened_again(workspace, coordinator):
    make_study_world(workspace)
    page = coordinator()
    next(each for each in page.button if each.label == "Close the study").click().run()
    assert "The study first is closed." in texts(page)


def test_a_reader_with_nothing_to_read_is_told_so(workspace, sign_in_as, run_page):
    make_study_world(workspace, readers=["rea"])
    sign_in_as("ria", Role.READER)
    assert "Nothing is yours to read yet" in texts(run_page(READ))


def test_the_guideline_is_shown_first_without_its_images(workspace, sign_in_as, run_page):
    make_study_world(workspace, protocol=Protocol(guideline="Look. ![x](https://elsewhere/x.png)"))
    sign_in_as("rea", Role.READER)
    page = run_page(READ)
    assert "Look. [x](https://elsewhere/x.png)" in "\n".join(each.value for each in page.markdown)
    assert [each.label for each in page.button] == ["I have read it: begin"]


def test_who_is_through_is_thanked_and_sees_their_result_by_setting(workspace, sign_in_as, run_page):
    made = make_study_world(workspace, protocol=Protocol(show_own_result=True))
    read_all(made)
    sign_in_as("rea", Role.READER)
    shown = texts(run_page(READ))
    assert "you are through. Thank you." in shown
    assert "of 6 right" in shown


def test_a_closed_study_says_so_to_its_readers(workspace, sign_in_as, run_page):
    made = make_study_world(workspace)
    with unit_of_work() as db:
        studies.close_study(db, by=made.cora, study="first", now=NOW)
    sign_in_as("rea", Role.READER)
    assert "first is closed." in texts(run_page(READ))
