"""signing in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision: more of a sign-in, wrong passwords, the first administrator's code."""
    with op.batch_alter_table("sign_in") as batch_op:
        batch_op.add_column(sa.Column("browser", sa.String(), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("way", sa.String(), nullable=False, server_default="password"))
        batch_op.create_index("ix_sign_in_last_seen_at", ["last_seen_at"])
    op.create_table(
        "wrong_password",
        sa.Column("counted_for", sa.String(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("counted_for"),
    )
    op.create_index("ix_wrong_password_last_at", "wrong_password", ["last_at"])
    op.create_table(
        "first_admin_code",
        sa.Column("code_sha256", sa.String(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("code_sha256"),
    )


def downgrade() -> None:
    """Back to 0004."""
    op.drop_table("first_admin_code")
    op.drop_index("ix_wrong_password_last_at", "wrong_password")
    op.drop_table("wrong_password")
    with op.batch_alter_table("sign_in") as batch_op:
        batch_op.drop_index("ix_sign_in_last_seen_at")
        batch_op.drop_column("way")
        batch_op.drop_column("browser")
