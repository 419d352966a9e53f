"""Triggers that prevent updates and deletions of rows in append-only tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

#: Tables of reviewers' judgements. The first migration creates their triggers.
JUDGEMENTS = ("verdict", "own_answer", "skip", "report_opening")
#: All append-only tables.
APPEND_ONLY = (
    *JUDGEMENTS,
    "audit_entry",
    "adjudication",
    "applied_rule",
    "applied_question",
    "rule_taken_back",
    "question_comment",
    "study_protocol",
    "study_case",
    "study_case_key",
    "study_exclusion",
    "reading",
    "prediction",
    "prompt_version",
    "model_call",
    "answer_mark",
    "extraction_mark",
    "question_provenance",
    "evaluation",
    "evaluation_run",
    "evaluation_case",
    "bench_score",
    "jury",
    "jury_judge",
    "region_check_mark",
    "leaderboard",
    "leaderboard_release",
    "leaderboard_team",
    "leaderboard_submission",
    "leaderboard_score",
    "leaderboard_selection",
    "leaderboard_reference",
    "name_mapping",
    "erratum_report",
    "practice_set",
    "practice_question",
    "practice_result",
    "practice_exemption",
    "score_column",
)


def create_triggers(connection: Connection) -> None:
    """Create the triggers of the first migration: UPDATE and DELETE on the tables of ``JUDGEMENTS`` fail.

    On PostgreSQL this also creates the function ``refuse_change()``, which all later triggers call.
    """
    if not _is_sqlite(connection):
        connection.exec_driver_sql(
            "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION '%% is append-only', TG_TABLE_NAME; END $$"
        )
    refuse_change(connection, JUDGEMENTS)


def drop_triggers(connection: Connection) -> None:
    """Undo :func:`create_triggers`."""
    allow_change(connection, JUDGEMENTS)
    if not _is_sqlite(connection):
        connection.exec_driver_sql("DROP FUNCTION refuse_change()")


def refuse_change(connection: Connection, tables: Sequence[str]) -> None:
    """Make UPDATE and DELETE on these tables fail. Migrations after the first one call this."""
    for table in tables:
        for verb in ("UPDATE", "DELETE"):
            name = f"{table}_no_{verb.lower()}"
            if _is_sqlite(connection):
                connection.exec_driver_sql(
                    f'CREATE TRIGGER {name} BEFORE {verb} ON "{table}" '
                    f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
                )
            else:
                connection.exec_driver_sql(
                    f'CREATE TRIGGER {name} BEFORE {verb} ON "{table}" '
                    "FOR EACH ROW EXECUTE FUNCTION refuse_change()"
                )


def allow_change(connection: Connection, tables: Sequence[str]) -> None:
    """Undo :func:`refuse_change`."""
    for table in tables:
        for verb in ("update", "delete"):
            _drop_trigger(connection, table, f"{table}_no_{verb}")


def refuse_ways_round(connection: Connection, keys: Mapping[str, Sequence[str]]) -> None:
    """Create triggers that also refuse INSERT OR REPLACE (SQLite) and TRUNCATE (PostgreSQL).

    SQLite's INSERT OR REPLACE removes the old row without firing a DELETE trigger. PostgreSQL's TRUNCATE
    fires no row trigger. ``keys`` contains the columns of each table's primary key.
    """
    for table, columns in keys.items():
        if _is_sqlite(connection):
            same_key = " AND ".join(f"{column} = NEW.{column}" for column in columns)
            row_exists = f'EXISTS (SELECT 1 FROM "{table}" WHERE {same_key})'  # noqa: S608 - our own names
            connection.exec_driver_sql(
                f'CREATE TRIGGER {table}_no_replace BEFORE INSERT ON "{table}" WHEN {row_exists} '
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: that row is there already'); END"
            )
        else:
            connection.exec_driver_sql(
                f'CREATE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON "{table}" '
                "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
            )


def allow_ways_round(connection: Connection, tables: Sequence[str]) -> None:
    """Drop the triggers of :func:`refuse_ways_round`."""
    event = "replace" if _is_sqlite(connection) else "truncate"
    for table in tables:
        _drop_trigger(connection, table, f"{table}_no_{event}")


def _drop_trigger(connection: Connection, table: str, name: str) -> None:
    on_table = "" if _is_sqlite(connection) else f' ON "{table}"'
    connection.exec_driver_sql(f"DROP TRIGGER {name}{on_table}")


def _is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"
