"""Actions: what a click saves, what is said of it, and that a double click is one."""

from streamlit.testing.v1 import AppTest


def page_with_counter() -> None:
    import errno

    import streamlit as st

    from domain.errors import Refused
    from ui.parts import act, notices

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

    st.button("Fill", key="fill", on_click=act, args=(fill_the_disk,), kwargs={"place": "here"})
    st.button("Refuse", key="refuse", on_click=act, args=(refuse,), kwargs={"place": "here"})
    notices("here")
    notices("elsewhere")


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
