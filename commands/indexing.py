"""Update the search index before a command that searches and after a command that imports."""

from __future__ import annotations

from browsing.service import index_questions, search_index
from commands.telling import Telling
from storage.unit_of_work import reading, unit_of_work


def bring_up_to_date() -> None:
    """Index the new questions in parts. Prints progress if this takes longer than two seconds."""
    tell = Telling()
    with reading() as db:
        state = search_index(db)
    start, more = state.through, state.behind
    while more:
        with unit_of_work() as db:
            more = index_questions(db)
        with reading() as db:
            tell("Search index", search_index(db).through - start, state.newest - start)
