"""Pairs of questions for the calibration of near-duplicates, and judgements of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "calibration_pair",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("embedding", sa.String(), nullable=False),
        sa.Column("first_id", _BIG, nullable=False),
        sa.Column("second_id", _BIG, nullable=False),
        sa.Column("similarity", sa.Float(), nullable=False),
        sa.Column("weight", sa.Float(), nullable=False),
        sa.Column("drawn_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.ForeignKeyConstraint(["first_id"], ["question.id"]),
        sa.ForeignKeyConstraint(["second_id"], ["question.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_calibration_pair_dataset_id"), "calibration_pair", ["dataset_id"])
    op.create_table(
        "pair_judgement",
        sa.Column("pair_id", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("is_same", sa.Boolean(), nullable=True),
        sa.Column("judged_by", sa.Integer(), nullable=True),
        sa.Column("judged_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["pair_id"], ["calibration_pair.id"]),
        sa.ForeignKeyConstraint(["judged_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("pair_id", "revision"),
    )


def downgrade() -> None:
    """Back to the revision before, without calibrations."""
    op.drop_table("pair_judgement")
    op.drop_index(op.f("ix_calibration_pair_dataset_id"), table_name="calibration_pair")
    op.drop_table("calibration_pair")
