"""first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import create_triggers, drop_triggers

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "dataset",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("minimum_explanation", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "image",
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("media_type", sa.String(), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("columns", sa.Integer(), nullable=False),
        sa.Column("bits", sa.Integer(), nullable=False),
        sa.Column("photometric", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("sha256"),
    )
    op.create_table(
        "person",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("display_name", sa.String(), nullable=False),
        sa.Column("password_hash", sa.String(), nullable=True),
        sa.Column("oidc_subject", sa.String(), nullable=True),
        sa.Column("demo", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
        sa.UniqueConstraint("oidc_subject"),
    )
    op.create_table(
        "batch",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("plan", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("parts", sa.String(), nullable=False),
        sa.Column("show_report", sa.Boolean(), nullable=False),
        sa.Column("guideline", sa.String(), nullable=False),
        sa.Column("anchors", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_by", sa.Integer(), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["changed_by"],
            ["person.id"],
        ),
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
    with op.batch_alter_table("batch", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_batch_dataset_id"), ["dataset_id"], unique=False)

    op.create_table(
        "exam",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("patient", sa.String(), nullable=True),
        sa.Column("indication", sa.String(), nullable=True),
        sa.Column("age", sa.String(), nullable=True),
        sa.Column("sex", sa.String(), nullable=True),
        sa.Column("report", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["dataset_id"],
            ["dataset.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("dataset_id", "key"),
    )
    op.create_table(
        "import_run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("file_name", sa.String(), nullable=False),
        sa.Column("file_sha256", sa.String(), nullable=False),
        sa.Column("file_format", sa.String(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("known", sa.Integer(), nullable=False),
        sa.Column("refused", sa.Integer(), nullable=False),
        sa.Column("imported_by", sa.Integer(), nullable=True),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_id"],
            ["dataset.id"],
        ),
        sa.ForeignKeyConstraint(
            ["imported_by"],
            ["person.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("import_run", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_import_run_dataset_id"), ["dataset_id"], unique=False)

    op.create_table(
        "person_role",
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["person.id"],
        ),
        sa.PrimaryKeyConstraint("person_id", "role"),
    )
    op.create_table(
        "release",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("rule", sa.String(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("manifest_sha256", sa.String(), nullable=False),
        sa.Column("folder", sa.String(), nullable=False),
        sa.Column("made_by", sa.Integer(), nullable=True),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_id"],
            ["dataset.id"],
        ),
        sa.ForeignKeyConstraint(
            ["made_by"],
            ["person.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("dataset_id", "name"),
    )
    op.create_table(
        "sign_in",
        sa.Column("token_sha256", sa.String(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("signed_in_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["person.id"],
        ),
        sa.PrimaryKeyConstraint("token_sha256"),
    )
    with op.batch_alter_table("sign_in", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sign_in_person_id"), ["person_id"], unique=False)

    op.create_table(
        "draw",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("frame_after", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("frame_through", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("frame_size", sa.Integer(), nullable=False),
        sa.Column("drawn_by", sa.Integer(), nullable=True),
        sa.Column("drawn_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"],
            ["batch.id"],
        ),
        sa.ForeignKeyConstraint(
            ["drawn_by"],
            ["person.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("batch_id", "number"),
    )
    op.create_table(
        "question",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("exam_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("import_id", sa.Integer(), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("stem", sa.String(), nullable=False),
        sa.Column("options", sa.String(), nullable=False),
        sa.Column("answer", sa.String(), nullable=False),
        sa.Column("also_right", sa.String(), nullable=False),
        sa.Column("explanation", sa.String(), nullable=False),
        sa.Column("boxes", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=True),
        sa.Column("content_type", sa.String(), nullable=True),
        sa.Column("category", sa.String(), nullable=True),
        sa.Column("subcategory", sa.String(), nullable=True),
        sa.Column("difficulty", sa.String(), nullable=True),
        sa.Column("generator", sa.String(), nullable=True),
        sa.Column("generator_version", sa.String(), nullable=True),
        sa.Column("prompt_version", sa.String(), nullable=True),
        sa.Column("draw_hash", sa.BigInteger(), nullable=False),
        sa.Column("record_hash", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_id"],
            ["dataset.id"],
        ),
        sa.ForeignKeyConstraint(
            ["exam_id"],
            ["exam.id"],
        ),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["import_run.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("question", schema=None) as batch_op:
        batch_op.create_index("question_dataset_key", ["dataset_id", "key"], unique=True)
        batch_op.create_index("question_exam", ["exam_id"], unique=False)

    op.create_table(
        "radiograph",
        sa.Column(
            "exam_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("file", sa.String(), nullable=False),
        sa.Column("view", sa.String(), nullable=False),
        sa.Column("image_sha256", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["exam_id"],
            ["exam.id"],
        ),
        sa.ForeignKeyConstraint(
            ["image_sha256"],
            ["image.sha256"],
        ),
        sa.PrimaryKeyConstraint("exam_id", "key"),
    )
    with op.batch_alter_table("radiograph", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_radiograph_image_sha256"), ["image_sha256"], unique=False)

    op.create_table(
        "assignment",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column(
            "question_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("assigned_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"],
            ["batch.id"],
        ),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.PrimaryKeyConstraint("batch_id", "question_id", "person_id"),
    )
    with op.batch_alter_table("assignment", schema=None) as batch_op:
        batch_op.create_index("assignment_batch_question", ["batch_id", "question_id"], unique=False)
        batch_op.create_index(
            "assignment_queue", ["person_id", "batch_id", "state", "position"], unique=False
        )

    op.create_table(
        "batch_question",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column(
            "question_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("draw_id", sa.Integer(), nullable=False),
        sa.Column("stratum", sa.String(), nullable=False),
        sa.Column("inclusion_probability", sa.Float(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"],
            ["batch.id"],
        ),
        sa.ForeignKeyConstraint(
            ["draw_id"],
            ["draw.id"],
        ),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.PrimaryKeyConstraint("batch_id", "question_id"),
    )
    with op.batch_alter_table("batch_question", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_batch_question_question_id"), ["question_id"], unique=False)

    op.create_table(
        "draft",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column(
            "question_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"],
            ["batch.id"],
        ),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.PrimaryKeyConstraint("batch_id", "question_id", "person_id", "part"),
    )
    op.create_table(
        "look",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column(
            "question_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("seconds_looking", sa.Float(), nullable=False),
        sa.Column("seconds_away", sa.Float(), nullable=False),
        sa.Column("first_opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"],
            ["batch.id"],
        ),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.PrimaryKeyConstraint("batch_id", "question_id", "person_id"),
    )
    op.create_table(
        "own_answer",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column(
            "question_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("answer", sa.String(), nullable=True),
        sa.Column("confidence", sa.Integer(), nullable=False),
        sa.Column("committed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"],
            ["batch.id"],
        ),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.PrimaryKeyConstraint("batch_id", "question_id", "person_id"),
    )
    op.create_table(
        "report_opening",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column(
            "question_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("image_alignment", sa.Integer(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"],
            ["batch.id"],
        ),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.PrimaryKeyConstraint("batch_id", "question_id", "person_id"),
    )
    op.create_table(
        "problem",
        sa.Column(
            "question_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("check_name", sa.String(), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_id"],
            ["dataset.id"],
        ),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.PrimaryKeyConstraint("question_id", "check_name", "field"),
    )
    with op.batch_alter_table("problem", schema=None) as batch_op:
        batch_op.create_index("problem_dataset_check", ["dataset_id", "check_name"], unique=False)

    op.create_table(
        "skip",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column(
            "question_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("skipped_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"],
            ["batch.id"],
        ),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.PrimaryKeyConstraint("batch_id", "question_id", "person_id", "number"),
    )
    op.create_table(
        "stratum",
        sa.Column("draw_id", sa.Integer(), nullable=False),
        sa.Column("tier", sa.String(), nullable=False),
        sa.Column("further", sa.String(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("drawn", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["draw_id"],
            ["draw.id"],
        ),
        sa.PrimaryKeyConstraint("draw_id", "tier", "further"),
    )
    op.create_table(
        "verdict",
        sa.Column("batch_id", sa.Integer(), nullable=False),
        sa.Column(
            "question_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("decision", sa.String(), nullable=False),
        sa.Column("clinical_quality", sa.Integer(), nullable=True),
        sa.Column("explanation_clarity", sa.Integer(), nullable=True),
        sa.Column("factual_correctness", sa.Integer(), nullable=True),
        sa.Column("image_alignment", sa.Integer(), nullable=True),
        sa.Column("domain_specific", sa.Boolean(), nullable=True),
        sa.Column("cognitive_depth", sa.Boolean(), nullable=True),
        sa.Column("image_centric", sa.Boolean(), nullable=True),
        sa.Column("clinically_relevant", sa.Boolean(), nullable=True),
        sa.Column("difficulty", sa.String(), nullable=True),
        sa.Column("errors", sa.String(), nullable=False),
        sa.Column("correction", sa.String(), nullable=False),
        sa.Column("clinical_reasoning", sa.String(), nullable=False),
        sa.Column("comment", sa.String(), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("seconds_looking", sa.Float(), nullable=False),
        sa.Column("seconds_away", sa.Float(), nullable=False),
        sa.Column("given_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["batch_id"],
            ["batch.id"],
        ),
        sa.ForeignKeyConstraint(
            ["person_id"],
            ["person.id"],
        ),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["question.id"],
        ),
        sa.PrimaryKeyConstraint("batch_id", "question_id", "person_id", "revision"),
    )
    with op.batch_alter_table("verdict", schema=None) as batch_op:
        batch_op.create_index("verdict_person", ["batch_id", "person_id", "given_at"], unique=False)
        batch_op.create_index("verdict_question", ["question_id"], unique=False)

    create_triggers(op.get_bind())


def downgrade() -> None:
    """Back to the one before."""
    drop_triggers(op.get_bind())
    with op.batch_alter_table("verdict", schema=None) as batch_op:
        batch_op.drop_index("verdict_question")
        batch_op.drop_index("verdict_person")

    op.drop_table("verdict")
    op.drop_table("stratum")
    op.drop_table("skip")
    with op.batch_alter_table("problem", schema=None) as batch_op:
        batch_op.drop_index("problem_dataset_check")

    op.drop_table("problem")
    op.drop_table("report_opening")
    op.drop_table("own_answer")
    op.drop_table("look")
    op.drop_table("draft")
    with op.batch_alter_table("batch_question", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_batch_question_question_id"))

    op.drop_table("batch_question")
    with op.batch_alter_table("assignment", schema=None) as batch_op:
        batch_op.drop_index("assignment_queue")
        batch_op.drop_index("assignment_batch_question")

    op.drop_table("assignment")
    with op.batch_alter_table("radiograph", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_radiograph_image_sha256"))

    op.drop_table("radiograph")
    with op.batch_alter_table("question", schema=None) as batch_op:
        batch_op.drop_index("question_exam")
        batch_op.drop_index("question_dataset_key")

    op.drop_table("question")
    op.drop_table("draw")
    with op.batch_alter_table("sign_in", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sign_in_person_id"))

    op.drop_table("sign_in")
    op.drop_table("release")
    op.drop_table("person_role")
    with op.batch_alter_table("import_run", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_import_run_dataset_id"))

    op.drop_table("import_run")
    op.drop_table("exam")
    with op.batch_alter_table("batch", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_batch_dataset_id"))

    op.drop_table("batch")
    op.drop_table("person")
    op.drop_table("image")
    op.drop_table("dataset")
