"""Tables of comments between reviewers and coordinators."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Index
from sqlmodel import Field

from storage.rows import batches, datasets, people  # noqa: F401 - register the tables of the foreign keys
from storage.rows.table_row import TableRow
from storage.types import BigKey, UtcDateTime


class QuestionCommentRow(TableRow, table=True):
    """A comment; append-only by trigger. ``reviewer_id`` identifies the thread, ``author_id`` the author."""

    __tablename__ = "question_comment"
    __table_args__ = (
        Index("question_comment_question", "question_id"),
        Index("question_comment_thread", "batch_id", "question_id", "reviewer_id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    batch_id: int = Field(foreign_key="batch.id")
    question_id: int = Field(sa_column=Column(BigKey, ForeignKey("question.id"), nullable=False))
    reviewer_id: int = Field(foreign_key="person.id")
    author_id: int | None = Field(default=None, foreign_key="person.id")
    text: str
    written_at: datetime = Field(sa_type=UtcDateTime)


class CommentReadRow(TableRow, table=True):
    """A record that a person has read a comment."""

    __tablename__ = "comment_read"

    comment_id: int = Field(foreign_key="question_comment.id", primary_key=True)
    person_id: int = Field(foreign_key="person.id", primary_key=True)
    read_at: datetime = Field(sa_type=UtcDateTime)
