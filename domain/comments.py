"""Comments between a reviewer and the coordinators on a question, apart from the comment of a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.errors import InvalidValue

#: Maximum length of a comment in characters.
MAX_COMMENT_LENGTH = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """One comment in the thread of a reviewer on a question of a batch.

    ``number`` and ``question_row_id`` are ids in the database. ``author_id`` is None for the command line.
    ``by_reviewer`` states that the reviewer wrote the comment. Otherwise a coordinator wrote it to the
    reviewer.
    """

    number: int
    batch_id: int
    question_row_id: int
    reviewer_id: int
    author_id: int | None
    author_name: str
    by_reviewer: bool
    text: str
    written_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentThread:
    """A reviewer's thread with its comments, the oldest first.

    ``question_id`` is the id of the question in its file. ``unread`` is the number of comments that the
    person who loads the thread has not read.
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
    """Check the text of a comment and remove surrounding spaces.

    Raises:
        InvalidValue: the text is empty or longer than 4,000 characters.
    """
    text = text.strip()
    if not text:
        raise InvalidValue("comment", "is empty")
    if len(text) > MAX_COMMENT_LENGTH:
        raise InvalidValue("comment", f"has {len(text):,} characters; the maximum is {MAX_COMMENT_LENGTH:,}")
    return text
