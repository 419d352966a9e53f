"""Jobs: long work behind the pages, so that it survives a restart."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)
_ACTIVE = sa.text("finished_at IS NULL")


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "job",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=True),
        sa.Column("parameters", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("done", _BIG, nullable=False),
        sa.Column("total", _BIG, nullable=False),
        sa.Column("unit", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("checkpoint", sa.String(), nullable=True),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("result", sa.String(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("dismissed", sa.Boolean(), nullable=False),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("lease_until", _TIME, nullable=True),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("started_at", _TIME, nullable=True),
        sa.Column("finished_at", _TIME, nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "job_active", "job", ["kind", "subject"], unique=True, sqlite_where=_ACTIVE, postgresql_where=_ACTIVE
    )
    op.create_index("job_subject", "job", ["kind", "subject"])
    op.create_index("job_owner", "job", ["owner_id", "kind"])


def downgrade() -> None:
    """Back to 0011; what came of earlier jobs is lost, their effects stay."""
    op.drop_table("job")
