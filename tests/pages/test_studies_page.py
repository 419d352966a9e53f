"""The coordinator's page Reader studies, and the reader's page when there is no case."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select

from domain.people import Role
from domain.protocols import Protocol
from reader_study import service as studies
from storage.reader_study.studies import find_study
from storage.rows.audit import AuditRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import get_text, wait_for_jobs
from tests.storage.study_worlds import answer_case, make_study_world, read_all
from tests.storage.worlds import NOW, make_world

PAGE, READ_PAGE = "pages/studies.py", "pages/read.py"


@pytest.fixture
def open_studies_page(sign_in_as, run_page):
    """Opens the page as cora, on one of its views."""

    def run(view: str = "Studies"):
        sign_in_as("cora", Role.COORDINATOR)
        page = run_page(PAGE)
        if view != "Studies":
            page.session_state["studies-view"] = view
            page.run()
        assert not page.exception
        return page

    return run


@pytest.mark.slow
def test_page_without_a_study_shows_a_message(workspace, open_studies_page):
    make_world(workspace)
    assert "No reader studies yet" in get_text(open_studies_page())


@pytest.mark.parametrize("role", [Role.ADMIN, Role.REVIEWER, Role.READER])
def test_page_is_not_found_for_other_roles(workspace, sign_in_as, run_page, role):
    sign_in_as("jo", role)
    assert get_text(run_page(PAGE)) == "Page not found."


def test_a_study_shows_design_protocol_and_progress_but_no_question(workspace, open_studies_page):
    study_world = make_study_world(workspace)
    answer_case(study_world)
    page = open_studies_page()
    text = get_text(page)
    assert "6 cases from dataset demo" in text
    assert Protocol().sha256() in text
    assert "reading has begun: readers and cases are fixed" in text
    assert "SECRET" not in text + str([frame.value.to_dict() for frame in page.dataframe])
    assert page.dataframe[0].value["Cases read"].tolist() == ["1 of 6", "0 of 6"]


def test_readers_are_added_on_the_page(workspace, open_studies_page):
    make_study_world(workspace, readers=[])
    page = open_studies_page()
    page.multiselect[0].set_value(["rea", "ria"]).run()
    next(button for button in page.button if button.label == "Add to study").click().run()
    assert "The study has 2 readers, each with their own order of cases." in get_text(page)


def test_a_later_version_of_the_protocol_is_shown_with_its_reason(workspace, open_studies_page):
    study_world = make_study_world(workspace)
    answer_case(study_world)
    with unit_of_work() as db:
        changed_protocol = replace(Protocol(), margin=0.04)
        studies.change_protocol(
            db,
            by=study_world.cora,
            study="first",
            protocol=changed_protocol,
            reason="the margin was left out",
            now=NOW,
        )
    text = get_text(open_studies_page())
    assert "Version 2" in text
    assert "after 1 answer." in text
    assert "the margin was left out" in text


@pytest.mark.slow
def test_study_is_created_on_the_page(workspace, open_studies_page):
    study_world = make_study_world(workspace, readers=[])
    page = open_studies_page("New study")
    page.text_input[0].set_value("second")
    for field, value in (("Cases", 5), ("Training cases", 1), ("Hidden repeats", 0)):
        next(number_field for number_field in page.number_input if number_field.label == field).set_value(
            value
        )
    page.run()
    next(button for button in page.button if button.label == "Create study").click().run()
    assert not page.exception
    with read_only_session() as db:
        study = find_study(db, name="second")
    assert study is not None
    assert study.design.training == 1
    assert study.dataset_id == study_world.world.dataset_id
    wait_for_jobs()
    with read_only_session() as db:
        actions = db.execute(select(AuditRow.what).order_by(AuditRow.number)).scalars().all()
    assert actions[-2:] == ["create study", "take checkpoint"]


def test_study_can_be_closed(workspace, open_studies_page):
    make_study_world(workspace)
    page = open_studies_page()
    next(button for button in page.button if button.label == "Close study").click().run()
    assert "The study first is now closed." in get_text(page)


def test_reader_without_cases_sees_a_message(workspace, sign_in_as, run_page):
    make_study_world(workspace, readers=["rea"])
    sign_in_as("ria", Role.READER)
    assert "No studies yet" in get_text(run_page(READ_PAGE))


def test_the_guideline_is_shown_first_without_its_images(workspace, sign_in_as, run_page):
    make_study_world(workspace, protocol=Protocol(guideline="Look. ![x](https://elsewhere/x.png)"))
    sign_in_as("rea", Role.READER)
    page = run_page(READ_PAGE)
    assert "Look. [x](https://elsewhere/x.png)" in "\n".join(element.value for element in page.markdown)
    assert [button.label for button in page.button] == ["Start reading"]


def test_reader_who_finished_sees_the_result_if_the_protocol_allows(workspace, sign_in_as, run_page):
    study_world = make_study_world(workspace, protocol=Protocol(show_own_result=True))
    read_all(study_world)
    sign_in_as("rea", Role.READER)
    text = get_text(run_page(READ_PAGE))
    assert "study complete" in text
    assert "of 6 correct" in text


def test_reader_sees_that_a_study_is_closed(workspace, sign_in_as, run_page):
    study_world = make_study_world(workspace)
    with unit_of_work() as db:
        studies.close_study(db, by=study_world.cora, study="first", now=NOW)
    sign_in_as("rea", Role.READER)
    assert "first is closed." in get_text(run_page(READ_PAGE))


def _find_number(page, label):
    return next(field for field in page.number_input if field.label == label)


@pytest.mark.slow
def test_the_default_sizes_of_a_new_study_fit_the_dataset(workspace, open_studies_page):
    # 24 questions on 24 exams: 2 for training, the other 22 scored, 2 of them repeated
    make_world(workspace, questions=24, per_exam=1)
    page = open_studies_page("New study")
    labels = ("Cases", "Training cases", "Hidden repeats", "Minimum gap (cases)")
    assert [_find_number(page, label).value for label in labels] == [22, 2, 2, 11]
    page.text_input[0].set_value("with defaults")
    page.run()
    next(button for button in page.button if button.label == "Create study").click().run()
    assert not page.error
    with read_only_session() as db:
        study = find_study(db, name="with defaults")
    assert study is not None


def test_the_form_explains_that_a_study_needs_more_exams_than_the_dataset_has(workspace, open_studies_page):
    make_world(workspace, questions=24, per_exam=1)
    page = open_studies_page("New study")
    _find_number(page, "Cases").set_value(23)
    page.run()
    [error] = page.error
    assert "23 cases and 2 training cases need 25 exams; 24 are available." in error.value
    assert not [button for button in page.button if button.label == "Create study"]


def test_the_error_of_a_refused_study_is_shown_below_the_button(workspace, open_studies_page):
    make_study_world(workspace)
    page = open_studies_page("New study")
    page.text_input[0].set_value("first")
    page.run()
    next(button for button in page.button if button.label == "Create study").click().run()
    assert "A reader study named 'first' already exists" in page.error[0].value
    assert [element.type for element in _flatten(page.main)][-2:] == ["button", "error"]


def _flatten(block):
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from _flatten(child)
        else:
            yield child
