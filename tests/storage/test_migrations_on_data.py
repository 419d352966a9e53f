"""Migrations down and up on a filled workspace keep what people did, on both databases."""

from __future__ import annotations

import pytest

from storage.schema import is_current, upgrade
from tests.storage.migration_walk import fill, hashes, walk

pytestmark = pytest.mark.full

#: Tables of the first migration that the small world leaves empty.
LEFT_EMPTY = {"release", "sign_in", "look"}


def test_every_step_down_and_up_leaves_the_rows_as_they_were(engine):
    """The long form, 100,000 rows: ``python -m benchmarks.soak_migrations``."""
    fill(engine, questions=60, judged=10)
    assert walk(engine) > 500
    assert is_current(engine)


def test_the_walk_finds_a_row_that_a_step_loses(engine, monkeypatch):
    """Shows that the test above would detect a lost row."""
    import tests.storage.migration_walk as walking

    fill(engine, questions=6, judged=0)

    def forgetful(on, revision):
        upgrade(on, revision)
        with on.begin() as connection:
            connection.exec_driver_sql("DELETE FROM problem WHERE question_id = 3")

    monkeypatch.setattr(walking, "upgrade", forgetful)
    with pytest.raises(AssertionError, match="changed the rows of problem"):
        walk(engine)


def test_the_filled_workspace_has_rows_in_every_table_of_the_first_migration(engine):
    fill(engine, questions=10, judged=4)
    from tests.storage.migration_walk import _columns_of_the_first

    with engine.connect() as connection:
        found = hashes(connection, _columns_of_the_first())
    assert {name for name, (rows, _) in found.items() if rows == 0} <= LEFT_EMPTY
