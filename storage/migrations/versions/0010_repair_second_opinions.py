"""Repair: the table second_opinions, in workspaces that ran 0007 before the table was added to it.

Nothing changes where the table is there.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    if sa.inspect(op.get_bind()).has_table("second_opinions"):
        return
    op.create_table(
        "second_opinions",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("way", sa.String(), nullable=False),
        sa.Column("share", sa.Float(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("sought_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.PrimaryKeyConstraint("batch_id"),
    )


def downgrade() -> None:
    """Back to 0009. Nothing is undone: 0007 makes this table too, and its own downgrade drops it."""
