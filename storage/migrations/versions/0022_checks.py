"""Which checks of a dataset are switched on, and up to which question they ran."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "dataset_check",
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("check_name", sa.String(), nullable=False),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("settings", sa.String(), nullable=False),
        sa.Column("checked_through", _BIG, nullable=False),
        sa.Column("missing_needs", sa.String(), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.PrimaryKeyConstraint("dataset_id", "check_name"),
    )


def downgrade() -> None:
    """Back to 0021, without the state of checks."""
    op.drop_table("dataset_check")
