"""patient data."""

from __future__ import annotations

import secrets  # allow draws-by-chance: a key that could be drawn again would be none

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision: how patients' data are kept, text in pixels, passages found in texts."""
    rules = op.create_table(
        "patient_data_rules",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("originals", sa.String(), nullable=False),
        sa.Column("confirm_pixels", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("pseudonym_key", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("id = 1", name="patient_data_rules_one_row"),
        sa.PrimaryKeyConstraint("id"),
    )
    # A workspace that is there keeps files as it did; its key is new, since it had none.
    op.bulk_insert(
        rules,
        [{"id": 1, "originals": "whole", "confirm_pixels": "none", "revision": 0,
          "pseudonym_key": secrets.token_bytes(32)}],
    )  # fmt: skip
    op.create_table(
        "pixel_text",
        sa.Column("image_sha256", sa.String(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("ranked_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["image_sha256"], ["image.sha256"]),
        sa.PrimaryKeyConstraint("image_sha256"),
    )
    op.create_table(
        "pixel_decision",
        sa.Column("image_sha256", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("decision", sa.String(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["image_sha256"], ["image.sha256"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("image_sha256", "revision"),
    )
    op.create_table(
        "text_hit",
        sa.Column(
            "question_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("begins", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("ends", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.PrimaryKeyConstraint("question_id", "field", "begins", "kind"),
    )
    op.create_index("ix_text_hit_dataset_id", "text_hit", ["dataset_id"])


def downgrade() -> None:
    """Back to 0003. The key is gone with it: pseudonyms made later are others."""
    op.drop_index("ix_text_hit_dataset_id", "text_hit")
    op.drop_table("text_hit")
    op.drop_table("pixel_decision")
    op.drop_table("pixel_text")
    op.drop_table("patient_data_rules")
