"""Work behind a page: how far it is, what came of it, and that it is begun once."""

from __future__ import annotations

import threading

import pytest
from streamlit.testing.v1 import AppTest

from domain.errors import DomainError, Refused
from tests.pages.conftest import COMMAND_LINE, settled, texts
from ui.behind.work import Words, begin, forget, latest_of, work_of

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

    def carry_out(work):
        work.tell(3, 8, "questions")
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
        begin(NAME, lambda work: "twice")
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
    def carry_out(work):
        raise error

    begin(NAME, carry_out)
    settled(NAME)
    assert said in work_of(NAME).failure
    assert "secret" not in texts(drawn())


def test_work_that_goes_on_is_not_forgotten(held):
    forget(NAME)
    assert work_of(NAME) is not None


def test_begun_once_it_is_given_back_until_it_is_forgotten(held):
    assert begin(NAME, lambda work: "twice", once=True) is work_of(NAME)
    held.set()
    settled(NAME)
    assert begin(NAME, lambda work: "twice", once=True).said == "All of *it* is done."
    forget(NAME)
    assert begin(NAME, lambda work: "anew", once=True).said == "anew"


def test_the_latest_of_a_person_is_found_until_it_is_forgotten():
    for name in ("first", "second"):
        begin(name, lambda work: "done", by=COMMAND_LINE, about=name)
    begin("of nobody", lambda work: "done", about="third")
    assert latest_of(COMMAND_LINE, str) is work_of("second")
    assert latest_of(COMMAND_LINE, int) is None
    forget("second")
    assert latest_of(COMMAND_LINE, str) is work_of("first")


def test_what_was_refused_is_there_beside_the_refusal():
    def carry_out(work):
        work.result = ["line 3"]
        raise Refused("Nothing came in.")

    work = begin(NAME, carry_out)
    assert (work.failure, work.result, work.said) == ("Nothing came in.", ["line 3"], None)


def test_a_failure_is_told_in_the_words_of_its_work():
    def carry_out(work):
        raise OSError(28, "No space left on device", "set.jsonl")

    work = begin(NAME, carry_out, words=Words(trouble=lambda text: f"Nothing was imported. {text}"))
    assert work.failure.startswith("Nothing was imported. The disk is full: set.jsonl")
