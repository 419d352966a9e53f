"""Practice sets in the browser: feedback after each verdict, and no batch for a reviewer who fails."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from accounts.service import command_line_person
from domain.batches import BatchSettings, FormScope
from domain.people import Role
from domain.practice import PassMark
from domain.verdicts import ErrorKind
from review import service as review
from storage.rows.audit import AuditRow
from storage.rows.practice import PracticeResultRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.e2e import review_helpers
from tests.e2e.conftest import RunningApp
from tests.e2e.streamlit_pages import choose_option, take_screenshot
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import World, make_batch

pytestmark = [pytest.mark.browser, pytest.mark.full]


@pytest.fixture(scope="module", autouse=True)
def world(app: RunningApp) -> World:
    """Ruth and remo agree on six questions; they reject 1 for its key. Rita has a practice set of three.

    The batch "next" is unassigned and requires the practice set.
    """
    settings = BatchSettings(parts=FormScope.KEY)
    review_world = review_helpers.create_review_world(app, questions=6, settings=settings)
    app.add_person("rita", Role.REVIEWER)
    for name in ("ruth", "remo"):
        for number in review_world.questions:
            verdict = (
                make_rejection(
                    review_world, question=number, person=name, kind=ErrorKind.WRONG_KEY, comment="It is A."
                )
                if number == 1
                else make_acceptance(review_world, question=number, person=name)
            )
            save_verdict(review_world, verdict, name)
    with unit_of_work(app.engine) as db:
        make_batch(
            db, dataset_id=review_world.dataset_id, name="next", questions=review_world.questions,
            settings=settings,
        )  # fmt: skip
        plan = review.PracticePlan(name="Practice 1", sound=2, faulty=1, pass_mark=PassMark())
        by, now = command_line_person(), datetime.now(UTC)
        review.create_practice_from_batch(db, batch="first", plan=plan, by=by, now=now)
        review.require_practice(db, batch="next", practices=["Practice 1"], by=by, now=now)
        review.assign_practice(db, practice="Practice 1", to=["rita"], by=by, now=now)
    return review_world


def open_tab(page: Page, tab: str, batch: str = "next") -> None:
    """Open a tab of a batch on the page Batches."""
    page.goto("/assign")
    choose_option(page, page.get_by_role("combobox", name="Batch", exact=True), batch)
    page.get_by_role("tab", name=tab, exact=True).click()


def test_reviewer_who_fails_sees_the_result_and_gets_no_batch(
    app: RunningApp, signed_in: Callable[[str], Page]
):
    page = signed_in("rita")
    review_helpers.open_review(page)
    for done in range(3):
        expect(page.get_by_text(f"{done} of 3 done")).to_be_visible(timeout=30_000)
        expect(page.get_by_label("Feedback")).to_have_count(0)  # no feedback on the previous question
        review_helpers.wait_for_images(page)
        page.wait_for_timeout(700)  # a faster click counts as the second half of a double click
        page.get_by_role("button", name="Accept", exact=True).click()
        expect(page.get_by_label("Feedback")).to_be_visible(timeout=30_000)
        take_screenshot(page, f"practice-feedback-{done}")
        if page.get_by_text("Incorrect.").count():
            expect(page.get_by_label("Feedback")).to_contain_text("wrong key")
            expect(page.get_by_label("Feedback")).to_contain_text("It is A.")
        if done == 1:
            page.reload()  # the feedback stays with the question
            expect(page.get_by_label("Feedback")).to_be_visible(timeout=30_000)
        page.get_by_role("button", name="Next question", exact=True).click()
    expect(page.get_by_text("Practice set not passed.")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("Errors found: 0 %")).to_be_visible()
    take_screenshot(page, "practice-failed")
    with read_only_session(app.engine) as db:
        result = db.execute(select(PracticeResultRow)).scalars().one()
        assert (result.found, result.faulty, result.accepted, result.sound, result.passed) == (
            0, 1, 2, 2, False,
        )  # fmt: skip

    page = signed_in("cora")
    open_tab(page, "Assign")
    choose_option(page, page.get_by_role("combobox", name=re.compile("^Reviewers")), "Rita", several=True)
    expect(page.get_by_text("requires a passed practice set (Practice 1). Without one: rita")).to_be_visible(
        timeout=30_000
    )
    take_screenshot(page, "practice-refused")


def test_an_exemption_by_the_coordinator_is_recorded(app: RunningApp, signed_in: Callable[[str], Page]):
    """Rita has not passed the practice set: she has failed it in the test above, or has not taken it."""
    page = signed_in("cora")
    open_tab(page, "Practice")
    choose_option(page, page.get_by_role("combobox", name=re.compile("^Exempt a reviewer")), "Rita")
    page.get_by_label("Reason for the exemption").fill("Reviewed the pilot.")
    exempt = page.get_by_role("button", name="Exempt", exact=True)
    take_screenshot(page, "practice-exempt-typed")
    exempt.click()
    expect(
        page.get_by_text("rita may review batch next without having passed a practice set.")
    ).to_be_visible(timeout=30_000)
    take_screenshot(page, "practice-exempted")
    open_tab(page, "Assign")
    choose_option(page, page.get_by_role("combobox", name=re.compile("^Reviewers")), "Rita", several=True)
    expect(page.get_by_text("Without one: rita")).to_have_count(0)
    page.get_by_role("button", name="Assign", exact=True).click()
    expect(page.get_by_text("6 to rita")).to_be_visible()
    page = signed_in("rita")
    page.goto("/review?batch=2")
    expect(page.get_by_text("0 of 6 done")).to_be_visible(timeout=30_000)
    with read_only_session(app.engine) as db:
        entry = db.execute(select(AuditRow).where(AuditRow.what == "exempt from practice")).scalars().one()
    assert (entry.why, entry.new) == ("Reviewed the pilot.", '{"person":"rita"}')
