"""What the format of an imported file promises of its questions; NULL for a complete one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

# As each format declares it at this revision.
_BY_FORMAT = {
    "gemex": '{"fields":["boxes.label","explanation"],"option_count":4}',
    "gemex-train": '{"fields":["explanation"],"option_count":4}',
    "vqa-rad": '{"fields":[],"option_count":null}',
}


def upgrade() -> None:
    """To this revision. The problems that are on record stay until a dataset is checked again."""
    op.add_column("import_run", sa.Column("expectations", sa.String(), nullable=True))
    table = sa.table("import_run", sa.column("file_format", sa.String), sa.column("expectations", sa.String))
    for file_format, expectations in _BY_FORMAT.items():
        op.execute(table.update().where(table.c.file_format == file_format).values(expectations=expectations))


def downgrade() -> None:
    """Back to 0013; the formats of the files are still known."""
    op.drop_column("import_run", "expectations")
