"""Alembic's entry: runs the migrations on the engine that `storage.schema` hands over."""

from alembic import context

from storage.rows import metadata

engine = context.config.attributes["engine"]

with engine.connect() as connection:
    # render_as_batch: SQLite can alter little in place, so Alembic copies the table.
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()
    connection.commit()
