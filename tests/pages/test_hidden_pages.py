"""Hiding questions on the page Batches, and the page Attention: for coordinators, with n everywhere."""

from dataclasses import replace

import pytest

from domain.hidden import HiddenKind, HiddenPlan, PlantedFault
from domain.people import Role
from domain.verdicts import ErrorKind
from review import service as review
from storage.review.hidden import list_hidden_questions
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import texts
from tests.storage.judgements import accept, give, reject
from tests.storage.worlds import NOW, assign_all, make_batch, make_world

BATCHES, ATTENTION = "pages/assign.py", "pages/attention.py"
PLAN = HiddenPlan(repeats=0.2, distance=5, planted=2, faults=(PlantedFault.KEY_SWAPPED,), seed=3)


@pytest.fixture
def world(workspace):
    """Ruth has thirty of forty questions; they are the batch "asked"."""
    made = make_world(workspace, questions=40)
    with unit_of_work() as db:
        batch = make_batch(db, dataset_id=made.dataset_id, name="asked", questions=made.questions[:30])
        assign_all(db, batch=batch, questions=made.questions[:30], person=made.people["ruth"])
    return replace(made, batch=batch)


@pytest.fixture
def page_of(sign_in_as, run_page):
    """A page as the coordinator cora sees it."""

    def run(file):
        sign_in_as("cora", Role.COORDINATOR)
        found = run_page(file)
        (chosen,) = [each for each in found.selectbox if each.label == "Batch"]
        chosen.select("asked").run()
        assert not found.exception
        return found

    return run


def hidden(world):
    with read_only_session() as db:
        return list_hidden_questions(db, batch_id=world.batch.id)


def hide(world):
    with unit_of_work() as db:
        review.hide_questions(db, by=world.people["cora"], batch="asked", plan=PLAN, mask_secret=7, now=NOW)


def button(page, label):
    (found,) = [each for each in page.button if each.label == label]
    return found


def test_what_the_preview_says_is_hidden_and_then_removed_with_a_reason(world, page_of):
    page = page_of(BATCHES)
    button(page, "Hide questions").click().run()
    assert not page.exception
    there = hidden(world)
    assert {each.kind for each in there} == {HiddenKind.REPEAT, HiddenKind.PLANTED}
    assert f"{there[0].number}: " in texts(page) or any(
        str(there[0].number) in str(each.value) for each in page.dataframe
    )
    (which,) = [each for each in page.multiselect if each.label == "Remove"]
    which.select(there[0].number).run()
    (why,) = [each for each in page.text_input if each.label == "Reason for removal"]
    why.input("The key was wrong before.").run()
    button(page, "Remove hidden questions").click().run()
    assert not page.exception
    assert [each.removed_why for each in hidden(world) if not each.is_counted] == [
        "The key was wrong before."
    ]


def test_nothing_that_cannot_be_is_hidden(world, page_of):
    page = page_of(BATCHES)
    for label in ("Repeats (% of questions)", "Planted per reviewer"):
        (field,) = [each for each in page.number_input if each.label == label]
        field.set_value(0).run()
    assert any(
        ("give a share of repeats, a number of planted questions, or both") in each.value
        for each in page.error
    )
    assert not [each for each in page.button if each.label == "Hide questions"]


def test_where_nothing_is_hidden_the_page_leads_to_hiding(world, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    assert "Nothing is hidden in this batch" in texts(open_page(ATTENTION))


def test_it_opens_on_the_batch_in_which_something_is_hidden(world, sign_in_as, open_page):
    hide(world)  # the batch "first" has more questions
    sign_in_as("cora", Role.COORDINATOR)
    page = open_page(ATTENTION)
    (chosen,) = [each for each in page.selectbox if each.label == "Batch"]
    assert chosen.value == "asked"
    chosen.select("first").run()
    assert "There are some in: asked." in texts(page)


def test_a_reviewer_does_not_get_the_page(world, sign_in_as, run_page):
    sign_in_as("ruth", Role.REVIEWER)
    assert "Page not found." in texts(run_page(ATTENTION))


def test_each_figure_has_its_n_and_interval(world, page_of):
    hide(world)
    there = hidden(world)
    repeats = [each for each in there if each.kind is HiddenKind.REPEAT]
    for each in repeats:
        give(world, accept(world, question=each.source_number))
        give(world, accept(world, question=each.number))
    planted = [each for each in there if each.kind is HiddenKind.PLANTED]
    give(world, reject(world, question=planted[0].number, kind=ErrorKind.WRONG_KEY))
    give(world, accept(world, question=planted[1].number))
    page = page_of(ATTENTION)
    (ruth,) = page.dataframe[0].value.to_dict("records")
    assert ruth["Same decision again"] == "100 % (61 to 100), n = 6"
    assert ruth["Faults found"] == "50 % (9 to 91), n = 2"
    assert ruth["Planted"] == "2 of 2 judged"
    (kind,) = page.dataframe[1].value.to_dict("records")
    assert (kind["Fault"], kind["Found"]) == ("key swapped", "50 % (9 to 91), n = 2")


def test_hidden_but_nothing_judged_yet_is_said_and_no_figure_is_made_up(world, page_of):
    hide(world)
    page = page_of(ATTENTION)
    (ruth,) = page.dataframe[0].value.to_dict("records")
    assert ruth["Faults found"] == "not defined, n = 0"
    assert "No planted question is judged yet." in texts(page)
