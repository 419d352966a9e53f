"""Risk and inclusion probability of every question in the frame of a draw by risk."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "draw_probability",
        sa.Column("draw_id", sa.Integer(), nullable=False),
        sa.Column("question_id", _BIG, autoincrement=False, nullable=False),
        sa.Column("risk", sa.Float(), nullable=False),
        sa.Column("probability", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["draw_id"], ["draw.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.PrimaryKeyConstraint("draw_id", "question_id"),
    )


def downgrade() -> None:
    """Back to the revision before, without the probabilities of draws by risk."""
    op.drop_table("draw_probability")
