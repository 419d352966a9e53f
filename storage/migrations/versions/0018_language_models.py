"""Language models: endpoints, data use of datasets, prompt versions, runs, requests, the ledger of calls."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TIME = sa.DateTime(timezone=True)
_IN_USE = sa.text("retired_at IS NULL")
_APPEND_ONLY = ("prompt_version", "model_call")


def upgrade() -> None:
    """To this revision."""
    op.create_table(
        "model_endpoint",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("url", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("reported_model", sa.String(), nullable=True),
        sa.Column("data_use", sa.String(), nullable=False),
        sa.Column("key_name", sa.String(), nullable=True),
        sa.Column("price_input", sa.BigInteger(), nullable=True),
        sa.Column("price_output", sa.BigInteger(), nullable=True),
        sa.Column("max_parallel", sa.Integer(), nullable=False),
        sa.Column("timeout_seconds", sa.Integer(), nullable=False),
        sa.Column("accepts_images", sa.Boolean(), nullable=False),
        sa.Column("added_by", sa.Integer(), nullable=True),
        sa.Column("added_at", _TIME, nullable=False),
        sa.Column("retired_at", _TIME, nullable=True),
        sa.ForeignKeyConstraint(["added_by"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "model_endpoint_in_use",
        "model_endpoint",
        ["name"],
        unique=True,
        sqlite_where=_IN_USE,
        postgresql_where=_IN_USE,
    )
    op.create_table(
        "dataset_data_use",
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("data_use", sa.String(), nullable=False),
        sa.Column("changed_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.PrimaryKeyConstraint("dataset_id"),
    )
    op.create_table(
        "prompt_version",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("added_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name", "version"),
    )
    op.create_table(
        "model_run",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("endpoint_id", sa.Integer(), nullable=False),
        sa.Column("dataset_id", sa.Integer(), nullable=True),
        sa.Column("prompt_id", sa.Integer(), nullable=True),
        sa.Column("max_calls", sa.BigInteger(), nullable=True),
        sa.Column("max_tokens", sa.BigInteger(), nullable=True),
        sa.Column("max_cost_nanos", sa.BigInteger(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("requests_sha256", sa.String(), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost_nanos", sa.BigInteger(), nullable=False),
        sa.Column("unpriced_calls", sa.BigInteger(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("created_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["endpoint_id"], ["model_endpoint.id"]),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.ForeignKeyConstraint(["prompt_id"], ["prompt_version.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "model_request",
        sa.Column("run_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("custom_id", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("is_copy", sa.Boolean(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("failure", sa.String(), nullable=True),
        sa.Column("repairs", sa.Integer(), nullable=False),
        sa.Column("reused", sa.Boolean(), nullable=False),
        sa.Column("reserve_prompt", sa.Integer(), nullable=False),
        sa.Column("reserve_completion", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("lease_until", _TIME, nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["model_run.id"]),
        sa.PrimaryKeyConstraint("run_id", "position"),
        sa.UniqueConstraint("run_id", "custom_id"),
    )
    op.create_index("model_request_status", "model_request", ["run_id", "status", "position"])
    op.create_index("model_request_key", "model_request", ["run_id", "key"])
    op.create_table(
        "model_call",
        sa.Column("id", _BIG, nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("run_id", sa.Integer(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("endpoint_id", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("failure", sa.String(), nullable=True),
        sa.Column("error", sa.String(), nullable=False),
        sa.Column("raw", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("fingerprint", sa.String(), nullable=True),
        sa.Column("finish_reason", sa.String(), nullable=True),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("cached_tokens", sa.Integer(), nullable=False),
        sa.Column("cost_nanos", sa.BigInteger(), nullable=True),
        sa.Column("price_source", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("called_at", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["model_run.id"]),
        sa.ForeignKeyConstraint(["endpoint_id"], ["model_endpoint.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("model_call_key", "model_call", ["key"])
    op.create_index("model_call_run", "model_call", ["run_id", "position"])
    op.create_index("model_call_endpoint", "model_call", ["endpoint_id", "called_at"])
    refuse_change(op.get_bind(), _APPEND_ONLY)
    refuse_ways_round(op.get_bind(), dict.fromkeys(_APPEND_ONLY, ("id",)))


def downgrade() -> None:
    """Back to 0017, which asks no model."""
    op.execute(sa.text("DELETE FROM job WHERE kind = 'model run'"))
    allow_ways_round(op.get_bind(), _APPEND_ONLY)
    allow_change(op.get_bind(), _APPEND_ONLY)
    for table in (
        "model_call",
        "model_request",
        "model_run",
        "prompt_version",
        "dataset_data_use",
        "model_endpoint",
    ):
        op.drop_table(table)
