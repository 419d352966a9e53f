"""Work behind a page: how far it is, what came of it, and that it is begun once."""

from __future__ import annotations

import threading

import pytest
from streamlit.testing.v1 import AppTest

from domain.errors import DomainError
from tests.pages.conftest import settled, texts
from ui.behind.work import begin, forget, work_of

NAME = "some work"


def drawn():
    def script() -> None:
        import streamlit as st

        from ui.behind.shown import is_going_on, what_came_of

        st.markdown("going on" if is_going_on("some work") else "at rest")
        what_came_of("some work")

    return AppTest.from_function(script).run()


@pytest.fixture
def held():
    """Work that has done 3 of 8 and waits for the test."""
    go_on, told = threading.Event(), threading.Event()

    def carry_out(tell):
        tell(3, 8, "questions")
        told.set()
        assert go_on.wait(20)
        return "All of *it* is done."

    begin(NAME, carry_out)
    assert told.wait(20)
    yield go_on
    go_on.set()
    settled(NAME)


def test_nothing_is_drawn_before_it_is_begun():
    assert texts(drawn()) == "at rest"


def test_while_it_goes_on_it_says_how_far_it_is(held):
    page = drawn()
    assert "going on" in texts(page)
    assert page.get("progress")[0].proto.text == "3 of 8 questions"


def test_begun_again_while_it_goes_on_it_is_refused(held):
    with pytest.raises(DomainError, match="goes on already"):
        begin(NAME, lambda tell: "twice")
    held.set()
    settled(NAME)
    assert work_of(NAME).said == "All of *it* is done."


def test_what_came_of_it_is_said_until_it_is_put_away(held):
    held.set()
    settled(NAME)
    page = drawn()
    assert "All of *it* is done." in texts(page)
    assert "Ended at" in texts(page)
    page = page.button[0].click().run()
    assert texts(page) == "at rest"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DomainError("There is no such dataset."), "There is no such dataset."),
        (OSError(28, "No space left on device"), "disk is full"),
        (ValueError("secret of a patient"), "The server's log says why."),
    ],
)
def test_what_it_fails_on_is_said(error, said):
    def carry_out(tell):
        raise error

    begin(NAME, carry_out)
    settled(NAME)
    assert said in work_of(NAME).failure
    assert "secret" not in texts(drawn())


def test_work_that_goes_on_is_not_forgotten(held):
    forget(NAME)
    assert work_of(NAME) is not None
