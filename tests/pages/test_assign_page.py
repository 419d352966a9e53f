"""The page Batches: assigning with a preview, reassigning, closing, and settings without lost updates."""

import pytest

from domain.batches import AssignmentState, BatchState, Mode
from domain.people import Role
from review import service as review
from storage.review.assignments import count_by_person
from storage.sampling.batches import load_batch, save_settings
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import a_moment_later, texts
from tests.storage.judgements import accept, give
from tests.storage.worlds import NOW, make_world

PAGE = "pages/assign.py"
FIRST = "settings-1-0"  # the forms of batch 1, until the saved settings are loaded


@pytest.fixture
def world(workspace):
    return make_world(workspace)


@pytest.fixture
def page(world, sign_in_as, run_page):
    """The page as the coordinator cora sees it."""
    sign_in_as("cora", Role.COORDINATOR)
    found = run_page(PAGE)
    assert not found.exception
    return found


def click(page, label):
    return next(button for button in page.button if button.label == label).click().run()


def batch():
    with read_only_session() as db:
        return load_batch(db, name="first")


def left(world, name):
    with read_only_session() as db:
        counts = count_by_person(db, batch_id=world.batch.id)
    return counts.get(world.people[name].id, {}).get(AssignmentState.OPEN, 0)


def change_behind_the_page(**changes):
    with unit_of_work() as db:
        found = load_batch(db, name="first")
        settings = type(found.settings)(**changes)
        save_settings(db, batch_id=found.id, settings=settings, by=None, now=NOW)


def test_without_a_batch_the_page_leads_to_drawing_one(workspace, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    page = open_page(PAGE)
    assert "No batch yet" in texts(page)
    assert not page.exception


def test_a_reviewer_does_not_get_the_page(world, sign_in_as, run_page):
    sign_in_as("ruth", Role.REVIEWER)
    page = run_page(PAGE)
    assert "Page not found." in texts(page)
    assert "first" not in texts(page)


# --------------------------------------------------------------------------------------------- assigning
def test_what_was_previewed_is_assigned(page, world):
    page.multiselect(key="assign-1-0-to-1").set_value(["remo", "ruth"]).run()
    preview = page.dataframe[-1].value
    assert list(preview["New"]) == [6, 6]
    page = click(page, "Assign")
    assert "Assigned: 6 to remo, 6 to ruth." in texts(page)
    assert (left(world, "remo"), left(world, "ruth")) == (6, 6)


def test_after_assigning_the_choice_is_empty_again(page):
    page.multiselect(key="assign-1-0-to-1").set_value(["ruth"]).run()
    page = click(page, "Assign")
    assert page.multiselect(key="assign-1-1-to-1").value == []


def test_only_live_reviewers_can_be_chosen(page):
    assert page.multiselect(key="assign-1-0-to-1").options == ["Remo (remo)", "Ruth (ruth)"]


def test_a_second_reviewer_is_added_by_the_number(page, world):
    page.multiselect(key="assign-1-0-to-1").set_value(["ruth"]).run()
    page = click(page, "Assign")
    page.multiselect(key="assign-1-1-to-1").set_value(["remo"])
    page.number_input(key="assign-1-1-overlap-1").set_value(2).run()
    page = click(page, "Assign")
    assert (left(world, "remo"), left(world, "ruth")) == (12, 12)


def test_open_questions_move_to_somebody_else(page, world):
    page.multiselect(key="assign-1-0-to-1").set_value(["ruth"]).run()
    page = click(page, "Assign")
    page.selectbox(key="move-1-0-from-1").set_value("ruth").run()
    page.multiselect(key="move-1-0-to-1-ruth").set_value(["remo"]).run()
    page = click(page, "Reassign")
    assert "Reassigned: 12 to remo." in texts(page)
    assert (left(world, "remo"), left(world, "ruth")) == (12, 0)


def test_open_questions_are_taken_back(page, world):
    page.multiselect(key="assign-1-0-to-1").set_value(["ruth"]).run()
    page = click(page, "Assign")
    page.selectbox(key="move-1-0-from-1").set_value("ruth").run()
    page = click(page, "Unassign")
    assert "12 open questions of ruth unassigned." in texts(page)
    assert "12 questions unassigned." in texts(page)


def test_a_batch_is_closed_and_opened_again(page):
    page = click(page, "Close batch")
    assert batch().state is BatchState.CLOSED
    page = click(a_moment_later(page), "Reopen batch")
    assert batch().state is BatchState.OPEN
    assert "Batch first is reopened." in texts(page)


# ---------------------------------------------------------------------------------------------- settings
def test_mode_is_saved_and_said_to_be(page):
    page.radio(key=f"way-{FIRST}-mode").set_value(Mode.ANSWER_FIRST)
    page = click(page, "Save mode, fields and report")
    assert batch().settings.mode is Mode.ANSWER_FIRST
    assert "batch first, revision 2" in texts(page)


def test_mode_can_not_be_chosen_once_judging_has_begun(world, page):
    with unit_of_work() as db:
        review.assign(db, by=world.people["cora"], batch="first", to=["ruth"], now=NOW)
    give(world, accept(world, question=1))
    page.run()
    assert page.radio(key=f"way-{FIRST}-mode").disabled
    assert "Review has begun" in texts(page)


def test_the_guideline_is_previewed_without_images_and_then_saved(page):
    page.text_area(key=f"guideline-{FIRST}-text").input("# Look ![twice](https://example.org/x.png)")
    page = click(page, "Preview")
    assert "# Look [twice](https://example.org/x.png)" in texts(page)
    assert batch().settings.guideline == ""
    click(page, "Save guideline")
    assert batch().settings.guideline.startswith("# Look !")


def test_an_anchor_is_saved(page):
    page.text_input(key=f"anchors-{FIRST}-image_alignment-5").input("every contour")
    click(page, "Save anchors")
    assert batch().settings.anchors["image_alignment"][4] == "every contour"


def test_settings_of_somebody_else_are_not_overwritten_and_both_are_shown(page):
    change_behind_the_page(guideline="Theirs.")
    page.text_area(key=f"guideline-{FIRST}-text").input("Mine.")
    page = click(page, "Save guideline")
    assert batch().settings.guideline == "Theirs."
    said = texts(page).replace("\\", "")
    assert "Guideline “Theirs.” (saved), “Mine.” (yours)" in said
    assert "Another user has changed these settings" in said


def test_what_was_typed_stays_until_the_saved_settings_are_asked_for(page):
    change_behind_the_page(guideline="Theirs.")
    page.text_area(key=f"guideline-{FIRST}-text").input("Mine.")
    page = click(page, "Save guideline")
    assert page.text_area(key=f"guideline-{FIRST}-text").value == "Mine."
    page = click(page, "Show saved settings")
    assert page.text_area(key="guideline-settings-1-1-text").value == "Theirs."
