"""The page Draw a batch: a preview of the draw, and then the draw."""

from __future__ import annotations

import pytest

from accounts.service import command_line_person
from domain.batches import BatchSettings, FormScope, Mode
from domain.people import Role
from sampling.service import list_batch_questions, list_batches
from storage.unit_of_work import read_only_session
from tests.pages.conftest import texts
from tests.storage.planted_frames import plant, planted

PAGE = "pages/sampling.py"
BY = command_line_person()


@pytest.fixture
def coordinator(sign_in_as):
    return sign_in_as("cora", Role.COORDINATOR)


def batches():
    with read_only_session() as db:
        return list_batches(db, by=BY)


def click(page, beginning):
    return next(button for button in page.button if button.label.startswith(beginning)).click().run()


def by_label(elements, label):
    return next(element for element in elements if element.label == label)


def shown(page):
    return page.dataframe[0].value[["Stratum", "Available (N)", "Drawn (n)"]].to_numpy().tolist()


def test_without_questions_the_page_leads_to_the_import(coordinator, open_page):
    assert "No questions yet" in texts(open_page(PAGE))


def test_what_will_be_drawn_is_shown_before_it_is_drawn(coordinator, workspace, open_page):
    plant(workspace, planted(1000))
    page = open_page(PAGE)
    assert not page.exception
    assert "100 of 1,000 questions will be drawn." in texts(page)
    assert shown(page) == [["easy", 334, 33], ["medium", 333, 33], ["hard", 333, 34]]
    assert batches() == []


def test_where_nothing_would_be_drawn_the_page_says_what_to_ask_for(coordinator, workspace, open_page):
    plant(workspace, planted(3))
    said = texts(open_page(PAGE))
    assert "0 of 3 questions will be drawn. Increase the number per 1,000, or set a total." in said


def test_a_short_tier_is_noted(coordinator, workspace, open_page):
    plant(workspace, [*planted(900, tiers=("medium", "hard")), *planted(10, first=900, tiers=("easy",))])
    assert "Tier easy has only 10 questions; its share is 30" in texts(open_page(PAGE))


def test_the_preview_follows_the_plan(coordinator, workspace, open_page):
    plant(workspace, planted(1000))
    page = open_page(PAGE)
    by_label(page.number_input, "hard").set_value(2.0)
    by_label(page.number_input, "Questions per 1,000").set_value(40)
    page.run()
    assert shown(page) == [["easy", 334, 10], ["medium", 333, 10], ["hard", 333, 20]]


def test_a_draw_makes_the_batch_that_was_shown_with_its_settings(coordinator, workspace, open_page):
    plant(workspace, planted(1000))
    page = open_page(PAGE)
    by_label(page.text_input, "Batch name").set_value("pilot")
    by_label(page.selectbox, "Answer key shown").set_value(Mode.ANSWER_FIRST)
    by_label(page.selectbox, "Fields requested").set_value(FormScope.KEY)
    page.run()
    page = click(page, "Draw 100")
    assert "Batch pilot: 100 questions drawn from demo." in texts(page).replace("\\", "")
    [(batch, size)] = batches()
    assert (batch.name, size) == ("pilot", 100)
    assert batch.settings == BatchSettings(mode=Mode.ANSWER_FIRST, parts=FormScope.KEY)


def test_a_double_click_draws_once(coordinator, workspace, open_page):
    plant(workspace, planted(1000))
    page = open_page(PAGE)
    button = next(button for button in page.button if button.label.startswith("Draw"))
    button.click().run()
    assert [size for _, size in batches()] == [100]
    name = by_label(page.text_input, "Batch name")
    assert (name.value, name.placeholder) == ("", "batch-2")
    assert next(button for button in page.button if button.label.startswith("Draw")).disabled


def test_more_questions_are_added_to_a_batch_by_its_own_plan(coordinator, workspace, open_page):
    plant(workspace, planted(1000))
    click(open_page(PAGE), "Draw 100")
    plant(workspace, planted(500, first=1000))
    page = open_page(PAGE)
    by_label(page.selectbox, "Batch").set_value("batch-1").run()
    assert "50 of the 500 questions imported since the last draw will be added to the 100" in texts(page)
    click(page, "Draw 50")
    assert [size for _, size in batches()] == [150]


def test_a_name_that_is_taken_by_another_plan_is_refused_at_the_click(coordinator, workspace, open_page):
    plant(workspace, planted(1000))
    click(open_page(PAGE), "Draw 100")
    page = open_page(PAGE)
    by_label(page.text_input, "Batch name").set_value("batch-1")
    by_label(page.number_input, "Seed").set_value(5)
    page.run()
    click(page, "Draw 100")
    assert "drawn with a different plan" in texts(page)
    with read_only_session() as db:
        assert len(list(list_batch_questions(db, by=BY, batch="batch-1"))) == 100


@pytest.mark.parametrize("role", [Role.ADMIN, Role.REVIEWER, Role.READER])
def test_nobody_else_sees_the_page(sign_in_as, workspace, run_page, role):
    plant(workspace, planted(1000))
    sign_in_as("somebody", role)
    page = run_page(PAGE)
    assert "Page not found." in texts(page)
    assert "1,000" not in texts(page)
