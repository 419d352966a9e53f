"""Names of categories in the browser: mapped with the keyboard, undone, and found by the filter."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import update

from browsing.service import index_questions
from storage.rows.datasets import QuestionRow
from storage.unit_of_work import unit_of_work
from tests.e2e import review_helpers
from tests.e2e.conftest import RunningApp
from tests.e2e.streamlit_pages import press_key, take_screenshot

pytestmark = [pytest.mark.browser, pytest.mark.full]

#: The category of each question by id.
CATEGORIES = {1: "Heart size", 2: "Heart size", 3: "Ribcage", 4: "Bony Structures", 5: "Bones", 6: "Rib"}


@pytest.fixture(scope="module", autouse=True)
def world(app: RunningApp):
    review_helpers.create_review_world(app, questions=6)
    with unit_of_work(app.engine) as db:
        for number, category in CATEGORIES.items():
            db.execute(update(QuestionRow).where(QuestionRow.id == number).values(category=category))
    with unit_of_work(app.engine) as db:
        index_questions(db)


def test_a_coordinator_maps_names_by_keyboard_undoes_one_and_finds_the_questions(
    app: RunningApp, signed_in: Callable[[str], Page]
):
    page = signed_in("cora")
    page.goto("/taxonomy")
    expect(page.get_by_text("Not mapped (2)")).to_be_visible(timeout=30_000)
    expect(page.get_by_role("button", name="Heart")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("All names")).to_be_visible()
    take_screenshot(page, "taxonomy-unmapped")
    press_key(page, "1")
    expect(page.get_by_text("Heart size is mapped to Heart.")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("Not mapped (1)")).to_be_visible()
    press_key(page, "u")
    expect(page.get_by_text("The mapping of Heart size is removed.")).to_be_visible(timeout=30_000)
    press_key(page, "1")
    expect(page.get_by_text("Not mapped (1)")).to_be_visible(timeout=30_000)
    press_key(page, "1")
    expect(page.get_by_text("All these names have a controlled name.")).to_be_visible(timeout=30_000)
    take_screenshot(page, "taxonomy-mapped")
    page.reload()
    expect(page.get_by_text("All these names have a controlled name.")).to_be_visible(timeout=30_000)
    page.goto("/browse")
    page.get_by_role("button", name="More filters").click()
    page.get_by_role("combobox", name="Domain").click()
    page.get_by_role("option", name="Musculoskeletal (4)").click()
    expect(page.get_by_text("4 questions")).to_be_visible(timeout=30_000)
    take_screenshot(page, "browse-domain")
