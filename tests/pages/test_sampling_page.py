"""The page Draw a batch: a preview of the draw, and then the draw."""

from __future__ import annotations

import pytest

from accounts.service import command_line_person
from domain.batches import BatchSettings, FormScope, Mode, RiskSource
from domain.checks import Check, Problem
from domain.people import Role
from sampling.service import list_batch_questions, list_batches
from storage.quality.problems import replace_problems
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import get_text
from tests.storage.import_worlds import Importer, make_record, to_json_lines
from tests.storage.sampling_frames import insert_questions, make_questions

PAGE = "pages/sampling.py"
BY = command_line_person()


@pytest.fixture
def coordinator(sign_in_as):
    return sign_in_as("cora", Role.COORDINATOR)


def load_batches():
    with read_only_session() as db:
        return list_batches(db, by=BY)


def click(page, label_start):
    return next(button for button in page.button if button.label.startswith(label_start)).click().run()


def find_by_label(elements, label):
    return next(element for element in elements if element.label == label)


def get_strata_rows(page):
    return page.dataframe[0].value[["Stratum", "Available (N)", "Drawn (n)"]].to_numpy().tolist()


def test_page_without_questions_shows_a_message(coordinator, open_page):
    assert "No questions yet" in get_text(open_page(PAGE))


def test_preview_shows_the_draw_and_writes_nothing(coordinator, workspace, open_page):
    insert_questions(workspace, make_questions(1000))
    page = open_page(PAGE)
    assert not page.exception
    assert "100 of 1,000 questions will be drawn." in get_text(page)
    assert get_strata_rows(page) == [["easy", 334, 33], ["medium", 333, 33], ["hard", 333, 34]]
    assert load_batches() == []


def test_empty_draw_is_explained(coordinator, workspace, open_page):
    insert_questions(workspace, make_questions(3))
    text = get_text(open_page(PAGE))
    assert "0 of 3 questions will be drawn. Increase the number per 1,000, or set a total." in text


def test_a_tier_with_too_few_questions_is_noted(coordinator, workspace, open_page):
    insert_questions(
        workspace,
        [*make_questions(900, tiers=("medium", "hard")), *make_questions(10, first=900, tiers=("easy",))],
    )
    assert "Difficulty easy has only 10 questions; its share is 30" in get_text(open_page(PAGE))


def test_the_preview_follows_the_plan(coordinator, workspace, open_page):
    insert_questions(workspace, make_questions(1000))
    page = open_page(PAGE)
    find_by_label(page.number_input, "hard").set_value(2.0)
    find_by_label(page.number_input, "Questions per 1,000").set_value(40)
    page.run()
    assert get_strata_rows(page) == [["easy", 334, 10], ["medium", 333, 10], ["hard", 333, 20]]


def test_draw_creates_the_previewed_batch_with_its_settings(coordinator, workspace, open_page):
    insert_questions(workspace, make_questions(1000))
    page = open_page(PAGE)
    find_by_label(page.text_input, "Batch name").set_value("pilot")
    find_by_label(page.selectbox, "Show answer key").set_value(Mode.ANSWER_FIRST)
    find_by_label(page.selectbox, "Fields requested").set_value(FormScope.KEY)
    find_by_label(page.checkbox, "One keystroke accepts with top ratings").check()
    page.run()
    page = click(page, "Draw 100")
    assert "Batch pilot: 100 questions drawn from demo." in get_text(page).replace("\\", "")
    [(batch, size)] = load_batches()
    assert (batch.name, size) == ("pilot", 100)
    assert batch.settings == BatchSettings(mode=Mode.ANSWER_FIRST, parts=FormScope.KEY, one_key_accept=True)


def test_a_double_click_draws_once(coordinator, workspace, open_page):
    insert_questions(workspace, make_questions(1000))
    page = open_page(PAGE)
    button = next(button for button in page.button if button.label.startswith("Draw"))
    button.click().run()
    assert [size for _, size in load_batches()] == [100]
    name = find_by_label(page.text_input, "Batch name")
    assert (name.value, name.placeholder) == ("", "batch-2")
    assert next(button for button in page.button if button.label.startswith("Draw")).disabled


@pytest.mark.slow
def test_new_questions_are_added_to_a_batch_by_its_plan(coordinator, workspace, open_page):
    insert_questions(workspace, make_questions(1000))
    click(open_page(PAGE), "Draw 100")
    insert_questions(workspace, make_questions(500, first=1000))
    page = open_page(PAGE)
    find_by_label(page.selectbox, "Batch").set_value("batch-1").run()
    assert "50 of the 500 questions imported since the last draw will be added to the 100" in get_text(page)
    click(page, "Draw 50")
    assert [size for _, size in load_batches()] == [150]


@pytest.mark.slow
def test_batch_name_of_another_plan_is_refused(coordinator, workspace, open_page):
    insert_questions(workspace, make_questions(1000))
    click(open_page(PAGE), "Draw 100")
    page = open_page(PAGE)
    find_by_label(page.text_input, "Batch name").set_value("batch-1")
    find_by_label(page.number_input, "Seed").set_value(5)
    page.run()
    click(page, "Draw 100")
    assert "drawn with a different plan" in get_text(page)
    with read_only_session() as db:
        assert len(list(list_batch_questions(db, by=BY, batch="batch-1"))) == 100


@pytest.mark.parametrize("role", [Role.ADMIN, Role.REVIEWER, Role.READER])
def test_page_is_not_found_for_other_roles(sign_in_as, workspace, run_page, role):
    insert_questions(workspace, make_questions(1000))
    sign_in_as("jo", role)
    page = run_page(PAGE)
    assert "Page not found." in get_text(page)
    assert "1,000" not in get_text(page)


@pytest.mark.slow
def test_a_batch_balanced_by_findings_is_drawn_and_cannot_be_extended(
    coordinator, workspace, open_page, tmp_path
):
    """Ten exams with one question each, five healthy and five with an effusion: 1 and 3 are drawn."""
    reports = ["The lungs are clear.", "Left pleural effusion."]
    records = [
        make_record(
            number,
            exam={"id": f"e-{number}", "radiographs": [{"id": "pa", "file": "pa.png"}]},
            report=reports[number % 2],
        )
        for number in range(10)
    ]
    Importer(workspace, tmp_path)(to_json_lines(*records))
    page = open_page(PAGE)
    page.segmented_control[0].set_value("By findings").run()
    assert "The selection needs 37 healthy exams and 263 with findings" in get_text(page)
    find_by_label(page.number_input, "Exams").set_value(4).run()
    find_by_label(page.number_input, "Healthy exams (%)").set_value(25.0).run()
    assert "4 of 4 questions will be drawn." in get_text(page)
    assert "1 healthy (25.00 %), pleural effusion 3." in get_text(page)
    find_by_label(page.text_input, "Batch name").set_value("balanced").run()
    click(page, "Draw 4 questions")
    [(batch, size)] = load_batches()
    assert (size, batch.plan.balance.exams) == (4, 4)
    page = open_page(PAGE)
    assert [box.label for box in page.selectbox if box.label == "Batch"] == []  # no batch can be extended


def insert_questions_with_problems(workspace):
    """Insert 1,000 questions, and a problem of one check in every tenth of them."""
    insert_questions(workspace, make_questions(1000))
    problem = Problem(check=Check.COMPARISON, field="stem", reason="“unchanged”")
    with unit_of_work() as db:
        replace_problems(
            db, dataset_id=1, check=Check.COMPARISON,
            problems=[(number, problem) for number in range(1, 1001, 10)],
        )  # fmt: skip


@pytest.mark.slow
def test_a_draw_by_risk_previews_both_arms_and_stores_its_plan(coordinator, workspace, open_page):
    insert_questions_with_problems(workspace)
    page = open_page(PAGE)
    find_by_label(page.checkbox, "Risk-based sampling").check().run()
    text = get_text(page)
    assert "(expected: 100)" in text
    assert "with equal chances" in text
    assert find_by_label(page.checkbox, "Problems of checks (100 questions)").value
    click(page, "Draw ")
    [(batch, size)] = load_batches()
    assert batch.plan.risk.weights == {RiskSource.CHECKS: 1.0}
    assert 70 < size < 130


def test_without_a_source_of_risk_the_page_shows_an_error_and_offers_no_draw(
    coordinator, workspace, open_page
):
    insert_questions(workspace, make_questions(30))
    page = open_page(PAGE)
    find_by_label(page.checkbox, "Risk-based sampling").check().run()
    assert "No source of risk has a result for this dataset." in page.error[0].value
    assert not [button for button in page.button if button.label.startswith("Draw ")]


@pytest.mark.slow
def test_the_comparison_recommends_a_strategy_for_each_purpose(coordinator, workspace, open_page):
    insert_questions_with_problems(workspace)
    page = open_page(PAGE)
    find_by_label(page.toggle, "Show the comparison").set_value(True).run()
    text = get_text(page)
    assert "to find errors, draw 50 % uniform, rest by risk" in text  # all 100 risky questions are drawn
    assert "Both values are assumptions" in text
    assert "by all sources of risk" in text
    find_by_label(page.number_input, "Odds ratio of an error at the highest risk").set_value(1.0).run()
    assert "to find errors, draw uniform" in get_text(page)
    find_by_label(page.checkbox, "Risk-based sampling").check().run()
    assert "by the chosen sources of risk" in get_text(page)
