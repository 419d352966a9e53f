"""The origin of generated questions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TABLE = "question_provenance"


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        _TABLE,
        sa.Column("question_id", _BIG, autoincrement=False, nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.PrimaryKeyConstraint("question_id"),
    )
    refuse_change(op.get_bind(), (_TABLE,))
    refuse_ways_round(op.get_bind(), {_TABLE: ("question_id",)})


def downgrade() -> None:
    """Back to 0020, without the origins."""
    allow_ways_round(op.get_bind(), (_TABLE,))
    allow_change(op.get_bind(), (_TABLE,))
    op.drop_table(_TABLE)
