"""Practice sets with known answers, their requirement for batches, results and exemptions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TABLES = ("practice_set", "practice_question", "practice_result", "practice_exemption")
_KEYS = {
    "practice_set": ("batch_id",),
    "practice_question": ("question_id",),
    "practice_result": ("batch_id", "person_id"),
    "practice_exemption": ("batch_id", "person_id"),
}


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "practice_set",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("import_id", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("min_found", sa.Float(), nullable=False),
        sa.Column("min_accepted", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.ForeignKeyConstraint(["import_id"], ["import_run.id"]),
        sa.PrimaryKeyConstraint("batch_id"),
        sa.UniqueConstraint("dataset_id"),
    )
    op.create_table(
        "practice_question",
        sa.Column("question_id", _BIG, autoincrement=False, nullable=False),
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("source_id", _BIG, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("decision", sa.String(), nullable=False),
        sa.Column("errors", sa.String(), nullable=False),
        sa.Column("correction", sa.String(), nullable=False),
        sa.Column("explanation", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["source_id"], ["question.id"]),
        sa.PrimaryKeyConstraint("question_id"),
    )
    op.create_index("practice_question_batch", "practice_question", ["batch_id", "position"])
    op.create_table(
        "practice_requirement",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("practice_id", sa.Integer(), nullable=False),
        sa.Column("required_by", sa.Integer(), nullable=True),
        sa.Column("required_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["practice_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["required_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("batch_id", "practice_id"),
    )
    op.create_table(
        "practice_result",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("faulty", sa.Integer(), nullable=False),
        sa.Column("found", sa.Integer(), nullable=False),
        sa.Column("sound", sa.Integer(), nullable=False),
        sa.Column("accepted", sa.Integer(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("batch_id", "person_id"),
    )
    op.create_table(
        "practice_exemption",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("granted_by", sa.Integer(), nullable=True),
        sa.Column("granted_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["granted_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("batch_id", "person_id"),
    )
    refuse_change(op.get_bind(), _TABLES)
    refuse_ways_round(op.get_bind(), _KEYS)


def downgrade() -> None:
    """Back to the revision before, which would count the verdicts on practice questions."""
    sets = op.get_bind().execute(sa.text("SELECT count(*) FROM practice_set")).scalar_one()
    if sets:
        raise RuntimeError(
            f"{sets} practice sets are in this workspace. The version before would list them as batches and "
            "count their verdicts. Restore the backup from before the first practice set."
        )
    allow_ways_round(op.get_bind(), _TABLES)
    allow_change(op.get_bind(), _TABLES)
    for table in ("practice_exemption", "practice_result", "practice_requirement", "practice_question"):
        op.drop_table(table)
    op.drop_table("practice_set")
