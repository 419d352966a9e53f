"""Hiding questions on the page Batches, and the page Reviewer attention: for coordinators, with n."""

from dataclasses import replace

import pytest

from domain.hidden import HiddenKind, HiddenPlan, PlantedFault
from domain.people import Role
from domain.verdicts import ErrorKind
from review import service as review
from storage.review.hidden import list_hidden_questions
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import get_text
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import NOW, assign_all, make_batch, make_world

BATCHES, ATTENTION = "pages/assign.py", "pages/attention.py"
PLAN = HiddenPlan(
    repeat_share=0.2, min_distance=5, planted_count=2, faults=(PlantedFault.KEY_SWAPPED,), seed=3
)


@pytest.fixture
def world(workspace):
    """Ruth has thirty of forty questions; they are the batch "asked"."""
    small_world = make_world(workspace, questions=40)
    with unit_of_work() as db:
        batch = make_batch(
            db, dataset_id=small_world.dataset_id, name="asked", questions=small_world.questions[:30]
        )
        assign_all(db, batch=batch, questions=small_world.questions[:30], person=small_world.people["ruth"])
    return replace(small_world, batch=batch)


@pytest.fixture
def open_as_coordinator(sign_in_as, run_page):
    """A page as the coordinator cora sees it."""

    def run(file):
        sign_in_as("cora", Role.COORDINATOR)
        page = run_page(file)
        (batch_field,) = [selectbox for selectbox in page.selectbox if selectbox.label == "Batch"]
        batch_field.select("asked").run()
        assert not page.exception
        return page

    return run


def load_hidden_questions(world):
    with read_only_session() as db:
        return list_hidden_questions(db, batch_id=world.batch.id)


def hide_questions(world):
    with unit_of_work() as db:
        review.hide_questions(db, by=world.people["cora"], batch="asked", plan=PLAN, mask_secret=7, now=NOW)


def find_button(page, label):
    (match,) = [element for element in page.button if element.label == label]
    return match


@pytest.mark.slow
def test_previewed_questions_are_hidden_and_removed_with_a_reason(world, open_as_coordinator):
    page = open_as_coordinator(BATCHES)
    find_button(page, "Hide questions").click().run()
    assert not page.exception
    hidden_questions = load_hidden_questions(world)
    assert {question.kind for question in hidden_questions} == {HiddenKind.REPEAT, HiddenKind.PLANTED}
    assert f"{hidden_questions[0].question_row_id}: " in get_text(page) or any(
        str(hidden_questions[0].question_row_id) in str(table.value) for table in page.dataframe
    )
    (removal_field,) = [field for field in page.multiselect if field.label == "Remove"]
    removal_field.select(hidden_questions[0].question_row_id).run()
    (reason_field,) = [field for field in page.text_input if field.label == "Reason for removal"]
    reason_field.input("The key was wrong before.").run()
    find_button(page, "Remove hidden questions").click().run()
    assert not page.exception
    assert [
        question.removal_reason for question in load_hidden_questions(world) if not question.is_counted
    ] == ["The key was wrong before."]


@pytest.mark.slow
def test_plan_without_hidden_questions_is_refused(world, open_as_coordinator):
    page = open_as_coordinator(BATCHES)
    for label in ("Repeats (% of questions)", "Planted per reviewer"):
        (field,) = [widget for widget in page.number_input if widget.label == label]
        field.set_value(0).run()
    assert any("must be above 0 if there are no planted questions" in error.value for error in page.error)
    assert not [element for element in page.button if element.label == "Hide questions"]


def test_page_without_hidden_questions_shows_a_message(world, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    assert "No hidden questions in this batch" in get_text(open_page(ATTENTION))


def test_page_opens_on_the_batch_with_hidden_questions(world, sign_in_as, open_page):
    hide_questions(world)  # the batch "first" has more questions
    sign_in_as("cora", Role.COORDINATOR)
    page = open_page(ATTENTION)
    (batch_field,) = [selectbox for selectbox in page.selectbox if selectbox.label == "Batch"]
    assert batch_field.value == "asked"
    batch_field.select("first").run()
    assert "Batches with hidden questions: asked." in get_text(page)


def test_a_reviewer_does_not_get_the_page(world, sign_in_as, run_page):
    sign_in_as("ruth", Role.REVIEWER)
    assert "Page not found." in get_text(run_page(ATTENTION))


@pytest.mark.slow
def test_each_value_is_shown_with_its_n_and_interval(world, open_as_coordinator):
    hide_questions(world)
    hidden_questions = load_hidden_questions(world)
    repeats = [question for question in hidden_questions if question.kind is HiddenKind.REPEAT]
    for repeat in repeats:
        save_verdict(world, make_acceptance(world, question=repeat.source_question_row_id))
        save_verdict(world, make_acceptance(world, question=repeat.question_row_id))
    planted = [question for question in hidden_questions if question.kind is HiddenKind.PLANTED]
    save_verdict(world, make_rejection(world, question=planted[0].question_row_id, kind=ErrorKind.WRONG_KEY))
    save_verdict(world, make_acceptance(world, question=planted[1].question_row_id))
    page = open_as_coordinator(ATTENTION)
    (ruth_row,) = page.dataframe[0].value.to_dict("records")
    assert ruth_row["Same decision on repeat"] == "100 % (61 to 100), n = 6"
    assert ruth_row["Faults found"] == "50 % (9 to 91), n = 2"
    assert ruth_row["Faults judged"] == "2 of 2"
    (fault_row,) = page.dataframe[1].value.to_dict("records")
    assert (fault_row["Fault"], fault_row["Found"]) == ("key swapped", "50 % (9 to 91), n = 2")


def test_without_verdicts_values_are_shown_as_not_defined(world, open_as_coordinator):
    hide_questions(world)
    page = open_as_coordinator(ATTENTION)
    (ruth_row,) = page.dataframe[0].value.to_dict("records")
    assert ruth_row["Faults found"] == "not defined, n = 0"
    assert "No planted questions judged yet." in get_text(page)
