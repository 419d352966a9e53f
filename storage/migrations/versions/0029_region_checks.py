"""Region checks: experts mark sentences and regions of a sample of reports."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)
_MARK_KEY = ("check_id", "person_id", "report", "sentence", "revision")


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "region_check",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=True),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["model_run.id"]),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.ForeignKeyConstraint(["created_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "region_check_report",
        sa.Column("check_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("exam", sa.String(), nullable=False),
        sa.Column("exam_id", _BIG, nullable=True),
        sa.Column("sentences", sa.String(), nullable=False),
        sa.Column("checked", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["check_id"], ["region_check.id"]),
        sa.ForeignKeyConstraint(["exam_id"], ["exam.id"]),
        sa.PrimaryKeyConstraint("check_id", "position"),
    )
    op.create_index(op.f("ix_region_check_report_exam_id"), "region_check_report", ["exam_id"])
    op.create_table(
        "region_check_expert",
        sa.Column("check_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("assigned_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["check_id"], ["region_check.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("check_id", "person_id"),
    )
    op.create_index(op.f("ix_region_check_expert_person_id"), "region_check_expert", ["person_id"])
    op.create_table(
        "region_check_mark",
        sa.Column("check_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("report", sa.Integer(), nullable=False),
        sa.Column("sentence", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("mark", sa.String(), nullable=True),
        sa.Column("marked_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["check_id", "report"], ["region_check_report.check_id", "region_check_report.position"]
        ),
        sa.ForeignKeyConstraint(
            ["check_id", "person_id"], ["region_check_expert.check_id", "region_check_expert.person_id"]
        ),
        sa.PrimaryKeyConstraint(*_MARK_KEY),
    )
    refuse_change(op.get_bind(), ("region_check_mark",))
    refuse_ways_round(op.get_bind(), {"region_check_mark": _MARK_KEY})


def downgrade() -> None:
    """Back to the revision before, without region checks. Their runs stay."""
    allow_ways_round(op.get_bind(), ("region_check_mark",))
    allow_change(op.get_bind(), ("region_check_mark",))
    for table in ("region_check_mark", "region_check_expert", "region_check_report", "region_check"):
        op.drop_table(table)
