"""Home: each role sees its next task."""

from domain.people import Role
from tests.pages.conftest import texts
from tests.storage.study_worlds import answer, make_study_world
from tests.storage.worlds import close, make_world

HOME = "pages/home.py"


def test_a_reviewer_without_questions_is_told_where_they_will_appear(sign_in_as, open_page):
    sign_in_as("ruth", Role.REVIEWER)
    page = open_page(HOME)
    assert not page.exception
    assert "No questions are assigned to you yet" in texts(page)


def test_a_reviewer_sees_what_is_left_and_starts(workspace, sign_in_as, open_page):
    make_world(workspace, assigned_to=["ruth"])
    sign_in_as("ruth")
    page = open_page(HOME)
    assert not page.exception
    assert "0 of 12 done · 12 left" in texts(page)
    assert page.button(key="continue-1").label == "Start"


def test_a_closed_batch_is_not_to_be_continued(workspace, sign_in_as, open_page):
    world = make_world(workspace, assigned_to=["ruth"])
    close(workspace, world.batch)
    sign_in_as("ruth")
    assert "Closed" in texts(open_page(HOME))


def test_a_reviewer_sees_nothing_of_others_batches(workspace, sign_in_as, open_page):
    make_world(workspace, assigned_to=["remo"])
    sign_in_as("ruth")
    assert "first" not in texts(open_page(HOME))


def test_a_coordinator_with_nothing_is_told_to_import(sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    page = open_page(HOME)
    assert not page.exception
    assert page.button(key="next-step").label == "Import questions"


def test_a_coordinator_with_unassigned_questions_is_told_to_assign(workspace, sign_in_as, open_page):
    make_world(workspace)
    sign_in_as("cora")
    page = open_page(HOME)
    assert not page.exception
    assert "In batch first, 12 questions are unassigned." in texts(page)
    assert page.button(key="next-step").label == "Assign questions"


def test_a_coordinator_with_work_under_way_is_led_to_its_progress(workspace, sign_in_as, open_page):
    make_world(workspace, assigned_to=["ruth"])
    sign_in_as("cora")
    page = open_page(HOME)
    assert "The reviewers have 12 judgements left." in texts(page)
    assert page.button(key="next-step").label == "View progress"


def test_an_admin_sees_how_many_people_there_are(workspace, sign_in_as, open_page):
    make_world(workspace)
    sign_in_as("ada")
    page = open_page(HOME)
    assert not page.exception
    assert "5 accounts: 1 with role admin · 1 with role coordinator · 2 with role reviewer" in texts(page)


def test_a_reader_is_told_that_there_is_nothing_yet(sign_in_as, open_page):
    sign_in_as("rea", Role.READER)
    assert "Nothing is yours to read yet" in texts(open_page(HOME))


def test_a_reader_goes_on_with_a_study_from_here(workspace, sign_in_as, open_page):
    made = make_study_world(workspace)
    answer(made)
    sign_in_as("rea", Role.READER)
    page = open_page(HOME)
    assert "1 of 6 cases read" in texts(page)
    assert page.button(key=f"own-study-{made.study.id}").label == "Continue"
