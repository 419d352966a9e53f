"""Marks that state whether answers were extracted correctly from the replies of models."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_KEY = ("model_id", "question_id", "revision")


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "extraction_mark",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("question_id", _BIG, autoincrement=False, nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("mark", sa.String(), nullable=True),
        sa.Column("marked_by", sa.Integer(), nullable=True),
        sa.Column("marked_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["model.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.ForeignKeyConstraint(["marked_by"], ["person.id"]),
        sa.PrimaryKeyConstraint(*_KEY),
    )
    refuse_change(op.get_bind(), ("extraction_mark",))
    refuse_ways_round(op.get_bind(), {"extraction_mark": _KEY})


def downgrade() -> None:
    """Back to 0019, without these marks."""
    allow_ways_round(op.get_bind(), ("extraction_mark",))
    allow_change(op.get_bind(), ("extraction_mark",))
    op.drop_table("extraction_mark")
