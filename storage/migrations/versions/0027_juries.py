"""Juries of language models: plans, judges and votes; the declared family of an endpoint."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_CHECKS = ("domain specificity", "cognitive depth", "clinical alignment", "difficulty")
_KEYS = {"jury": ("id",), "jury_judge": ("id",)}


def upgrade() -> None:
    """To this revision."""
    op.add_column("model_endpoint", sa.Column("family", sa.String(), nullable=True))
    op.create_table(
        "jury",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("unknown_authors", sa.Integer(), nullable=False),
        sa.Column("written_by", sa.String(), nullable=True),
        sa.Column("override_reason", sa.String(), nullable=False),
        sa.Column("planned_by", sa.Integer(), nullable=True),
        sa.Column("planned_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.ForeignKeyConstraint(["planned_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_jury_dataset_id"), "jury", ["dataset_id"])
    op.create_table(
        "jury_judge",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("jury_id", sa.Integer(), nullable=False),
        sa.Column("check_name", sa.String(), nullable=False),
        sa.Column("family", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("is_test_model", sa.Boolean(), nullable=False),
        sa.Column("prompt_id", sa.Integer(), nullable=False),
        sa.Column("model_run_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["jury_id"], ["jury.id"]),
        sa.ForeignKeyConstraint(["prompt_id"], ["prompt_version.id"]),
        sa.ForeignKeyConstraint(["model_run_id"], ["model_run.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_jury_judge_jury_id"), "jury_judge", ["jury_id"])
    op.create_table(
        "jury_vote",
        sa.Column("judge_id", sa.Integer(), nullable=False),
        sa.Column("question_id", _BIG, autoincrement=False, nullable=False),
        sa.Column("answers", sa.String(), nullable=False),
        sa.Column("failure", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["judge_id"], ["jury_judge.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.PrimaryKeyConstraint("judge_id", "question_id"),
    )
    op.create_index(op.f("ix_jury_vote_question_id"), "jury_vote", ["question_id"])
    refuse_change(op.get_bind(), tuple(_KEYS))
    refuse_ways_round(op.get_bind(), _KEYS)


def downgrade() -> None:
    """Back to the revision before, without juries and what they found."""
    for table in ("problem", "dataset_check"):
        names = ", ".join(f"'{name}'" for name in _CHECKS)
        op.execute(sa.text(f"DELETE FROM {table} WHERE check_name IN ({names})"))  # noqa: S608 - own names
    op.execute(sa.text("DELETE FROM job WHERE kind = 'jury'"))
    allow_ways_round(op.get_bind(), tuple(_KEYS))
    allow_change(op.get_bind(), tuple(_KEYS))
    op.drop_index(op.f("ix_jury_vote_question_id"), table_name="jury_vote")
    op.drop_table("jury_vote")
    op.drop_index(op.f("ix_jury_judge_jury_id"), table_name="jury_judge")
    op.drop_table("jury_judge")
    op.drop_index(op.f("ix_jury_dataset_id"), table_name="jury")
    op.drop_table("jury")
    op.drop_column("model_endpoint", "family")
