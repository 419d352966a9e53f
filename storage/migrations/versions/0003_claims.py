"""claims."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "shared_queue",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("overlap", sa.Integer(), nullable=False),
        sa.Column("idle_minutes", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.PrimaryKeyConstraint("batch_id"),
    )
    op.create_table(
        "pool_member",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("left_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("batch_id", "person_id"),
    )
    op.create_table(
        "claim",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("question_id", _BIG, autoincrement=False, nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("exam_id", _BIG, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.PrimaryKeyConstraint("batch_id", "question_id", "turn"),
        sa.UniqueConstraint("batch_id", "question_id", "person_id", name="claim_once_a_person"),
    )
    op.create_index("claim_queue", "claim", ["batch_id", "state", "turn", "position"])
    op.create_index("claim_expiry", "claim", ["batch_id", "state", "expires_at"])
    op.create_index("claim_exam", "claim", ["batch_id", "exam_id", "turn"])


def downgrade() -> None:
    """Back to 0002. Who held a question keeps it: its assignment stays."""
    op.drop_table("claim")
    op.drop_table("pool_member")
    op.drop_table("shared_queue")
