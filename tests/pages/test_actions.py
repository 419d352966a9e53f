"""Actions: what a click saves, which message it shows, and that a double click counts once."""

from sqlalchemy import select
from streamlit.testing.v1 import AppTest

from domain.people import Role
from storage.rows import AuditRow
from storage.unit_of_work import read_only_session


def page_with_counter() -> None:
    import errno

    import streamlit as st

    from domain.errors import NotNow, Refused
    from ui.widgets import act, show_notice

    def count(step: int) -> str:
        st.session_state["count"] = st.session_state.get("count", 0) + step
        return f"Counted {step}."

    def refuse() -> None:
        raise Refused("No *more* counting.")

    st.button("Count", key="count-1", on_click=act, args=(count, 1), kwargs={"place": "here"})
    st.button("Count two", key="count-2", on_click=act, args=(count, 2), kwargs={"place": "here"})
    there = st.session_state.get("count", 0) > 0
    st.button(
        "Take off" if there else "Put on",
        key="switch",
        on_click=act,
        args=(count, -1 if there else 1),
        kwargs={"place": "here", "switch": "light"},
    )

    def fill_the_disk() -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "v1.jsonl")

    def be_away() -> str:
        if st.session_state.setdefault("away", True):
            raise NotNow("Not saved: the database could not be reached.")
        st.session_state["count"] = st.session_state.get("count", 0) + 10
        return "Counted ten."

    def go_wrong() -> None:
        raise RuntimeError("a fault of ours")

    st.button("Far", key="far", on_click=act, args=(be_away,), kwargs={"place": "here"})
    st.button("Wrong", key="wrong", on_click=act, args=(go_wrong,), kwargs={"place": "here"})
    st.button("Fill", key="fill", on_click=act, args=(fill_the_disk,), kwargs={"place": "here"})
    st.button("Refuse", key="refuse", on_click=act, args=(refuse,), kwargs={"place": "here"})
    show_notice("here")
    show_notice("elsewhere")


def opened(browser) -> AppTest:
    return AppTest.from_function(page_with_counter, default_timeout=20).run()


def test_an_action_is_carried_out_and_what_it_says_is_shown(browser):
    page = opened(browser).button(key="count-1").click().run()
    assert page.success[0].value == "Counted 1."
    assert page.session_state["count"] == 1


def test_a_double_click_is_one_action(browser):
    page = opened(browser).button(key="count-1").click().run().button(key="count-1").click().run()
    assert page.session_state["count"] == 1


def test_the_second_half_of_a_double_click_does_not_switch_back(browser):
    page = opened(browser).button(key="switch").click().run().button(key="switch").click().run()
    assert page.session_state["count"] == 1


def test_another_action_right_after_is_another(browser):
    page = opened(browser).button(key="count-1").click().run().button(key="count-2").click().run()
    assert page.session_state["count"] == 3


def test_a_refusal_is_shown_once_as_plain_text_at_the_place_of_the_click(browser):
    page = opened(browser).button(key="refuse").click().run()
    assert [each.value for each in page.error] == ["No \\*more\\* counting."]


def test_a_refusal_goes_with_the_next_action(browser):
    page = opened(browser).button(key="refuse").click().run().button(key="count-1").click().run()
    assert not page.error
    assert page.success


def test_a_full_disk_is_said_where_it_was_clicked(browser):
    page = opened(browser).button(key="fill").click().run()
    assert page.error[0].value.startswith(r"The disk is full\: v1.jsonl")


def test_what_the_database_did_not_take_stays_said_and_can_be_tried_again(browser):
    page = opened(browser).button(key="far").click().run()
    assert page.error[0].value == "Not saved\\: the database could not be reached."
    page.session_state["away"] = False
    page = page.button(key="again-here").click().run()
    assert page.success[0].value == "Counted ten."
    assert page.session_state["count"] == 10


def test_a_fault_of_ours_is_an_answer_too(browser):
    page = opened(browser).button(key="wrong").click().run()
    assert page.error[0].value.startswith("Not saved")
    assert not page.exception


def test_saved_is_said_with_the_time_that_the_database_has(browser, sign_in_as, workspace):
    sign_in_as("ada", Role.ADMIN)
    page = AppTest.from_function(page_that_adds_somebody, default_timeout=20).run()
    page = page.button(key="add").click().run()
    with read_only_session(workspace) as db:
        kept = db.execute(select(AuditRow.at).order_by(AuditRow.number.desc()).limit(1)).scalar_one()
    assert page.caption[0].value == f"Saved at {kept:%H:%M:%S} UTC"


def test_nothing_is_called_saved_that_wrote_nothing(browser, sign_in_as):
    sign_in_as("ada", Role.ADMIN)
    page = opened(browser).button(key="count-1").click().run()
    assert not page.caption


def page_that_adds_somebody() -> None:
    import streamlit as st

    from accounts import service as accounts
    from domain.people import Role
    from ui.context import clock, current_person, unit_of_work
    from ui.widgets import act, show_notice

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

    st.button("Add", key="add", on_click=act, args=(add,))
    show_notice()
