"""Hidden questions: repeats of a reviewer's own, and planted ones with a known fault."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "hidden_set",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("import_id", sa.Integer(), nullable=False),
        sa.Column("veil", _BIG, nullable=False),
        sa.Column("plan", sa.String(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.ForeignKeyConstraint(["import_id"], ["import_run.id"]),
        sa.PrimaryKeyConstraint("batch_id"),
    )
    op.create_table(
        "hidden_question",
        sa.Column("question_id", _BIG, nullable=False, autoincrement=False),
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("fault", sa.String(), nullable=True),
        sa.Column("source_id", _BIG, nullable=False),
        sa.Column("after", sa.Integer(), nullable=False),
        sa.Column("hidden_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("removed_by", sa.Integer(), nullable=True),
        sa.Column("removed_why", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["source_id"], ["question.id"]),
        sa.ForeignKeyConstraint(["removed_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("question_id"),
    )
    op.create_index("hidden_question_person", "hidden_question", ["batch_id", "person_id"])


def downgrade() -> None:
    """Back to 0008, where nothing could tell a hidden question and its verdicts from any other."""
    hidden = op.get_bind().execute(sa.text("SELECT count(*) FROM hidden_question")).scalar_one()
    if hidden:
        raise RuntimeError(
            f"{hidden} hidden questions are in this workspace. The version before knows none and would "
            "count their verdicts among all others. Restore the backup from before the first was hidden."
        )
    op.drop_index("hidden_question_person", table_name="hidden_question")
    op.drop_table("hidden_question")
    op.drop_table("hidden_set")
