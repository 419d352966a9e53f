"""Triggers by which the database itself refuses to change or remove a judgement."""

from __future__ import annotations

from sqlalchemy import Connection

#: Tables that are only ever added to.
APPEND_ONLY = ("verdict", "own_answer", "skip", "report_opening")


def create_triggers(connection: Connection) -> None:
    """Make UPDATE and DELETE on the append-only tables fail, on either database."""
    sqlite = connection.dialect.name == "sqlite"
    if not sqlite:
        connection.exec_driver_sql(
            "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION '%% is append-only', TG_TABLE_NAME; END $$"
        )
    for table in APPEND_ONLY:
        for verb in ("UPDATE", "DELETE"):
            name = f"{table}_no_{verb.lower()}"
            if sqlite:
                connection.exec_driver_sql(
                    f'CREATE TRIGGER {name} BEFORE {verb} ON "{table}" '
                    f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
                )
            else:
                connection.exec_driver_sql(
                    f'CREATE TRIGGER {name} BEFORE {verb} ON "{table}" '
                    "FOR EACH ROW EXECUTE FUNCTION refuse_change()"
                )


def drop_triggers(connection: Connection) -> None:
    """Undo :func:`create_triggers`."""
    sqlite = connection.dialect.name == "sqlite"
    for table in APPEND_ONLY:
        for verb in ("update", "delete"):
            on = "" if sqlite else f' ON "{table}"'
            connection.exec_driver_sql(f"DROP TRIGGER {table}_no_{verb}{on}")
    if not sqlite:
        connection.exec_driver_sql("DROP FUNCTION refuse_change()")
