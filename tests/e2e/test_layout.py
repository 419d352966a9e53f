"""The forms in windows from 1024 to 2560 pixels: share of the radiographs, full screen, unread parts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import update

from accounts import service as accounts
from domain.batches import SamplingPlan
from domain.people import Role
from domain.protocols import Protocol
from domain.studies import CaseSource, SourceKind, StudyDesign
from reader_study import service as studies
from storage.rows.datasets import QuestionRow
from storage.unit_of_work import unit_of_work
from tests.e2e import review_helpers
from tests.e2e.conftest import PASSWORD
from tests.e2e.layout_helpers import WINDOWS, measure_layout, set_window
from tests.e2e.review_helpers import load_verdicts, press, press_answer, wait_for_images, wait_for_question

pytestmark = [pytest.mark.browser, pytest.mark.full]

KEYS_OF_ALL_RATINGS = "4444yym"
LONG_EXPLANATION = "Blunting of the costophrenic angle and a meniscus indicate pleural effusion. " * 80
FORMS = {"ruth": "/review?batch=1&question=1", "rea": "/read", "anna": "/adjudicate"}


@pytest.fixture(scope="module", autouse=True)
def world(app):
    """Ruth reviews, rea reads with a training case first, anna adjudicates one dispute."""
    review_world = review_helpers.create_review_world(app, questions=12)
    now = datetime.now(UTC)
    app.add_person("anna", Role.REVIEWER)
    app.command("adjudicate", "rules", "first", "--adjudicators", "anna")
    with unit_of_work(app.engine) as db:
        db.execute(update(QuestionRow).where(QuestionRow.id.in_((5, 9))).values(explanation=LONG_EXPLANATION))
        accounts.set_password(db, by=accounts.command_line_person(), name="rea", password=PASSWORD, now=now)
        cora = review_world.people["cora"]
        design = StudyDesign(plan=SamplingPlan(seed=7, per_1000=None, n=3), training=1)
        source = CaseSource(kind=SourceKind.DATASET, dataset="demo")
        studies.create_study(
            db, by=cora, name="pilot", source=source, design=design, protocol=Protocol(), now=now
        )
        studies.assign_readers(db, by=cora, study="pilot", to=["rea"], now=now)
    return review_world


@pytest.fixture
def open_form(signed_in):
    """``open_form("ruth")``: that person's form, with its radiographs on screen; by default in 1440 x 900."""

    def open_at(name: str, path: str = "", *, size: tuple[int, int] = (1440, 900)) -> Page:
        page = signed_in(name)
        set_window(page, *size)
        page.goto(path or FORMS[name])
        wait_for_images(page)
        return page

    return open_at


def enter_full_screen(page: Page) -> None:
    page.keyboard.press("Shift+E")
    expect(page.get_by_role("button", name="Full screen")).to_have_attribute("aria-pressed", "true")


@pytest.fixture(scope="module")
def disputed(app, world, chromium):
    """Question 12: ruth and remo correct the explanation differently."""
    for name, text in (("ruth", "An effusion is visible."), ("remo", "A subpulmonic effusion is visible.")):
        context = chromium.new_context(viewport={"width": 1440, "height": 900}, base_url=app.url)
        page = context.new_page()
        page.goto("/sign-in")
        page.fill("input[name=name]", name)
        page.fill("input[name=password]", PASSWORD)
        page.click("button[type=submit]")
        page.get_by_role("button", name="Sign out").wait_for(timeout=30_000)
        page.goto("/review?batch=1&question=12")
        wait_for_images(page)
        page.get_by_label("Explanation", exact=True).fill(text)
        page.keyboard.press("Escape")
        press(page, KEYS_OF_ALL_RATINGS + "v")
        expect(page.get_by_text("(revised)")).to_be_visible(timeout=15_000)
        context.close()


@pytest.mark.usefixtures("disputed")
@pytest.mark.parametrize("name", FORMS)
def test_radiograph_gets_enough_of_every_window_and_nothing_is_cut(open_form, name):
    """At least 40 % of the window, 45 % from 1440 pixels on, and 75 % in full screen."""
    page = open_form(name)
    for width in WINDOWS:
        set_window(page, width)
        layout = measure_layout(page)
        assert layout.share >= (0.45 if width >= 1440 else 0.40), (width, layout)
        enter_full_screen(page)
        full_screen = measure_layout(page)
        assert full_screen.share >= 0.75, (width, full_screen)
        page.keyboard.press("Shift+E")
        expect(page.get_by_role("button", name="Full screen")).to_have_attribute("aria-pressed", "false")
        for measured in (layout, full_screen):
            assert (measured.cut, measured.broken, measured.scrolls_sideways) == ([], [], False), width
            assert measured.toolbar_height < 1.6 * measured.toolbar_button_height, width  # one line
        if width == 2560:
            assert layout.smallest_text >= 16
            assert page.locator(".control-label").first.is_visible()


def test_stem_ratings_and_buttons_fit_into_a_window_of_1024_pixels(open_form):
    page = open_form("ruth")
    set_window(page, 1024)
    for selector in (
        ".stem-text",
        ".explanation-text",
        '[data-step="image_alignment"]',
        '[data-decision="accept"]',
    ):
        expect(page.locator(selector)).to_be_in_viewport(ratio=1)


def test_toolbar_of_two_views_has_one_line_and_shows_all_tools_on_demand(open_form):
    page = open_form("ruth")
    set_window(page, 1024)
    pane_height = measure_layout(page).panes[0][1]
    full_screen = page.get_by_role("button", name="Full screen")
    expect(full_screen).to_be_in_viewport(ratio=1)
    side_by_side = page.get_by_role("button", name="Side by side")
    expect(side_by_side).not_to_be_in_viewport()
    page.get_by_role("button", name="More tools").click()
    side_by_side.click()
    expect(page.locator(".pane")).to_have_count(2)
    layout = measure_layout(page)
    assert layout.panes[0][1] == pane_height
    assert layout.toolbar_height < 1.6 * layout.toolbar_button_height
    page.keyboard.press("Shift+L")


def test_questions_are_judged_in_full_screen_by_the_same_keys(app, open_form):
    page = open_form("ruth", "/review?batch=1&question=2")
    enter_full_screen(page)
    for selector in (".stem-text", ".options", ".explanation-text"):
        expect(page.locator(selector)).to_be_in_viewport(ratio=1)
    press(page, KEYS_OF_ALL_RATINGS + "a")
    wait_for_question(page, 3)
    press(page, KEYS_OF_ALL_RATINGS + "fc")
    page.keyboard.press("x")
    wait_for_question(page, 4)
    assert [load_verdicts(app, number)[0].decision for number in (2, 3)] == ["accept", "reject"]


def test_question_panel_hidden_in_full_screen_is_shown_before_a_save(app, open_form):
    page = open_form("ruth", "/review?batch=1&question=5")
    enter_full_screen(page)
    share = measure_layout(page).share
    page.keyboard.press("Shift+Q")
    expect(page.locator(".stem-text")).not_to_be_visible()
    assert measure_layout(page).share > share
    press(page, KEYS_OF_ALL_RATINGS + "a")
    expect(page.get_by_text("read the explanation first")).to_be_visible()
    expect(page.locator(".explanation-text")).to_be_in_viewport()
    for _ in range(5):  # every press shows the next part
        page.wait_for_timeout(600)
        page.keyboard.press("a")
    wait_for_question(page, 6)
    [verdict] = load_verdicts(app, 5)
    assert verdict.decision == "accept"


def test_question_panel_can_be_moved_to_the_other_side_and_dragged(open_form):
    page = open_form("ruth", "/review?batch=1&question=7")
    enter_full_screen(page)
    panel = page.locator(".right")
    assert panel.bounding_box()["x"] > 1000
    page.keyboard.press("Shift+Z")
    assert panel.bounding_box()["x"] == 0
    head = page.locator(".panel-head b").bounding_box()
    page.mouse.move(head["x"] + 5, head["y"] + 5)
    page.mouse.down()
    page.mouse.move(400, 60, steps=4)
    page.mouse.move(700, 120, steps=4)
    page.mouse.up()
    assert 500 < panel.bounding_box()["x"] < 720
    assert measure_layout(page).share > 0.9  # the radiograph has the whole width; the panel is over it
    page.keyboard.press("Shift+Z")
    assert panel.bounding_box()["x"] > 1000


@pytest.mark.parametrize("full_screen", [False, True])
def test_verdict_is_refused_before_the_explanation_was_scrolled_to_its_end(app, open_form, full_screen):
    """The explanation of question 9 is higher than the window; every press shows its next part."""
    page = open_form("ruth", "/review?batch=1&question=9", size=(1024, 600))
    if full_screen:
        enter_full_screen(page)
    press(page, KEYS_OF_ALL_RATINGS + "a")
    expect(page.get_by_text("read the explanation first")).to_be_visible()
    page.get_by_role("button", name="Accept", exact=True).click(delay=700)
    expect(page.get_by_text("read the explanation first")).to_be_visible()
    assert load_verdicts(app, 9) == []
    page.locator(".scroll").evaluate(
        """async column => {
             for (let top = 0; top < column.scrollHeight; top += 100) {
                 column.scrollTop = top;
                 await new Promise(requestAnimationFrame);
                 await new Promise(requestAnimationFrame);
             }
           }"""
    )
    if not full_screen:
        return  # the other run saves the verdict
    page.wait_for_timeout(600)
    page.keyboard.press("a")
    wait_for_question(page, 10)
    assert [row.decision for row in load_verdicts(app, 9)] == ["accept"]


@pytest.mark.usefixtures("disputed")
def test_adjudicator_sees_every_disputed_version_before_deciding(open_form):
    page = open_form("anna", size=(1024, 600))
    press(page, "1")
    page.get_by_label("Reason").fill("Better.")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.get_by_text("read the versions of the disputed fields first")).to_be_visible()
    expect(page.locator(".value-sources .disputed tr").first).to_be_in_viewport()
    expect(page.get_by_role("button", name="Save decision")).to_be_in_viewport(ratio=1)
    page.get_by_label("Reason").fill("")


def test_radiograph_keeps_its_size_when_feedback_is_shown(open_form):
    page = open_form("rea")
    old_panes = measure_layout(page).panes
    press_answer(page, 1, 4)
    page.keyboard.press("Enter")
    page.get_by_text("Answer key").wait_for()
    assert measure_layout(page).panes == old_panes
    enter_full_screen(page)
    expect(page.locator(".feedback")).to_be_in_viewport(ratio=1)
    page.wait_for_timeout(600)
    page.keyboard.press("Enter")
    page.get_by_text("0 of 3 read").wait_for()
    wait_for_images(page)
    assert page.locator(".explanation-text, .is-key, .feedback").count() == 0
