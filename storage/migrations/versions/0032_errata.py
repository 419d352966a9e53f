"""Problems that people report in released questions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

_TABLES = ("erratum_report",)
_KEYS = {"erratum_report": ("release_id", "question_id", "reported_by", "kind")}


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "erratum_report",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("release_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("side", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("released", sa.String(), nullable=False),
        sa.Column("reported_by", sa.Integer(), nullable=True),
        sa.Column("reported_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["release_id"], ["release.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.ForeignKeyConstraint(["reported_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("release_id", "question_id", "reported_by", "kind"),
    )
    op.create_index("erratum_report_question", "erratum_report", ["question_id"])
    refuse_change(op.get_bind(), _TABLES)
    refuse_ways_round(op.get_bind(), _KEYS)


def downgrade() -> None:
    """Back to the revision before, without reported problems."""
    allow_ways_round(op.get_bind(), _TABLES)
    allow_change(op.get_bind(), _TABLES)
    op.drop_table("erratum_report")
