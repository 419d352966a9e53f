"""audit trail."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from domain.audit import NO_ENTRY, canonical, entry_hash
from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_JUDGED = ("batch_id", "question_id", "person_id")
_KEYS = {
    "verdict": (*_JUDGED, "revision"),
    "own_answer": _JUDGED,
    "skip": (*_JUDGED, "number"),
    "report_opening": _JUDGED,
    "audit_entry": ("number",),
}


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "audit_entry",
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("person_name", sa.String(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("old", sa.String(), nullable=True),
        sa.Column("new", sa.String(), nullable=True),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("previous_hash", sa.String(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_index("audit_entry_at", "audit_entry", ["at"])
    op.create_index("audit_entry_person", "audit_entry", ["person_name", "number"])
    op.create_index("audit_entry_what", "audit_entry", ["what", "number"])
    op.create_index("audit_entry_subject", "audit_entry", ["subject", "number"])
    _begin(op.get_bind())
    refuse_change(op.get_bind(), ["audit_entry"])
    refuse_ways_round(op.get_bind(), _KEYS)


def _begin(connection: sa.Connection) -> None:
    """Say in the first entry what was judged before there was a trail; nothing in an empty workspace."""
    there = {
        table: connection.exec_driver_sql(f'SELECT count(*) FROM "{table}"').scalar_one()  # noqa: S608 - our own names
        for table in _KEYS
        if table != "audit_entry"
    }
    if not any(there.values()):
        return
    content = {
        "number": 1,
        "at": datetime.now(UTC),  # allow reads-the-clock: a migration is an edge, nobody gives it the time
        "person_id": None,
        "person_name": "command-line",
        "what": "begin audit trail",
        "subject": "workspace",
        "old": None,
        "new": canonical(there),
        "why": "judged before there was an audit trail",
        "previous_hash": NO_ENTRY,
    }
    columns = [sa.column(name) for name in content] + [sa.column("hash")]
    columns[1] = sa.column("at", sa.DateTime(timezone=True))
    table = sa.table("audit_entry", *columns)
    connection.execute(sa.insert(table).values(**content, hash=entry_hash(**content)))


def downgrade() -> None:
    """Back to 0001."""
    allow_ways_round(op.get_bind(), list(_KEYS))
    allow_change(op.get_bind(), ["audit_entry"])
    op.drop_table("audit_entry")
