"""Updates the search index in parts, so that reviewers do not have to wait."""

from __future__ import annotations

from sqlmodel import Session

from storage.browsing.search import IndexState, index_next_questions, load_index_state

#: Number of questions that are indexed in one transaction, which takes a third of a second.
BLOCK_SIZE = 10_000


def load_search_index_state(db: Session) -> IndexState:
    """Load the state of the search index. Checks no permission, because the state reveals no question."""
    return load_index_state(db)


def index_questions(db: Session, *, limit: int = BLOCK_SIZE) -> bool:
    """Index the next questions. This is not recorded in the audit trail, because it changes no data.

    Args:
        db: a session that can write.
        limit: the maximum number of questions to index.

    Returns:
        Whether there are more questions to index.
    """
    state = load_index_state(db)
    if not state.is_behind:
        return False
    return index_next_questions(db, after=state.last_indexed, limit=limit) < state.newest
