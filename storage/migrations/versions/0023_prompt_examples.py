"""In-context examples of prompts that people write from exams."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "prompt_example",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("exam_id", _BIG, nullable=False),
        sa.Column("variables", sa.String(), nullable=False),
        sa.Column("images", sa.String(), nullable=False),
        sa.Column("reply", sa.String(), nullable=False),
        sa.Column("written_by", sa.Integer(), nullable=True),
        sa.Column("written_at", _TIME, nullable=False),
        sa.Column("removed_at", _TIME, nullable=True),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"]),
        sa.ForeignKeyConstraint(["written_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_prompt_example_name"), "prompt_example", ["name"])


def downgrade() -> None:
    """Back to 0022, without examples outside prompt versions."""
    op.drop_index(op.f("ix_prompt_example_name"), table_name="prompt_example")
    op.drop_table("prompt_example")
