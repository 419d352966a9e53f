"""Actions: what a click saves, which message it shows, and that a double click counts once."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from streamlit.testing.v1 import AppTest

from domain.people import Role
from storage.rows.audit import AuditRow
from storage.unit_of_work import read_only_session


def show_counter_page() -> None:
    import errno

    import streamlit as st

    from domain.errors import NotNow, Refused
    from ui.widgets import run_action, show_notice

    def count(step: int) -> str:
        st.session_state["count"] = st.session_state.get("count", 0) + step
        return f"Counted {step}."

    def refuse() -> None:
        raise Refused("No *more* counting.")

    st.button("Count", key="count-1", on_click=run_action, args=(count, 1), kwargs={"notice_key": "here"})
    st.button("Count two", key="count-2", on_click=run_action, args=(count, 2), kwargs={"notice_key": "here"})
    is_on = st.session_state.get("count", 0) > 0
    st.button(
        "Take off" if is_on else "Put on",
        key="switch",
        on_click=run_action,
        args=(count, -1 if is_on else 1),
        kwargs={"notice_key": "here", "toggle_key": "light"},
    )

    def fill_the_disk() -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "v1.jsonl")

    def fail_without_database() -> str:
        if st.session_state.setdefault("away", True):
            raise NotNow("Not saved: the database could not be reached.")
        st.session_state["count"] = st.session_state.get("count", 0) + 10
        return "Counted ten."

    def raise_unexpected_error() -> None:
        raise RuntimeError("a fault of ours")

    st.button(
        "Far", key="far", on_click=run_action, args=(fail_without_database,), kwargs={"notice_key": "here"}
    )
    st.button(
        "Wrong",
        key="wrong",
        on_click=run_action,
        args=(raise_unexpected_error,),
        kwargs={"notice_key": "here"},
    )
    st.button("Fill", key="fill", on_click=run_action, args=(fill_the_disk,), kwargs={"notice_key": "here"})
    st.button("Refuse", key="refuse", on_click=run_action, args=(refuse,), kwargs={"notice_key": "here"})
    show_notice("here")
    show_notice("elsewhere")


def open_counter_page(browser) -> AppTest:
    return AppTest.from_function(show_counter_page, default_timeout=20).run()


@pytest.mark.slow
def test_action_runs_and_its_message_is_shown(browser):
    page = open_counter_page(browser).button(key="count-1").click().run()
    assert page.success[0].value == "Counted 1."
    assert page.session_state["count"] == 1


@pytest.fixture
def stopped_clock(monkeypatch):
    """No time passes between two clicks; a busy machine may need longer than a double click takes."""
    monkeypatch.setattr("ui.widgets.clock", lambda: datetime(2026, 1, 1, tzinfo=UTC))


def test_a_double_click_is_one_action(browser, stopped_clock):
    page = open_counter_page(browser).button(key="count-1").click().run().button(key="count-1").click().run()
    assert page.session_state["count"] == 1


def test_double_click_on_a_switch_toggles_once(browser, stopped_clock):
    page = open_counter_page(browser).button(key="switch").click().run().button(key="switch").click().run()
    assert page.session_state["count"] == 1


def test_two_different_actions_in_a_row_both_run(browser):
    page = open_counter_page(browser).button(key="count-1").click().run().button(key="count-2").click().run()
    assert page.session_state["count"] == 3


def test_refusal_is_shown_once_as_plain_text_next_to_its_button(browser):
    page = open_counter_page(browser).button(key="refuse").click().run()
    assert [element.value for element in page.error] == ["No \\*more\\* counting."]


def test_refusal_disappears_with_the_next_action(browser):
    page = open_counter_page(browser).button(key="refuse").click().run().button(key="count-1").click().run()
    assert not page.error
    assert page.success


def test_full_disk_is_reported_next_to_the_button(browser):
    page = open_counter_page(browser).button(key="fill").click().run()
    assert page.error[0].value.startswith(r"The disk is full\: v1.jsonl")


def test_failed_save_stays_reported_and_can_be_retried(browser):
    page = open_counter_page(browser).button(key="far").click().run()
    assert page.error[0].value == "Not saved\\: the database could not be reached."
    page.session_state["away"] = False
    page = page.button(key="again-here").click().run()
    assert page.success[0].value == "Counted ten."
    assert page.session_state["count"] == 10


def test_unexpected_error_is_reported_as_not_saved(browser):
    page = open_counter_page(browser).button(key="wrong").click().run()
    assert page.error[0].value.startswith("Not saved")
    assert not page.exception


def test_saved_message_shows_the_time_stored_in_the_database(browser, sign_in_as, workspace):
    sign_in_as("ada", Role.ADMIN)
    page = AppTest.from_function(show_page_that_adds_otto, default_timeout=20).run()
    page = page.button(key="add").click().run()
    with read_only_session(workspace) as db:
        saved_at = db.execute(select(AuditRow.at).order_by(AuditRow.number.desc()).limit(1)).scalar_one()
    assert page.caption[0].value == f"Saved at {saved_at:%H:%M:%S} UTC"


def test_action_that_writes_nothing_shows_no_saved_message(browser, sign_in_as):
    sign_in_as("ada", Role.ADMIN)
    page = open_counter_page(browser).button(key="count-1").click().run()
    assert not page.caption


def show_page_that_adds_otto() -> None:
    import streamlit as st

    from accounts import service as accounts
    from domain.people import Role
    from ui.context import clock, current_person, unit_of_work
    from ui.widgets import run_action, show_notice

    def add() -> str:
        with unit_of_work() as db:
            accounts.add_person(
                db,
                by=current_person(),
                name="otto",
                display_name=None,
                roles=[Role.READER],
                password=None,
                now=clock(),
            )
        return "Otto is there."

    st.button("Add", key="add", on_click=run_action, args=(add,))
    show_notice()
