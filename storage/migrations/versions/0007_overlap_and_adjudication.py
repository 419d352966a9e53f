"""overlap and adjudication."""

from __future__ import annotations

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""


def downgrade() -> None:
    """Back to 0006."""
