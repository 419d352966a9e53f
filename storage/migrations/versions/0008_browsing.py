"""The words of all questions, for search; which questions are in which release; what was applied to many."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from storage.append_only import allow_change, allow_ways_round, refuse_change, refuse_ways_round

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_APPLIED = {
    "applied_rule": ("id",),
    "applied_question": ("rule_id", "question_id"),
    "rule_taken_back": ("rule_id",),
}


def upgrade() -> None:
    """To this revision. The words are filled later, in parts: of a million questions that takes a minute."""
    op.create_table(
        "release_item",
        sa.Column("release_id", sa.Integer(), nullable=False),
        sa.Column(
            "question_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            nullable=False,
            autoincrement=False,
        ),
        sa.Column("side", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["release_id"], ["release.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.PrimaryKeyConstraint("release_id", "question_id"),
    )
    op.create_index("release_item_question", "release_item", ["question_id"])
    _applied_tables()
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(
            "CREATE VIRTUAL TABLE question_words USING fts5(said, facets, content='', "
            "tokenize='unicode61 remove_diacritics 2')"
        )
    else:
        connection.exec_driver_sql(
            "CREATE TABLE question_words (question_id BIGINT PRIMARY KEY, words tsvector NOT NULL)"
        )
        connection.exec_driver_sql("CREATE INDEX question_words_gin ON question_words USING gin (words)")


def _applied_tables() -> None:
    op.create_table(
        "applied_rule",
        sa.Column("id", _BIG, nullable=False, autoincrement=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("search", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("batch_id", sa.Integer(), nullable=True),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.ForeignKeyConstraint(["batch_id"], ["batch.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "applied_question",
        sa.Column("rule_id", _BIG, nullable=False, autoincrement=False),
        sa.Column("question_id", _BIG, nullable=False, autoincrement=False),
        sa.ForeignKeyConstraint(["rule_id"], ["applied_rule.id"]),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"]),
        sa.PrimaryKeyConstraint("rule_id", "question_id"),
    )
    op.create_index("applied_question_question", "applied_question", ["question_id"])
    op.create_table(
        "rule_taken_back",
        sa.Column("rule_id", _BIG, nullable=False, autoincrement=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("person_id", sa.Integer(), nullable=True),
        sa.Column("taken_back_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["rule_id"], ["applied_rule.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("rule_id"),
    )
    refuse_change(op.get_bind(), tuple(_APPLIED))
    refuse_ways_round(op.get_bind(), _APPLIED)


def downgrade() -> None:
    """Back to 0007."""
    allow_ways_round(op.get_bind(), tuple(_APPLIED))
    allow_change(op.get_bind(), tuple(_APPLIED))
    op.drop_table("rule_taken_back")
    op.drop_index("applied_question_question", table_name="applied_question")
    op.drop_table("applied_question")
    op.drop_table("applied_rule")
    op.get_bind().exec_driver_sql("DROP TABLE question_words")
    op.drop_index("release_item_question", table_name="release_item")
    op.drop_table("release_item")
