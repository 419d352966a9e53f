"""The words of all questions, for search; which questions are in which release."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


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


def downgrade() -> None:
    """Back to 0007."""
    op.get_bind().exec_driver_sql("DROP TABLE question_words")
    op.drop_index("release_item_question", table_name="release_item")
    op.drop_table("release_item")
