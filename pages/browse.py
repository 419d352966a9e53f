"""Browse: search all questions, and see the history of each."""

from __future__ import annotations

import streamlit as st

from browsing.service import list_browsable_datasets, load_search_index_state
from domain.errors import NotFound
from domain.people import Action
from ui.address import parse_id
from ui.background_jobs.job_status import show_job_outcome, show_job_progress
from ui.context import read_only_session, require_page
from ui.search.bulk_actions import show_bulk_actions
from ui.search.filters import choose_search
from ui.search.index_job import load_latest_index_job, start_indexing
from ui.search.question_history import show_question
from ui.search.results import show_results
from ui.widgets import escape_markdown, page_fragment, run_action, show_empty_state, show_notice


@page_fragment
def main() -> None:
    """Show the list of questions, or the question in the URL."""
    person = require_page(Action.BROWSE)
    question_row_id = parse_id(st.query_params.get("question"))
    if question_row_id is not None:
        st.title("Question")
        st.markdown("[← All questions](/browse)")
        try:
            show_question(person, question_row_id)
        except NotFound as error:
            st.error(escape_markdown(str(error)))
        return
    st.title("Browse")
    with read_only_session() as db:
        datasets = list_browsable_datasets(db, by=person)
        index = load_search_index_state(db)
    index_job = load_latest_index_job(person)
    if not datasets:
        show_empty_state(
            "No questions yet",
            "Search the questions of all datasets, and view the history of each.",
            page="pages/import_questions.py",
            label="Import questions",
        )
        return
    if index.is_behind:
        st.warning(
            f"{index.newest - index.last_indexed:,} recently imported questions are not in the search index"
            " yet."
        )
        if not show_job_progress(index_job):
            st.button(
                "Update search index",
                key=f"index-{index.last_indexed}",
                on_click=run_action,
                args=(start_indexing, person),
                kwargs={"notice_key": "index", "message": "The search index is up to date."},
            )
    show_job_outcome(index_job)
    show_notice("index")
    search = choose_search(person, datasets)
    show_bulk_actions(person, search)
    show_results(person, search)


main()
