"""Browse: find questions among all of them, and see everything that happened to one."""

from __future__ import annotations

import streamlit as st

from browsing.service import browsable, index_questions, search_index
from domain.errors import NotFound
from domain.people import Action
from ui.behind.shown import is_going_on, what_came_of
from ui.behind.work import Tell, begin
from ui.context import reading, require_page, unit_of_work
from ui.finding.applying import apply_to_many
from ui.finding.filters import ask
from ui.finding.one import show_question
from ui.finding.results import show_results
from ui.parts import act, empty_state, notices, plain, screen

_INDEX = "search index"


@screen
def main() -> None:
    """The list, or the question that the address names."""
    person = require_page(Action.BROWSE)
    st.title("Browse")
    named = st.query_params.get("question", "")
    if named.isdecimal():
        st.markdown("[← All questions](/browse)")
        try:
            show_question(person, int(named))
        except NotFound as error:
            st.error(plain(str(error)))
        return
    with reading() as db:
        datasets = browsable(db, by=person)
        index = search_index(db)
    if not datasets:
        empty_state(
            "No question yet",
            "Every question of every dataset can be found here, with all that happened to it.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    if index.behind:
        st.warning(
            f"{index.newest - index.through:,} questions that came in last can't be found yet: they are not "
            "in the search index."
        )
        if not is_going_on(_INDEX):
            st.button(
                "Put them in",
                key=f"index-{index.through}",
                on_click=act,
                args=(_begin,),
                kwargs={"place": "index"},
            )
    what_came_of(_INDEX)
    notices("index")
    search = ask(person, datasets)
    apply_to_many(person, search)
    show_results(person, search)


def _begin() -> None:
    begin(_INDEX, _index)  # allow write-without-act: a thread of its own, which the page watches


def _index(tell: Tell) -> str:
    more = True
    while more:
        with unit_of_work() as db:
            more = index_questions(db)
        with reading() as db:
            state = search_index(db)
        tell(state.through, state.newest, "questions")
    return "Every question can be found now."


main()
