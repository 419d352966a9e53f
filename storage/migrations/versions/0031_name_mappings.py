"""Controlled names that datasets give to raw names of categories, content types and regions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

_TABLES = ("name_mapping",)
_KEYS = {"name_mapping": ("dataset_id", "field", "raw_name", "revision")}


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "name_mapping",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("raw_name", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("controlled_name", sa.String(), nullable=True),
        sa.Column("mapped_by", sa.Integer(), nullable=True),
        sa.Column("mapped_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.ForeignKeyConstraint(["mapped_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("dataset_id", "field", "raw_name", "revision"),
    )
    refuse_change(op.get_bind(), _TABLES)
    refuse_ways_round(op.get_bind(), _KEYS)


def downgrade() -> None:
    """Back to the revision before, without mappings of names."""
    allow_ways_round(op.get_bind(), _TABLES)
    allow_change(op.get_bind(), _TABLES)
    op.drop_table("name_mapping")
