"""Comments between reviewers and coordinators, and who has read them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "question_comment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("question_id", _BIG, nullable=False),
        sa.Column("reviewer_id", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("written_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.ForeignKeyConstraint(["reviewer_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["author_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("question_comment_question", "question_comment", ["question_id"])
    op.create_index("question_comment_thread", "question_comment", ["batch_id", "question_id", "reviewer_id"])
    op.create_table(
        "comment_read",
        sa.Column("comment_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("read_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["comment_id"], ["question_comment.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("comment_id", "person_id"),
    )
    refuse_change(op.get_bind(), ("question_comment",))
    refuse_ways_round(op.get_bind(), {"question_comment": ("id",)})


def downgrade() -> None:
    """Back to 0014, without comments."""
    allow_ways_round(op.get_bind(), ("question_comment",))
    allow_change(op.get_bind(), ("question_comment",))
    op.drop_table("comment_read")
    op.drop_index("question_comment_thread", table_name="question_comment")
    op.drop_index("question_comment_question", table_name="question_comment")
    op.drop_table("question_comment")
