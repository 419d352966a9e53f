"""A database of the tests is equal to the template, also after another test used it."""

from __future__ import annotations

import psycopg
import pytest
from sqlalchemy import Engine

from storage.engine import make_engine
from storage.schema_check import check_schema
from tests.postgres_databases import DatabasePool
from tests.storage.full_world import count_all_rows
from tests.storage.worlds import make_world

pytestmark = [pytest.mark.slow, pytest.mark.database]


@pytest.fixture
def databases(postgres_databases: DatabasePool) -> DatabasePool:
    """A pool of its own, so that the test knows which database is lent next."""
    return DatabasePool(
        server=postgres_databases.server,
        administration=postgres_databases.administration,
        template=postgres_databases.template,
    )


def read_identity(engine: Engine) -> int:
    with engine.connect() as connection:
        query = "SELECT oid FROM pg_database WHERE datname = current_database()"
        return connection.exec_driver_sql(query).scalar_one()


def test_the_next_test_gets_the_same_database_emptied_under_another_name(databases):
    with databases.lend() as first_url:
        first_engine = make_engine(first_url)
        unfilled_counts = count_all_rows(first_engine)
        first_ids = make_world(first_engine).questions
        first_oid = read_identity(first_engine)
    first_engine.dispose()

    with databases.lend() as url:
        engine = make_engine(url)
        assert (read_identity(engine), url != first_url) == (first_oid, True)
        assert count_all_rows(engine) == unfilled_counts
        check_schema(engine)
        assert make_world(engine).questions == first_ids
        engine.dispose()


def test_a_connection_that_a_test_left_open_does_not_reach_the_next_test(databases):
    with databases.lend() as url:
        left_open = psycopg.connect(url.replace("+psycopg", "", 1))
        left_open.execute("DELETE FROM patient_data_rules")  # not committed
        left_open.execute("SELECT pg_advisory_lock(1)")
    with databases.lend() as url:
        engine = make_engine(url)
        assert count_all_rows(engine)["patient_data_rules"] == 1
        with engine.connect() as connection:
            assert connection.exec_driver_sql("SELECT pg_try_advisory_lock(1)").scalar_one()
        engine.dispose()
    with pytest.raises(psycopg.OperationalError):
        left_open.execute("SELECT 1")


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE alembic_version ADD COLUMN extra integer",
        "DELETE FROM patient_data_rules",
        'ALTER DATABASE "{name}" CONNECTION LIMIT 5',
    ],
    ids=["schema", "row of the template", "setting"],
)
def test_a_database_with_other_changes_than_new_rows_is_not_used_again(databases, statement):
    with databases.lend() as url:
        engine = make_engine(url)
        changed_oid = read_identity(engine)
        with engine.begin() as connection:
            connection.exec_driver_sql(statement.format(name=engine.url.database))
        engine.dispose()
    with databases.lend() as url:
        engine = make_engine(url)
        assert read_identity(engine) != changed_oid
        check_schema(engine)
        engine.dispose()
