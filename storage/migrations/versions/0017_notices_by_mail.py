"""Addresses for notices by e-mail, and jobs that wait until a time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "mail_setting",
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("wanted", sa.Boolean(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("person_id"),
    )
    op.add_column("job", sa.Column("not_before", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    """Back to 0016, which sends no mail."""
    op.execute(sa.text("DELETE FROM job WHERE kind = 'mail'"))
    op.drop_column("job", "not_before")
    op.drop_table("mail_setting")
