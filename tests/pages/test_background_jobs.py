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
from storage.rows import JobRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.pages.conftest import COMMAND_LINE, settled, texts
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
def held(cora):
    """A job that has done 3 of 8 and waits for the test."""
    job_kinds.HELD["page"] = threading.Event()
    yield job_control.start_job(HOLD, Hold(name="page"), by=cora, subject=SUBJECT)
    job_kinds.HELD["page"].set()
    settled()


def drawn(kind: str = "HOLD"):
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


def button(page, label):
    return next(each for each in page.button if each.label == label)


def status(number: int) -> JobStatus:
    with read_only_session() as db:
        return load_job(db, by=COMMAND_LINE, number=number).status


def test_nothing_is_drawn_before_it_is_started():
    assert texts(drawn()) == "at rest"


def test_while_it_runs_its_progress_is_shown_in_every_tab_and_to_every_coordinator(held, sign_in_as):
    for name in ("cora's second tab", "carl"):
        if name == "carl":
            sign_in_as("carl", Role.COORDINATOR)
        page = drawn()
        assert "running" in texts(page)
        assert page.get("progress")[0].proto.text == "3 of 8 questions"


def test_started_again_while_it_runs_it_is_the_same_job(held, cora):
    assert job_control.start_job(HOLD, Hold(name="page"), by=cora, subject=SUBJECT).number == held.number


def test_it_is_cancelled_by_its_button(held):
    page = button(drawn(), "Cancel").click().run()
    assert not page.exception
    settled()
    assert status(held.number) is JobStatus.CANCELLED
    assert "Cancelled." in texts(drawn())


def test_what_came_of_it_is_shown_until_it_is_dismissed(held):
    job_kinds.HELD["page"].set()
    settled()
    page = drawn()
    assert "All of *it* is done." in texts(page)
    assert "Finished at" in texts(page)
    page = button(page, "Dismiss").click().run().run()
    assert texts(page) == "at rest"
    assert texts(drawn()) == "at rest"


def test_why_it_failed_is_shown_without_what_the_fault_holds(cora):
    job_control.start_job(FAIL, Fail(how="fault"), by=cora, subject=SUBJECT)
    settled()
    shown = texts(drawn("FAIL"))
    assert "The server's log says why." in shown
    assert "secret" not in shown


def test_an_interrupted_one_can_be_run_again(held):
    job_kinds.HELD["page"].set()
    settled()
    with unit_of_work() as db:
        interrupted = {"status": JobStatus.INTERRUPTED.value, "message": "The server stopped."}
        db.execute(update(JobRow).values(finished_at=NOW, **interrupted))
    page = drawn()
    assert "The server stopped." in texts(page)
    button(page, "Run again").click().run()
    settled()
    assert "All of *it* is done." in texts(drawn())


def test_one_whose_process_was_killed_says_that_it_continues(cora):
    with unit_of_work() as db:
        job, _ = start_job(db, by=cora, kind=HOLD, parameters=Hold(name="page"), subject=SUBJECT, now=NOW)
        soon = datetime.now(UTC) + timedelta(seconds=10)
        claim_job(db, number=job.number, worker="killed", lease_until=soon, now=NOW)
    assert drawn().get("progress")[0].proto.text.startswith("The server was restarted.")


@pytest.mark.parametrize("kind", sorted(job_control._KIND_LOCATIONS))
def test_every_kind_is_declared_under_its_name(kind):
    assert job_control.find_job_kind(kind).name == kind


def test_a_kind_that_is_not_declared_is_unknown():
    assert job_control.find_job_kind("of tomorrow") is None
