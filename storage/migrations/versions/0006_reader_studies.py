"""reader studies."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round
from storage.frozen_studies import freeze_when_read, unfreeze

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

#: Tables that are only ever added to, with their primary keys.
_KEYS = {
    "study_protocol": ("study_id", "version"),
    "study_case": ("id",),
    "study_case_key": ("case_id",),
    "reading": ("reader_id", "case_id", "arm", "repeat", "revision"),
    "study_exclusion": ("id",),
    "prediction": ("model_id", "question_id"),
}


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "model",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_id"],
            ["dataset.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("dataset_id", "name"),
    )
    op.create_table(
        "reader_study",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("source_kind", sa.String(), nullable=False),
        sa.Column("source_name", sa.String(), nullable=False),
        sa.Column("design", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["created_by"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["dataset_id"],
            ["dataset.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_index("ix_reader_study_dataset_id", "reader_study", ["dataset_id"])
    op.create_table(
        "prediction_run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("file_name", sa.String(), nullable=False),
        sa.Column("file_sha256", sa.String(), nullable=False),
        sa.Column("predictions", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("refused", sa.Integer(), nullable=False),
        sa.Column("imported_by", sa.Integer(), nullable=True),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["imported_by"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["model_id"],
            ["model.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_prediction_run_model_id", "prediction_run", ["model_id"])
    op.create_table(
        "study_protocol",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("answers_before", sa.Integer(), nullable=False),
        sa.Column("written_by", sa.Integer(), nullable=True),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"],
            ["reader_study.id"],
        ),
        sa.ForeignKeyConstraint(
            ["written_by"],
            ["person.id"],
        ),
        sa.PrimaryKeyConstraint("study_id", "version"),
    )
    op.create_table(
        "study_reader",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("display_name", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=True),
        sa.Column("years", sa.Float(), nullable=True),
        sa.Column("subspecialty", sa.String(), nullable=False),
        sa.Column("of_reference", sa.Boolean(), nullable=False),
        sa.Column("simulated", sa.Boolean(), nullable=False),
        sa.Column("guideline_read_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["study_id"],
            ["reader_study.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("id", "study_id"),
        sa.UniqueConstraint("study_id", "name"),
        sa.UniqueConstraint("study_id", "person_id"),
    )
    op.create_index("ix_study_reader_person_id", "study_reader", ["person_id"])
    op.create_table(
        "prediction",
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column(
            "question_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("answer", sa.String(), nullable=True),
        sa.Column("raw", sa.String(), nullable=True),
        sa.Column("rule", sa.String(), nullable=False),
        sa.Column("explanation", sa.String(), nullable=False),
        sa.Column("boxes", sa.String(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["model_id"],
            ["model.id"],
        ),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["prediction_run.id"],
        ),
        sa.PrimaryKeyConstraint("model_id", "question_id"),
    )
    op.create_index("ix_prediction_question_id", "prediction", ["question_id"])
    op.create_table(
        "study_case",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("question_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("stem", sa.String(), nullable=False),
        sa.Column("options", sa.String(), nullable=False),
        sa.Column("asks_box", sa.Boolean(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["exam_id"],
            ["exam.id"],
        ),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.ForeignKeyConstraint(
            ["study_id"],
            ["reader_study.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("id", "study_id"),
        sa.UniqueConstraint("study_id", "number"),
        sa.UniqueConstraint("study_id", "question_id"),
    )
    op.create_index("ix_study_case_exam_id", "study_case", ["exam_id"])
    op.create_index("ix_study_case_question_id", "study_case", ["question_id"])
    op.create_table(
        "reading",
        sa.Column("reader_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("arm", sa.String(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("period", sa.Integer(), nullable=False),
        sa.Column("protocol_version", sa.Integer(), nullable=False),
        sa.Column("answer", sa.String(), nullable=True),
        sa.Column("cannot_determine", sa.Boolean(), nullable=False),
        sa.Column("faulty", sa.String(), nullable=False),
        sa.Column("confidence", sa.Integer(), nullable=True),
        sa.Column("boxes", sa.String(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("seconds_looking", sa.Float(), nullable=False),
        sa.Column("seconds_away", sa.Float(), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outside", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_id", "study_id"],
            ["study_case.id", "study_case.study_id"],
        ),
        sa.ForeignKeyConstraint(
            ["reader_id", "study_id"],
            ["study_reader.id", "study_reader.study_id"],
        ),
        sa.PrimaryKeyConstraint("reader_id", "case_id", "arm", "repeat", "revision"),
    )
    op.create_index("reading_study", "reading", ["study_id", "case_id"])
    op.create_table(
        "reading_draft",
        sa.Column("reader_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("arm", sa.String(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("seconds_looking", sa.Float(), nullable=False),
        sa.Column("seconds_away", sa.Float(), nullable=False),
        sa.Column("began_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["study_case.id"],
        ),
        sa.ForeignKeyConstraint(
            ["reader_id"],
            ["study_reader.id"],
        ),
        sa.PrimaryKeyConstraint("reader_id", "case_id", "arm", "repeat"),
    )
    op.create_table(
        "study_case_key",
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("answer", sa.String(), nullable=False),
        sa.Column("also_right", sa.String(), nullable=False),
        sa.Column("explanation", sa.String(), nullable=False),
        sa.Column("boxes", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=True),
        sa.Column("content_type", sa.String(), nullable=True),
        sa.Column("category", sa.String(), nullable=True),
        sa.Column("subcategory", sa.String(), nullable=True),
        sa.Column("difficulty", sa.String(), nullable=True),
        sa.Column("stratum", sa.String(), nullable=False),
        sa.Column("inclusion_probability", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["study_case.id"],
        ),
        sa.PrimaryKeyConstraint("case_id"),
    )
    op.create_table(
        "study_exclusion",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=True),
        sa.Column("reader_id", sa.Integer(), nullable=True),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("excluded_by", sa.Integer(), nullable=True),
        sa.Column("excluded_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_id"],
            ["study_case.id"],
        ),
        sa.ForeignKeyConstraint(
            ["excluded_by"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["reader_id"],
            ["study_reader.id"],
        ),
        sa.ForeignKeyConstraint(
            ["study_id"],
            ["reader_study.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_study_exclusion_study_id", "study_exclusion", ["study_id"])
    op.create_table(
        "study_slot",
        sa.Column("reader_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("case_id", sa.Integer(), nullable=False),
        sa.Column("arm", sa.String(), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("period", sa.Integer(), nullable=False),
        sa.Column("option_order", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["case_id", "study_id"],
            ["study_case.id", "study_case.study_id"],
        ),
        sa.ForeignKeyConstraint(
            ["reader_id", "study_id"],
            ["study_reader.id", "study_reader.study_id"],
        ),
        sa.PrimaryKeyConstraint("reader_id", "position"),
        sa.UniqueConstraint("reader_id", "case_id", "arm", "repeat"),
    )
    op.create_index("study_slot_case", "study_slot", ["case_id"])
    op.create_index("study_slot_study", "study_slot", ["study_id"])
    refuse_change(op.get_bind(), list(_KEYS))
    refuse_ways_round(op.get_bind(), _KEYS)
    freeze_when_read(op.get_bind())


def downgrade() -> None:
    """Back to 0005."""
    unfreeze(op.get_bind())
    allow_ways_round(op.get_bind(), list(_KEYS))
    allow_change(op.get_bind(), list(_KEYS))
    op.drop_table("study_slot")
    op.drop_table("study_exclusion")
    op.drop_table("study_case_key")
    op.drop_table("reading_draft")
    op.drop_table("reading")
    op.drop_table("study_case")
    op.drop_table("prediction")
    op.drop_table("study_reader")
    op.drop_table("study_protocol")
    op.drop_table("prediction_run")
    op.drop_table("reader_study")
    op.drop_table("model")
