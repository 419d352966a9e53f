"""Updates the search index before searches and after imports."""

from __future__ import annotations

from browsing.service import index_questions, load_search_index_state
from commands.output import ProgressPrinter
from storage.unit_of_work import read_only_session, unit_of_work


def update_search_index() -> None:
    """Index new questions in parts. Prints progress if this takes more than two seconds."""
    print_progress = ProgressPrinter()
    with read_only_session() as db:
        index = load_search_index_state(db)
    start, has_more = index.last_indexed, index.is_behind
    while has_more:
        with unit_of_work() as db:
            has_more = index_questions(db)
        with read_only_session() as db:
            print_progress(
                "Search index", load_search_index_state(db).last_indexed - start, index.newest - start
            )
