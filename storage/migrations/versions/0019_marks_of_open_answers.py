"""Marks of open answers in reader studies, and the people who mark."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_MARK_KEY = ("case_id", "text_sha256", "place", "revision")


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "study_marker",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("assigned_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["reader_study.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("study_id", "place"),
        sa.UniqueConstraint("study_id", "person_id"),
    )
    op.create_index(op.f("ix_study_marker_person_id"), "study_marker", ["person_id"])
    op.create_table(
        "answer_mark",
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("text_sha256", sa.String(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("mark", sa.String(), nullable=True),
        sa.Column("marked_by", sa.Integer(), nullable=False),
        sa.Column("marked_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["case_id", "study_id"], ["study_case.id", "study_case.study_id"]),
        sa.ForeignKeyConstraint(["marked_by"], ["person.id"]),
        sa.PrimaryKeyConstraint(*_MARK_KEY),
    )
    op.create_index("answer_mark_study", "answer_mark", ["study_id", "place"])
    refuse_change(op.get_bind(), ("answer_mark",))
    refuse_ways_round(op.get_bind(), {"answer_mark": _MARK_KEY})


def downgrade() -> None:
    """Back to 0018, without marks."""
    allow_ways_round(op.get_bind(), ("answer_mark",))
    allow_change(op.get_bind(), ("answer_mark",))
    op.drop_index("answer_mark_study", table_name="answer_mark")
    op.drop_table("answer_mark")
    op.drop_index(op.f("ix_study_marker_person_id"), table_name="study_marker")
    op.drop_table("study_marker")
