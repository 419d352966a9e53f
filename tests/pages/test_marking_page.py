"""The page on which open answers are marked, and its controls on the coordinator's page."""

from __future__ import annotations

import pytest

from domain.marks import AnswerMark, MarkerRole
from domain.people import Role
from domain.protocols import OpenAnswerRule, Protocol
from domain.vocabulary import AnswerFormat
from reader_study import service as studies
from storage.reader_study.marks import list_latest_marks
from storage.reader_study.studies import find_study, load_current_protocol
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import get_text, skip_double_click_time
from tests.storage.study_worlds import answer_case, make_design, make_study_world, open_sheet
from tests.storage.worlds import NOW

PAGE, STUDIES_PAGE, HOME_PAGE = "pages/mark_answers.py", "pages/studies.py", "pages/home.py"


@pytest.fixture
def study_world(workspace):
    """A study of two open cases, to which rea answered with texts other than the key; ruth marks."""
    world = make_study_world(
        workspace,
        design=make_design(2, formats=(AnswerFormat.OPEN,)),
        protocol=Protocol(bootstrap=0),
        open_questions=6,
    )
    for answer in ("*fluid*", "nodule"):
        answer_case(world, "rea", answer=answer, position=open_sheet(world, "rea").slot.position)
    with unit_of_work(workspace) as db:
        studies.assign_marker(db, by=world.cora, study="first", role=MarkerRole.FIRST, to="ruth", now=NOW)
    return world


def click(page, label: str):
    next(button for button in skip_double_click_time(page).button if button.label == label).click().run()
    assert not page.exception
    return page


def load_marks(study_world):
    with read_only_session(study_world.engine) as db:
        return [revision.mark for revision in list_latest_marks(db, study_id=study_world.study.id)]


@pytest.mark.parametrize("role", [Role.ADMIN, Role.COORDINATOR, Role.READER])
def test_page_is_not_found_for_other_roles(workspace, sign_in_as, run_page, role):
    sign_in_as("jo", role)
    assert get_text(run_page(PAGE)) == "Page not found."


@pytest.mark.full
def test_reviewer_without_a_study_sees_that_there_are_no_answers_to_mark(study_world, sign_in_as, run_page):
    sign_in_as("remo", Role.REVIEWER)
    assert "No answers to mark" in get_text(run_page(PAGE))


@pytest.mark.slow
def test_answers_are_marked_one_after_the_other_and_undone(study_world, sign_in_as, run_page):
    sign_in_as("ruth", Role.REVIEWER)
    page = run_page(PAGE)
    assert "0 of 2 answers marked" in get_text(page)
    click(page, "Wrong")
    assert "Answer 2 of 2" in get_text(page)
    click(page, "Partly right")
    assert "every answer is marked" in get_text(page)
    assert load_marks(study_world) == [AnswerMark.WRONG, AnswerMark.PARTLY]
    click(page, "Undo last mark")
    assert "Answer 2 of 2" in get_text(page)
    click(page, "Undo last mark")
    assert "Answer 1 of 2" in get_text(page)
    assert load_marks(study_world) == [None, None]


def test_second_tab_with_an_old_answer_changes_nothing(study_world, sign_in_as, run_page):
    sign_in_as("ruth", Role.REVIEWER)
    first_tab, second_tab = run_page(PAGE), run_page(PAGE)
    click(first_tab, "Right")
    click(second_tab, "Wrong")
    assert "Not saved: this answer was marked meanwhile" in get_text(second_tab)
    assert load_marks(study_world) == [AnswerMark.RIGHT]


@pytest.mark.full
def test_double_click_saves_one_mark(study_world, sign_in_as, run_page):
    sign_in_as("ruth", Role.REVIEWER)
    page = run_page(PAGE)
    button = next(button for button in page.button if button.label == "Right")
    button.click().run()
    button.click().run()  # the same widget again, before the page is drawn anew
    assert load_marks(study_world) == [AnswerMark.RIGHT]


@pytest.mark.full
def test_reviewer_who_is_no_longer_a_marker_cannot_mark(study_world, sign_in_as, run_page):
    sign_in_as("ruth", Role.REVIEWER)
    page = run_page(PAGE)
    with unit_of_work(study_world.engine) as db:
        studies.assign_marker(
            db, by=study_world.cora, study="first", role=MarkerRole.FIRST, to="remo", now=NOW
        )
    click(page, "Right")
    assert "No answers to mark" in get_text(page)
    assert load_marks(study_world) == []


@pytest.mark.full
def test_home_lists_the_study_with_the_number_of_marks(study_world, sign_in_as, run_page):
    sign_in_as("ruth", Role.REVIEWER)
    assert "0 of 2 marked" in get_text(run_page(HOME_PAGE))


@pytest.mark.slow
def test_coordinator_assigns_and_removes_a_marker(study_world, sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    page = run_page(STUDIES_PAGE)
    assert "2 distinct answers of readers and models differ from the key" in get_text(page)
    choice = next(box for box in page.selectbox if box.label == "Second marker")
    assert choice.options == ["None", "Remo"]  # not the first marker, not a reader, not a disabled person
    choice.set_value("remo").run()
    click(page, "Save second marker")
    assert "remo is the second marker" in get_text(page)
    next(box for box in page.selectbox if box.label == "Second marker").select_index(0).run()
    click(page, "Save second marker")
    assert "Removed the second marker" in get_text(page)


@pytest.mark.full
def test_study_with_one_format_and_exact_match_is_created_on_the_page(study_world, sign_in_as, run_page):
    sign_in_as("cora", Role.COORDINATOR)
    page = run_page(STUDIES_PAGE)
    page.session_state["studies-view"] = "New study"
    page.run()
    page.text_input[0].set_value("second")
    next(group for group in page.button_group if group.label == "Answer formats").set_value(
        [AnswerFormat.OPEN]
    ).run()
    assert "3 cases available" in get_text(page)  # six open questions on three exams
    next(box for box in page.selectbox if box.label == "Free-text answers are scored by").set_value(
        OpenAnswerRule.EXACT_MATCH
    ).run()
    assert next(box for box in page.selectbox if box.label == "“Partly right” counts as").disabled
    click(page, "Create study")
    with read_only_session() as db:
        study = find_study(db, name="second")
        protocol = load_current_protocol(db, study_id=study.id).protocol
    assert study.design.formats == (AnswerFormat.OPEN,)
    assert protocol.open_answers is OpenAnswerRule.EXACT_MATCH
