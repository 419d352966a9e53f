"""The probability that a model states for its answer; NULL for all that is there: not stated."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """To this revision."""
    op.add_column("prediction", sa.Column("probability", sa.Float(), nullable=True))


def downgrade() -> None:
    """Back to 0034, which has no place for probabilities."""
    stated = (
        op.get_bind()
        .execute(sa.text("SELECT count(*) FROM prediction WHERE probability IS NOT NULL"))
        .scalar_one()
    )
    if stated:
        raise RuntimeError(
            f"{stated} answers of models have a probability. The version before can't keep that. Restore the "
            "backup from before the upgrade."
        )
    op.drop_column("prediction", "probability")
