"""The page Batches: assigning with a preview, reassigning, closing, and settings without lost updates."""

import pytest

from domain.batches import AssignmentState, BatchState, Mode
from domain.people import Role
from review import service as review
from storage.review.assignments import count_by_person
from storage.sampling.batches import load_batch, save_settings
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import get_text, skip_double_click_time
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.worlds import NOW, make_world

PAGE = "pages/assign.py"
FORM_KEY = "settings-1-0"  # the forms of batch 1, until the saved settings are loaded


@pytest.fixture
def world(workspace):
    return make_world(workspace)


@pytest.fixture
def page(world, sign_in_as, run_page):
    """The page as the coordinator cora sees it."""
    sign_in_as("cora", Role.COORDINATOR)
    page = run_page(PAGE)
    assert not page.exception
    return page


def click(page, label):
    return next(button for button in page.button if button.label == label).click().run()


def load_first_batch():
    with read_only_session() as db:
        return load_batch(db, name="first")


def count_open_questions(world, name):
    with read_only_session() as db:
        counts = count_by_person(db, batch_id=world.batch.id)
    return counts.get(world.people[name].id, {}).get(AssignmentState.OPEN, 0)


def change_settings_concurrently(**changes):
    with unit_of_work() as db:
        first_batch = load_batch(db, name="first")
        settings = type(first_batch.settings)(**changes)
        save_settings(db, batch_id=first_batch.id, settings=settings, by=None, now=NOW)


def test_without_a_batch_the_page_says_so(workspace, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    page = open_page(PAGE)
    assert "No batch yet" in get_text(page)
    assert not page.exception


def test_a_reviewer_does_not_get_the_page(world, sign_in_as, run_page):
    sign_in_as("ruth", Role.REVIEWER)
    page = run_page(PAGE)
    assert "Page not found." in get_text(page)
    assert "first" not in get_text(page)


# --------------------------------------------------------------------------------------------- assigning
@pytest.mark.slow
def test_assignment_matches_the_preview(page, world):
    page.multiselect(key="assign-1-0-to-1").set_value(["remo", "ruth"]).run()
    preview = page.dataframe[-1].value
    assert list(preview["New"]) == [6, 6]
    page = click(page, "Assign")
    assert "Assigned: 6 to remo, 6 to ruth." in get_text(page)
    assert (count_open_questions(world, "remo"), count_open_questions(world, "ruth")) == (6, 6)


def test_reviewer_choice_is_cleared_after_assigning(page):
    page.multiselect(key="assign-1-0-to-1").set_value(["ruth"]).run()
    page = click(page, "Assign")
    assert page.multiselect(key="assign-1-1-to-1").value == []


def test_only_enabled_reviewers_can_be_chosen(page):
    assert page.multiselect(key="assign-1-0-to-1").options == ["Remo (remo)", "Ruth (ruth)"]


@pytest.mark.slow
def test_overlap_number_adds_a_second_reviewer(page, world):
    page.multiselect(key="assign-1-0-to-1").set_value(["ruth"]).run()
    page = click(page, "Assign")
    page.multiselect(key="assign-1-1-to-1").set_value(["remo"])
    page.number_input(key="assign-1-1-overlap-1").set_value(2).run()
    page = click(page, "Assign")
    assert (count_open_questions(world, "remo"), count_open_questions(world, "ruth")) == (12, 12)


@pytest.mark.slow
def test_open_questions_can_be_moved_to_another_reviewer(page, world):
    page.multiselect(key="assign-1-0-to-1").set_value(["ruth"]).run()
    page = click(page, "Assign")
    page.selectbox(key="move-1-0-from-1").set_value("ruth").run()
    page.multiselect(key="move-1-0-to-1-ruth").set_value(["remo"]).run()
    page = click(page, "Reassign")
    assert "Reassigned: 12 to remo." in get_text(page)
    assert (count_open_questions(world, "remo"), count_open_questions(world, "ruth")) == (12, 0)


@pytest.mark.slow
def test_open_questions_can_be_withdrawn(page, world):
    page.multiselect(key="assign-1-0-to-1").set_value(["ruth"]).run()
    page = click(page, "Assign")
    page.selectbox(key="move-1-0-from-1").set_value("ruth").run()
    page = click(page, "Unassign")
    assert "12 open questions of ruth unassigned." in get_text(page)
    assert "12 questions unassigned." in get_text(page)


def test_batch_can_be_closed_and_reopened(page):
    page = click(page, "Close batch")
    assert load_first_batch().state is BatchState.CLOSED
    page = click(skip_double_click_time(page), "Reopen batch")
    assert load_first_batch().state is BatchState.OPEN
    assert "Batch first is reopened." in get_text(page)


# ---------------------------------------------------------------------------------------------- settings
def test_saving_the_mode_is_confirmed(page):
    page.radio(key=f"way-{FORM_KEY}-mode").set_value(Mode.ANSWER_FIRST)
    page = click(page, "Save mode, fields and report")
    assert load_first_batch().settings.mode is Mode.ANSWER_FIRST
    assert "batch first, revision 2" in get_text(page)


def test_one_key_accept_can_be_switched_on(page):
    page.toggle(key=f"way-{FORM_KEY}-one-key").set_value(True)
    page = click(page, "Save mode, fields and report")
    assert load_first_batch().settings.one_key_accept


def test_mode_is_fixed_once_reviewing_has_begun(world, page):
    with unit_of_work() as db:
        review.assign(db, by=world.people["cora"], batch="first", to=["ruth"], now=NOW)
    save_verdict(world, make_acceptance(world, question=1))
    page.run()
    assert page.radio(key=f"way-{FORM_KEY}-mode").disabled
    assert "Review has begun" in get_text(page)


def test_the_guideline_is_previewed_without_images_and_then_saved(page):
    page.text_area(key=f"guideline-{FORM_KEY}-text").input("# Look ![twice](https://example.org/x.png)")
    page = click(page, "Preview")
    assert "# Look [twice](https://example.org/x.png)" in get_text(page)
    assert load_first_batch().settings.guideline == ""
    click(page, "Save guideline")
    assert load_first_batch().settings.guideline.startswith("# Look !")


def test_an_anchor_is_saved(page):
    page.text_input(key=f"anchors-{FORM_KEY}-image_alignment-5").input("every contour")
    click(page, "Save anchors")
    assert load_first_batch().settings.anchors["image_alignment"][4] == "every contour"


def test_concurrent_settings_are_not_overwritten_and_both_are_shown(page):
    change_settings_concurrently(guideline="Theirs.")
    page.text_area(key=f"guideline-{FORM_KEY}-text").input("Mine.")
    page = click(page, "Save guideline")
    assert load_first_batch().settings.guideline == "Theirs."
    text = get_text(page).replace("\\", "")
    assert "Guideline “Theirs.” (saved), “Mine.” (yours)" in text
    assert "Another user has changed these settings" in text


def test_entered_text_stays_until_the_saved_settings_are_loaded(page):
    change_settings_concurrently(guideline="Theirs.")
    page.text_area(key=f"guideline-{FORM_KEY}-text").input("Mine.")
    page = click(page, "Save guideline")
    assert page.text_area(key=f"guideline-{FORM_KEY}-text").value == "Mine."
    page = click(page, "Show saved settings")
    assert page.text_area(key="guideline-settings-1-1-text").value == "Theirs."


def test_batches_are_listed_with_their_dataset(page):
    assert page.dataframe[0].value["Dataset"].tolist() == ["demo"]
