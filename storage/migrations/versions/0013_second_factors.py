"""Second factors: authenticator apps, recovery codes, and sign-ins that wait for a code."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "second_factor",
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("secret", sa.String(), nullable=False),
        sa.Column("last_step", sa.Integer(), nullable=False),
        sa.Column("made_at", _TIME, nullable=False),
        sa.Column("confirmed_at", _TIME, nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("person_id"),
    )
    op.create_table(
        "recovery_code",
        sa.Column("code_sha256", sa.String(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("used_at", _TIME, nullable=True),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("code_sha256"),
    )
    op.create_index("ix_recovery_code_person_id", "recovery_code", ["person_id"])
    op.create_table(
        "pending_sign_in",
        sa.Column("token_sha256", sa.String(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("way", sa.String(), nullable=False),
        sa.Column("began_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("token_sha256"),
    )
    op.create_index("ix_pending_sign_in_person_id", "pending_sign_in", ["person_id"])


def downgrade() -> None:
    """Back to 0012: everybody signs in without a code."""
    op.drop_table("pending_sign_in")
    op.drop_table("recovery_code")
    op.drop_table("second_factor")
