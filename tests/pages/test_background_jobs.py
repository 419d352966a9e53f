"""A job on a page: its progress, Cancel, its result, and the same view in another tab."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update
from streamlit.testing.v1 import AppTest

from domain.jobs import JobStatus
from domain.people import Role
from jobs.service import load_job, start_job
from storage.jobs.jobs import claim_job
from storage.rows.jobs import JobRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import COMMAND_LINE, get_text, wait_for_jobs
from tests.storage import job_kinds
from tests.storage.job_kinds import FAIL, HOLD, Fail, Hold
from tests.storage.worlds import NOW
from ui.background_jobs import job_control

SUBJECT = "the test"


@pytest.fixture(autouse=True)
def cora(monkeypatch, sign_in_as):
    """A coordinator is signed in; the tests' kinds of jobs are registered beside those of the app."""
    for kind in job_kinds.KINDS:
        constant = kind.replace(" ", "_").upper()
        monkeypatch.setitem(job_control._KIND_LOCATIONS, kind, f"tests.storage.job_kinds:{constant}")
    return sign_in_as("cora", Role.COORDINATOR)


@pytest.fixture
def held_job(cora):
    """A job that has done 3 of 8 and waits for the test."""
    job_kinds.HELD["page"] = threading.Event()
    yield job_control.start_job(HOLD, Hold(name="page"), by=cora, subject=SUBJECT)
    job_kinds.HELD["page"].set()
    wait_for_jobs()


def render_job_page(kind: str = "HOLD"):
    def script(kind: str) -> None:
        import streamlit as st

        from tests.storage import job_kinds
        from ui.background_jobs import job_control
        from ui.background_jobs.job_status import show_job_outcome, show_job_progress
        from ui.context import current_person

        job = job_control.load_latest_job(getattr(job_kinds, kind), by=current_person(), subject="the test")
        st.markdown("running" if show_job_progress(job) else "at rest")
        show_job_outcome(job)

    return AppTest.from_function(script, args=(kind,)).run()


def find_button(page, label):
    return next(element for element in page.button if element.label == label)


def load_status(number: int) -> JobStatus:
    with read_only_session() as db:
        return load_job(db, by=COMMAND_LINE, number=number).status


@pytest.mark.slow
def test_nothing_is_shown_before_a_job_starts():
    assert get_text(render_job_page()) == "at rest"


def test_progress_is_shown_in_every_tab_and_to_every_coordinator(held_job, sign_in_as):
    for name in ("cora's second tab", "carl"):
        if name == "carl":
            sign_in_as("carl", Role.COORDINATOR)
        page = render_job_page()
        assert "running" in get_text(page)
        assert page.get("progress")[0].proto.text == "3 of 8 questions"


@pytest.mark.slow
def test_starting_a_running_job_again_returns_the_same_job(held_job, cora):
    assert job_control.start_job(HOLD, Hold(name="page"), by=cora, subject=SUBJECT).number == held_job.number


def test_cancel_button_cancels_the_job(held_job):
    page = find_button(render_job_page(), "Cancel").click().run()
    assert not page.exception
    wait_for_jobs()
    assert load_status(held_job.number) is JobStatus.CANCELLED
    assert "Cancelled." in get_text(render_job_page())


def test_result_is_shown_until_it_is_dismissed(held_job):
    job_kinds.HELD["page"].set()
    wait_for_jobs()
    page = render_job_page()
    assert "All of *it* is done." in get_text(page)  # Markdown of the result is escaped
    assert "Finished at" in get_text(page)
    page = find_button(page, "Dismiss").click().run().run()
    assert get_text(page) == "at rest"
    assert get_text(render_job_page()) == "at rest"


def test_failure_is_shown_without_the_details_of_the_error(cora):
    job_control.start_job(FAIL, Fail(how="fault"), by=cora, subject=SUBJECT)
    wait_for_jobs()
    text = get_text(render_job_page("FAIL"))
    assert "The server log gives the reason." in text
    assert "secret" not in text


def test_interrupted_job_can_be_run_again(held_job):
    job_kinds.HELD["page"].set()
    wait_for_jobs()
    with unit_of_work() as db:
        interrupted = {"status": JobStatus.INTERRUPTED.value, "message": "The server stopped."}
        db.execute(update(JobRow).values(finished_at=NOW, **interrupted))
    page = render_job_page()
    assert "The server stopped." in get_text(page)
    find_button(page, "Run again").click().run()
    wait_for_jobs()
    assert "All of *it* is done." in get_text(render_job_page())


def test_job_of_a_killed_process_is_shown_as_resuming(cora):
    with unit_of_work() as db:
        job, _ = start_job(db, by=cora, kind=HOLD, parameters=Hold(name="page"), subject=SUBJECT, now=NOW)
        lease_end = datetime.now(UTC) + timedelta(seconds=10)
        claim_job(db, number=job.number, worker="killed", lease_until=lease_end, now=NOW)
    assert render_job_page().get("progress")[0].proto.text.startswith("The server was restarted.")


@pytest.mark.parametrize("kind", sorted(job_control._KIND_LOCATIONS))
def test_every_job_kind_is_registered_under_its_name(kind):
    assert job_control.find_job_kind(kind).name == kind


def test_unregistered_job_kind_is_not_found():
    assert job_control.find_job_kind("kind of a later version") is None
