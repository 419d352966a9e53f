"""Leaderboards with teams, submissions and scores."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_TIME = sa.DateTime(timezone=True)
_KEYS = {
    "leaderboard": ("id",),
    "leaderboard_release": ("leaderboard_id", "version"),
    "leaderboard_team": ("id",),
    "leaderboard_submission": ("id",),
    "leaderboard_score": ("submission_id", "version"),
    "leaderboard_selection": ("id",),
    "leaderboard_reference": ("id",),
}


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "leaderboard",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("max_per_day", sa.Integer(), nullable=False),
        sa.Column("max_per_month", sa.Integer(), nullable=False),
        sa.Column("max_total", sa.Integer(), nullable=False),
        sa.Column("uses_ladder", sa.Boolean(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "leaderboard_release",
        sa.Column("leaderboard_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("release_id", sa.Integer(), nullable=False),
        sa.Column("question_ids", sa.String(), nullable=False),
        sa.Column("clusters", sa.String(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("cluster_count", sa.Integer(), nullable=False),
        sa.Column("keys_sha256", sa.String(), nullable=False),
        sa.Column("added_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["leaderboard_id"], ["leaderboard.id"]),
        sa.ForeignKeyConstraint(["release_id"], ["release.id"]),
        sa.PrimaryKeyConstraint("leaderboard_id", "version"),
    )
    op.create_table(
        "leaderboard_team",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("leaderboard_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["leaderboard_id"], ["leaderboard.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("leaderboard_id", "name"),
    )
    op.create_table(
        "leaderboard_member",
        sa.Column("leaderboard_id", sa.Integer(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["leaderboard_id"], ["leaderboard.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.ForeignKeyConstraint(["team_id"], ["leaderboard_team.id"]),
        sa.PrimaryKeyConstraint("leaderboard_id", "person_id"),
    )
    op.create_table(
        "leaderboard_submission",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("method", sa.String(), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("access", sa.String(), nullable=False),
        sa.Column("is_public", sa.Boolean(), nullable=False),
        sa.Column("file_sha256", sa.String(), nullable=False),
        sa.Column("file_bytes", sa.Integer(), nullable=False),
        sa.Column("answers", sa.String(), nullable=False),
        sa.Column("submitted_by", sa.Integer(), nullable=True),
        sa.Column("submitted_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["leaderboard_team.id"]),
        sa.ForeignKeyConstraint(["submitted_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("team_id", "file_sha256"),
    )
    op.create_table(
        "leaderboard_score",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("correct", sa.Integer(), nullable=False),
        sa.Column("low", sa.Float(), nullable=True),
        sa.Column("high", sa.Float(), nullable=True),
        sa.Column("outcomes", sa.String(), nullable=False),
        sa.Column("is_disclosed", sa.Boolean(), nullable=False),
        sa.Column("code_version", sa.String(), nullable=False),
        sa.Column("scored_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["leaderboard_submission.id"]),
        sa.PrimaryKeyConstraint("submission_id", "version"),
    )
    op.create_table(
        "leaderboard_selection",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("selected_by", sa.Integer(), nullable=True),
        sa.Column("selected_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["leaderboard_team.id"]),
        sa.ForeignKeyConstraint(["submission_id"], ["leaderboard_submission.id"]),
        sa.ForeignKeyConstraint(["selected_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "leaderboard_reference",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("leaderboard_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("estimate", sa.Float(), nullable=False),
        sa.Column("low", sa.Float(), nullable=True),
        sa.Column("high", sa.Float(), nullable=True),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["leaderboard_id"], ["leaderboard.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    refuse_change(op.get_bind(), tuple(_KEYS))
    refuse_ways_round(op.get_bind(), _KEYS)


def downgrade() -> None:
    """Back to the revision before, without leaderboards."""
    op.execute(sa.text("DELETE FROM person_role WHERE role = 'submitter'"))
    allow_ways_round(op.get_bind(), tuple(_KEYS))
    allow_change(op.get_bind(), tuple(_KEYS))
    for table in (
        "leaderboard_reference",
        "leaderboard_selection",
        "leaderboard_score",
        "leaderboard_submission",
        "leaderboard_member",
        "leaderboard_team",
        "leaderboard_release",
        "leaderboard",
    ):
        op.drop_table(table)
