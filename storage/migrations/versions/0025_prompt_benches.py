"""Prompt benches: versions of prompts on the same reports, scored by experts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)
_SCORE_KEY = ("bench_id", "person_id", "report", "version", "scale", "revision")


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "prompt_bench",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.ForeignKeyConstraint(["created_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "bench_version",
        sa.Column("bench_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["bench_id"], ["prompt_bench.id"]),
        sa.ForeignKeyConstraint(["run_id"], ["model_run.id"]),
        sa.PrimaryKeyConstraint("bench_id", "position"),
        sa.UniqueConstraint("run_id"),
    )
    op.create_table(
        "bench_report",
        sa.Column("bench_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("exam_id", _BIG, nullable=False),
        sa.ForeignKeyConstraint(["bench_id"], ["prompt_bench.id"]),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"]),
        sa.PrimaryKeyConstraint("bench_id", "position"),
    )
    op.create_index(op.f("ix_bench_report_exam_id"), "bench_report", ["exam_id"])
    op.create_table(
        "bench_expert",
        sa.Column("bench_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("assigned_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["bench_id"], ["prompt_bench.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("bench_id", "person_id"),
    )
    op.create_index(op.f("ix_bench_expert_person_id"), "bench_expert", ["person_id"])
    op.create_table(
        "bench_score",
        sa.Column("bench_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("report", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("scale", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("score", sa.Integer(), nullable=True),
        sa.Column("scored_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["bench_id", "version"], ["bench_version.bench_id", "bench_version.position"]
        ),
        sa.ForeignKeyConstraint(["bench_id", "report"], ["bench_report.bench_id", "bench_report.position"]),
        sa.ForeignKeyConstraint(
            ["bench_id", "person_id"], ["bench_expert.bench_id", "bench_expert.person_id"]
        ),
        sa.PrimaryKeyConstraint(*_SCORE_KEY),
    )
    refuse_change(op.get_bind(), ("bench_score",))
    refuse_ways_round(op.get_bind(), {"bench_score": _SCORE_KEY})


def downgrade() -> None:
    """Back to 0024, without benches. Their runs stay."""
    allow_ways_round(op.get_bind(), ("bench_score",))
    allow_change(op.get_bind(), ("bench_score",))
    for table in ("bench_score", "bench_expert", "bench_report", "bench_version", "prompt_bench"):
        op.drop_table(table)
