"""Keeping the search index up to date: in parts, so that nobody who is judging waits."""

from __future__ import annotations

from sqlmodel import Session

from storage.browsing.search import IndexState, index_more, index_state

#: Questions that go into the index in one transaction: a third of a second.
AT_ONCE = 10_000


def search_index(db: Session) -> IndexState:
    """How far the index has come. It tells of no question, so it asks for no person."""
    return index_state(db)


def index_questions(db: Session, *, most: int = AT_ONCE) -> bool:
    """Put the next questions into the index; whether there are more. Each call is a transaction of its own.

    It changes nothing that anybody said, so it is not put on record.
    """
    state = index_state(db)
    if not state.behind:
        return False
    return index_more(db, after=state.through, most=most) < state.newest
