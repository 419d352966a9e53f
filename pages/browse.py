"""Browse: search all questions, and see the history of each."""

from __future__ import annotations

import streamlit as st

from browsing.service import browsable, search_index
from domain.errors import NotFound
from domain.people import Action
from ui.address import number_in
from ui.background_jobs.shown import show_outcome, show_progress
from ui.context import reading, require_page
from ui.finding.applying import apply_to_many
from ui.finding.filters import ask
from ui.finding.indexing import latest_indexing, start_indexing
from ui.finding.one import show_question
from ui.finding.results import show_results
from ui.parts import act, empty_state, notices, plain, screen


@screen
def main() -> None:
    """The list, or the question that the URL names."""
    person = require_page(Action.BROWSE)
    st.title("Browse")
    named = number_in(st.query_params.get("question"))
    if named is not None:
        st.markdown("[← All questions](/browse)")
        try:
            show_question(person, named)
        except NotFound as error:
            st.error(plain(str(error)))
        return
    with reading() as db:
        datasets = browsable(db, by=person)
        index = search_index(db)
    indexing = latest_indexing(person)
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
        if not show_progress(indexing):
            st.button(
                "Put them in",
                key=f"index-{index.through}",
                on_click=act,
                args=(start_indexing, person),
                kwargs={"place": "index", "message": "Every question can be found now."},
            )
    show_outcome(indexing)
    notices("index")
    search = ask(person, datasets)
    apply_to_many(person, search)
    show_results(person, search)


main()
