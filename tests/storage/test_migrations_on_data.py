"""Migrations down and up on a filled workspace keep what people did, on both databases."""

from __future__ import annotations

import pytest

from storage.schema import downgrade, is_current
from tests.storage.migration_walk import fill_database, hash_rows, walk_migrations

pytestmark = pytest.mark.full

#: Tables of the first migration that the small world leaves empty.
EMPTY_TABLES = {"release", "sign_in", "look"}


def test_every_migration_step_keeps_the_rows(engine):
    """The long form, 100,000 rows: ``python -m benchmarks.soak_migrations``."""
    fill_database(engine, questions=60, judged_count=10)
    assert walk_migrations(engine) > 500
    assert is_current(engine)


def test_migration_walk_detects_a_lost_row(engine, monkeypatch):
    """Shows that the test above would detect a lost row."""
    from tests.storage import migration_walk

    fill_database(engine, questions=6, judged_count=0)

    def downgrade_and_lose_a_row(on, revision):
        downgrade(on, revision)
        with on.begin() as connection:
            connection.exec_driver_sql("DELETE FROM problem WHERE question_id = 3")

    monkeypatch.setattr(migration_walk, "downgrade", downgrade_and_lose_a_row)
    with pytest.raises(AssertionError, match="changed the rows of problem"):
        walk_migrations(engine)


def test_filled_workspace_has_rows_in_the_tables_of_the_first_migration(engine):
    fill_database(engine, questions=10, judged_count=4)
    from tests.storage.migration_walk import _list_first_columns

    with engine.connect() as connection:
        row_hashes = hash_rows(connection, _list_first_columns())
    assert {name for name, (rows, _) in row_hashes.items() if rows == 0} <= EMPTY_TABLES
