"""Second opinions, how they are sought and settled: adjudications, by whom, by which rules."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "adjudication",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("question_id", _BIG, nullable=False, autoincrement=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("decision", sa.String(), nullable=False),
        sa.Column("correction", sa.String(), nullable=False),
        sa.Column("follows", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("given_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("batch_id", "question_id", "revision"),
    )
    op.create_index("adjudication_question", "adjudication", ["question_id"])
    op.create_table(
        "adjudication_rules",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("hide_names", sa.Boolean(), nullable=False),
        sa.Column("same_box", sa.Float(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.PrimaryKeyConstraint("batch_id"),
    )
    op.create_table(
        "adjudicator",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("named_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("batch_id", "person_id"),
    )
    op.create_table(
        "second_opinions",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("way", sa.String(), nullable=False),
        sa.Column("share", sa.Float(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("sought_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.PrimaryKeyConstraint("batch_id"),
    )
    refuse_change(op.get_bind(), ("adjudication",))
    refuse_ways_round(op.get_bind(), {"adjudication": ("batch_id", "question_id", "revision")})


def downgrade() -> None:
    """Back to 0006."""
    allow_ways_round(op.get_bind(), ("adjudication",))
    allow_change(op.get_bind(), ("adjudication",))
    op.drop_table("second_opinions")
    op.drop_table("adjudicator")
    op.drop_table("adjudication_rules")
    op.drop_index("adjudication_question", table_name="adjudication")
    op.drop_table("adjudication")
