"""Home: each role sees its next task."""

from domain.people import Role
from review.service import skip_question
from storage.unit_of_work import unit_of_work
from tests.pages.conftest import get_text
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.study_worlds import answer_case, make_study_world, read_all
from tests.storage.worlds import NOW, close_batch, make_world

HOME = "pages/home.py"


def test_reviewer_without_questions_sees_where_they_will_appear(sign_in_as, open_page):
    sign_in_as("ruth", Role.REVIEWER)
    page = open_page(HOME)
    assert not page.exception
    assert "No questions are assigned to you yet" in get_text(page)


def test_reviewer_sees_the_remaining_questions_and_can_start(workspace, sign_in_as, open_page):
    make_world(workspace, assigned_to=["ruth"])
    sign_in_as("ruth")
    page = open_page(HOME)
    assert not page.exception
    assert "0 of 12 questions done · 12 left" in get_text(page)
    assert page.button(key="continue-1").label == "Start"


def test_closed_batch_is_shown_as_closed(workspace, sign_in_as, open_page):
    world = make_world(workspace, assigned_to=["ruth"])
    close_batch(workspace, world.batch)
    sign_in_as("ruth")
    assert "Closed" in get_text(open_page(HOME))


def test_reviewer_does_not_see_batches_of_others(workspace, sign_in_as, open_page):
    make_world(workspace, assigned_to=["remo"])
    sign_in_as("ruth")
    assert "first" not in get_text(open_page(HOME))


def test_coordinator_without_data_is_offered_the_import(sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    page = open_page(HOME)
    assert not page.exception
    assert page.button(key="next-step").label == "Import questions"


def test_coordinator_with_unassigned_questions_is_offered_to_assign_them(workspace, sign_in_as, open_page):
    make_world(workspace)
    sign_in_as("cora")
    page = open_page(HOME)
    assert not page.exception
    assert "In batch first, 12 questions are unassigned." in get_text(page)
    assert page.button(key="next-step").label == "Assign questions"


def test_coordinator_of_an_active_batch_is_offered_its_progress(workspace, sign_in_as, open_page):
    make_world(workspace, assigned_to=["ruth"])
    sign_in_as("cora")
    page = open_page(HOME)
    assert "12 judgements left to make." in get_text(page)
    assert page.button(key="next-step").label == "View progress"


def test_skipped_judgements_are_counted_separately_from_those_left(workspace, sign_in_as, open_page):
    world = make_world(workspace, assigned_to=["ruth"])
    with unit_of_work(world.engine) as db:
        skip_question(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=1,
            reason="burned-in answer",
            now=NOW,
        )
    sign_in_as("cora")
    assert "11 judgements left to make; 1 skipped." in get_text(open_page(HOME))


def test_an_admin_sees_the_number_of_accounts_by_role(workspace, sign_in_as, open_page):
    make_world(workspace)
    sign_in_as("ada")
    page = open_page(HOME)
    assert not page.exception
    assert "5 accounts: 1 admin · 1 coordinator · 2 reviewers" in get_text(page)


def test_reader_without_a_study_sees_that_there_are_none(sign_in_as, open_page):
    sign_in_as("rea", Role.READER)
    assert "No studies yet" in get_text(open_page(HOME))


def test_reader_can_continue_a_study(workspace, sign_in_as, open_page):
    study_world = make_study_world(workspace)
    answer_case(study_world)
    sign_in_as("rea", Role.READER)
    page = open_page(HOME)
    assert "1 of 6 cases read" in get_text(page)
    assert page.button(key=f"own-study-{study_world.study.id}").label == "Continue"


def get_metrics(page):
    return {metric.label: metric.value for metric in page.metric}


def test_coordinator_of_an_empty_workspace_sees_each_stage_with_zeros(workspace, sign_in_as, open_page):
    sign_in_as("cora", Role.COORDINATOR)
    page = open_page(HOME)
    assert get_metrics(page) == {
        "Questions in 0 datasets": "0",
        "Judgements done": "0 of 0",
        "Open disputes": "0",
        "Readers finished": "0 of 0",
    }
    text = get_text(page)
    for line in ("No dataset yet.", "No batch yet.", "No releases yet.", "No study yet."):
        assert line in text


def test_tiles_show_the_numbers_of_each_stage(workspace, sign_in_as, open_page):
    study_world = make_study_world(workspace)  # readers rea and ria, six cases each
    read_all(study_world, "rea")
    sign_in_as("cora", Role.COORDINATOR)
    page = open_page(HOME)
    assert get_metrics(page)["Readers finished"] == "1 of 2"
    assert "first: 1 of 2" in get_text(page)


def test_review_tile_counts_judgements(workspace, sign_in_as, open_page):
    world = make_world(workspace, assigned_to=["ruth", "remo"])  # 12 questions each
    for question in (1, 2, 3):
        save_verdict(world, make_acceptance(world, question=question))
    sign_in_as("cora", Role.COORDINATOR)
    assert get_metrics(open_page(HOME))["Judgements done"] == "3 of 24"


def test_open_disputes_are_counted(workspace, sign_in_as, open_page):
    world = make_world(workspace, assigned_to=["ruth", "remo"])
    save_verdict(world, make_acceptance(world, question=1))
    save_verdict(world, make_rejection(world, question=1, person="remo"), "remo")
    save_verdict(world, make_acceptance(world, question=2))
    save_verdict(world, make_acceptance(world, question=2, person="remo"), "remo")
    sign_in_as("cora", Role.COORDINATOR)
    assert get_metrics(open_page(HOME))["Open disputes"] == "1"


def test_every_stage_has_a_button_for_its_page(workspace, sign_in_as, open_page):
    make_world(workspace)
    sign_in_as("cora", Role.COORDINATOR)
    labels = [button.label for button in open_page(HOME).button if (button.key or "").startswith("tile-")]
    assert labels == ["Import questions", "View progress", "View releases", "View reader studies"]


def test_own_work_is_listed_before_the_work_of_others(workspace, sign_in_as, open_page):
    make_world(workspace, assigned_to=["ruth"])
    sign_in_as("everybody", Role.REVIEWER, Role.READER, Role.COORDINATOR, Role.ADMIN)
    headings = [heading.value for heading in open_page(HOME).subheader]
    assert headings == [
        "Your batches", "Your studies", "Data", "Review", "Results", "Studies", "Batches", "Administration",
    ]  # fmt: skip


def test_home_of_an_admin_shows_no_numbers_of_stages(workspace, sign_in_as, open_page):
    make_world(workspace)
    sign_in_as("ada", Role.ADMIN)
    page = open_page(HOME)
    assert not page.metric
    assert {"Manage people", "View audit trail"} <= {button.label for button in page.button}
