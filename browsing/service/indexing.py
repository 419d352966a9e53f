"""Updates the search index in parts, so that reviewers do not have to wait."""

from __future__ import annotations

from sqlmodel import Session

from storage.browsing.search import IndexState, index_more, index_state

#: Questions that are indexed in one transaction, which takes a third of a second.
AT_ONCE = 10_000


def search_index(db: Session) -> IndexState:
    """The state of the search index. Checks no permission, because it shows no question."""
    return index_state(db)


def index_questions(db: Session, *, most: int = AT_ONCE) -> bool:
    """Index the next questions; not recorded in the audit trail, because it changes no data.

    Args:
        db: a session that writes.
        most: questions to index in this call.

    Returns:
        Whether there are more.
    """
    state = index_state(db)
    if not state.behind:
        return False
    return index_more(db, after=state.through, most=most) < state.newest
