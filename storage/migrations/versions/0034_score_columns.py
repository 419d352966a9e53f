"""Scores from outside, such as BERTScore, of the answers of evaluations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

_TABLES = ("score_column",)
_KEYS = {"score_column": ("evaluation_id", "name", "revision")}


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "score_column",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("scores", sa.String(), nullable=False),
        sa.Column("imported_by", sa.Integer(), nullable=True),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["evaluation_id"], ["evaluation.id"]),
        sa.ForeignKeyConstraint(["imported_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("evaluation_id", "name", "revision"),
    )
    refuse_change(op.get_bind(), _TABLES)
    refuse_ways_round(op.get_bind(), _KEYS)


def downgrade() -> None:
    """Back to the revision before, without scores from outside."""
    allow_ways_round(op.get_bind(), _TABLES)
    allow_change(op.get_bind(), _TABLES)
    op.drop_table("score_column")
