"""Evaluations of models on a release, in conditions such as without image."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_KEYS = {"evaluation": ("id",), "evaluation_run": ("id",), "evaluation_case": ("run_id", "question_id")}


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "evaluation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("release_id", sa.Integer(), nullable=False),
        sa.Column("split", sa.String(), nullable=False),
        sa.Column("answered_by", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("is_test_model", sa.Boolean(), nullable=False),
        sa.Column("prompt_id", sa.Integer(), nullable=True),
        sa.Column("image_size", sa.String(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["release_id"], ["release.id"]),
        sa.ForeignKeyConstraint(["prompt_id"], ["prompt_version.id"]),
        sa.ForeignKeyConstraint(["created_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "evaluation_run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.Integer(), nullable=False),
        sa.Column("condition", sa.String(), nullable=False),
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("model_run_id", sa.Integer(), nullable=True),
        sa.Column("cases", sa.Integer(), nullable=False),
        sa.Column("excluded", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["evaluation_id"], ["evaluation.id"]),
        sa.ForeignKeyConstraint(["model_id"], ["model.id"]),
        sa.ForeignKeyConstraint(["model_run_id"], ["model_run.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("evaluation_id", "condition"),
        sa.UniqueConstraint("model_id"),
    )
    op.create_table(
        "evaluation_case",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("question_id", _BIG, autoincrement=False, nullable=False),
        sa.Column("permutation", sa.String(), nullable=True),
        sa.Column("other_exam_id", _BIG, nullable=True),
        sa.Column("stem", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["evaluation_run.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.ForeignKeyConstraint(["other_exam_id"], ["exam.id"]),
        sa.PrimaryKeyConstraint("run_id", "question_id"),
    )
    refuse_change(op.get_bind(), tuple(_KEYS))
    refuse_ways_round(op.get_bind(), _KEYS)


def downgrade() -> None:
    """Back to 0023, without evaluations."""
    op.execute(sa.text("DELETE FROM job WHERE kind = 'evaluation'"))
    allow_ways_round(op.get_bind(), tuple(_KEYS))
    allow_change(op.get_bind(), tuple(_KEYS))
    for table in ("evaluation_case", "evaluation_run", "evaluation"):
        op.drop_table(table)
