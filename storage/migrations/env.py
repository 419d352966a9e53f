"""Alembic's entry point. It runs migrations on the engine or open transaction from `storage.schema`."""

from alembic import context
from sqlalchemy import Connection, text

from storage.rows.all_tables import metadata

#: Advisory lock against concurrent migrations. The number is "schema" in ASCII and is used nowhere else.
_LOCK = 0x736368656D61


def _run_migrations(connection: Connection) -> None:
    # render_as_batch: SQLite can alter little in place, so Alembic copies the table.
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    if connection.dialect.name != "sqlite":  # on SQLite, BEGIN IMMEDIATE already ensures a single writer
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    with context.begin_transaction():
        context.run_migrations()


def _run_on_engine() -> None:
    engine = context.config.attributes["engine"]
    with engine.connect() as connection:
        is_sqlite = engine.dialect.name == "sqlite"
        driver = connection.connection.driver_connection
        if is_sqlite:  # a copied table is dropped, which foreign keys would prevent
            driver.execute("PRAGMA foreign_keys = OFF")
        try:
            with connection.begin():
                _run_migrations(connection)
                if is_sqlite and (
                    violation := connection.exec_driver_sql("PRAGMA foreign_key_check").first()
                ):
                    raise ValueError(f"a migration left a reference to a missing row in table {violation[0]}")
        finally:
            if is_sqlite and not connection.invalidated:  # Ctrl-C closes the connection
                driver.execute("PRAGMA foreign_keys = ON")


if (given_connection := context.config.attributes.get("connection")) is not None:
    _run_migrations(given_connection)
else:
    _run_on_engine()
