"""The setting that one key accepts with top ratings, and the keys and mouse button of a person."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    op.add_column(
        "batch", sa.Column("one_key_accept", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.create_table(
        "input_preferences",
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("preferences", sa.String(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("person_id"),
    )


def downgrade() -> None:
    """Back to 0015, which does not know the setting."""
    batches = op.get_bind().execute(sa.text("SELECT count(*) FROM batch WHERE one_key_accept")).scalar_one()
    if batches:
        raise RuntimeError(
            f"{batches} batches accept with one key. The version before can't keep that. Restore the backup "
            "from before the upgrade."
        )
    op.drop_table("input_preferences")
    op.drop_column("batch", "one_key_accept")
