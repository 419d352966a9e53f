"""Comments between a reviewer and the coordinators on a question, apart from the comment of a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.errors import InvalidValue

#: The longest comment, in characters.
MAX_COMMENT_LENGTH = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """One comment of the thread of a reviewer on a question of a batch.

    ``number`` counts over all comments. ``author_id`` is None for the command line. ``by_reviewer``: the
    reviewer wrote it; otherwise a coordinator did, and it is addressed to the reviewer.
    """

    number: int
    batch_id: int
    question_number: int
    reviewer_id: int
    author_id: int | None
    author_name: str
    by_reviewer: bool
    text: str
    written_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentThread:
    """The comments of one reviewer's thread, the oldest first.

    ``question_id`` is the id in the dataset. ``unread`` counts the comments that the person has not read.
    """

    batch: str
    dataset: str
    question_id: str
    reviewer: str
    reviewer_name: str
    comments: tuple[Comment, ...]
    unread: int = 0

    @property
    def is_answered(self) -> bool:
        """Whether a coordinator wrote the last comment."""
        return not self.comments[-1].by_reviewer


def check_comment_text(text: str) -> str:
    """The text without blanks around it.

    Raises:
        InvalidValue: empty, or longer than 4,000 characters.
    """
    text = text.strip()
    if not text:
        raise InvalidValue("comment", "is empty")
    if len(text) > MAX_COMMENT_LENGTH:
        raise InvalidValue("comment", f"has {len(text):,} characters; at most {MAX_COMMENT_LENGTH:,} fit")
    return text
