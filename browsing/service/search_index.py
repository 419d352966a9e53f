"""Updates the search index in parts, so that reviewers do not have to wait."""

from __future__ import annotations

from sqlmodel import Session

from storage.browsing.search import IndexState, index_next_questions, load_index_state

#: Questions that are indexed in one transaction, which takes a third of a second.
BLOCK_SIZE = 10_000


def load_search_index_state(db: Session) -> IndexState:
    """The state of the search index. Checks no permission, because it shows no question."""
    return load_index_state(db)


def index_questions(db: Session, *, limit: int = BLOCK_SIZE) -> bool:
    """Index the next questions; not recorded in the audit trail, because it changes no data.

    Args:
        db: a session that writes.
        limit: questions to index in this call.

    Returns:
        Whether there are more.
    """
    state = load_index_state(db)
    if not state.is_behind:
        return False
    return index_next_questions(db, after=state.last_indexed, limit=limit) < state.newest
