"""Whether the radiographs were on screen when somebody judged; NULL for all that is there: not recorded."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_TABLES = ("verdict", "own_answer", "report_opening", "adjudication", "reading")


def upgrade() -> None:
    """To this revision."""
    for table in _TABLES:
        op.add_column(table, sa.Column("image", sa.String(), nullable=True))


def downgrade() -> None:
    """Back to 0010, which could not tell a judgement made without the radiograph from any other."""
    for table in _TABLES:
        without = sa.text(f"SELECT count(*) FROM {table} WHERE image IS NOT NULL")  # noqa: S608 - table names are constants
        recorded = op.get_bind().execute(without).scalar_one()
        if recorded:
            raise RuntimeError(
                f"{recorded} rows of {table} record whether the radiograph was on screen. The version before "
                "can't keep that. Restore the backup from before the upgrade."
            )
    for table in _TABLES:
        op.drop_column(table, "image")
