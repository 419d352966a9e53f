"""Migrate a filled database down and up again, one migration at a time, and compare what must not change."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import Connection, Engine, insert, inspect

from storage.backup.tables import inspect_tables, iterate_lines
from storage.engine import make_engine
from storage.rows.datasets import ProblemRow
from storage.rows.verdicts import DraftRow, OwnAnswerRow, ReportOpeningRow, SkipRow
from storage.schema import downgrade, list_revisions, read_revision, upgrade
from storage.unit_of_work import unit_of_work
from tests.storage.judgements import make_acceptance, make_rejection, save_verdict
from tests.storage.worlds import NOW, make_world


def fill_database(engine: Engine, *, questions: int, judged_count: int) -> None:
    """A world with that many questions, open for ruth and remo; ruth has judged some of them.

    Each question also has one batch row, two assignments, one problem, half an exam, one radiograph and one
    image; every fifth also has a draft, an own answer, a skip and an opened report.
    """
    world = make_world(engine, questions=questions, assigned_to=["ruth", "remo"])
    for number in range(1, judged_count + 1):
        save_verdict(world, (make_acceptance if number % 2 else make_rejection)(world, question=number))
    remo = world.people["remo"].id
    keys = [
        {"batch_id": world.batch.id, "question_id": question, "person_id": remo}
        for question in world.questions
    ]
    some_keys = keys[::5]
    with unit_of_work(engine) as db:
        for row_class, rows in {
            ProblemRow: [
                {
                    "question_id": question,
                    "check_name": "duplicate",
                    "field": "stem",
                    "reason": "as another",
                    "dataset_id": world.dataset_id,
                }
                for question in world.questions
            ],
            DraftRow: [
                {**key, "part": "form", "revision": 1, "body": "{}", "changed_at": NOW} for key in some_keys
            ],
            OwnAnswerRow: [
                {**key, "answer": "[1]", "confidence": 4, "committed_at": NOW} for key in some_keys
            ],
            SkipRow: [
                {**key, "number": 1, "reason": "image missing", "skipped_at": NOW} for key in some_keys
            ],
            ReportOpeningRow: [{**key, "image_alignment": 3, "opened_at": NOW} for key in some_keys],
        }.items():
            db.execute(insert(row_class), rows)


def walk_migrations(engine: Engine, *, report: Callable[[str, int], None] = lambda *_: None) -> int:
    """Migrate from head to the first migration and back; return the number of rows compared at each step.

    At each step, the rows of every table that exists at both ends are unchanged in the columns that exist at
    both ends. At the end, the database has the same triggers and indexes as before.

    Raises:
        AssertionError: something changed; the message states what.
    """
    revisions, shared_columns = list_revisions(), _list_first_columns()
    with engine.connect() as connection:
        shared_columns = {
            name: columns & shared_columns[name]
            for name, columns in list_columns(connection).items()
            if name in shared_columns
        }
        hashes_before, triggers_before, indexes_before = (
            hash_rows(connection, shared_columns),
            list_triggers(connection),
            list_indexes(connection),
        )
    row_count = sum(count for count, _ in hashes_before.values())
    for revision in [*reversed(revisions[:-1]), *revisions[1:]]:
        with engine.connect() as connection:
            is_downgrade = revisions.index(revision) < revisions.index(read_revision(connection))
        (downgrade if is_downgrade else upgrade)(engine, revision)
        with engine.connect() as connection:
            hashes_now = hash_rows(connection, shared_columns)
        changed = [name for name in hashes_before if hashes_now[name] != hashes_before[name]]
        assert not changed, (
            f"{'down' if is_downgrade else 'up'} to {revision} changed the rows of {', '.join(changed)}"
        )
        report(f"{'down' if is_downgrade else 'up'} to {revision}", row_count)
    with engine.connect() as connection:
        assert list_triggers(connection) == triggers_before
        assert list_indexes(connection) == indexes_before
    return row_count


def list_columns(connection: Connection) -> dict[str, set[str]]:
    """The columns of each table."""
    return {shape.name: set(shape.columns) for shape in inspect_tables(connection)}


def hash_rows(connection: Connection, columns: dict[str, set[str]]) -> dict[str, tuple[int, str]]:
    """(number of rows, SHA-256 of their lines) of each table in ``columns``, of those columns only."""
    row_hashes = {}
    for shape in inspect_tables(connection):
        if shape.name in columns:
            column_types = {name: shape.columns[name] for name in sorted(columns[shape.name])}
            count, digest = 0, hashlib.sha256()
            for line in iterate_lines(connection, replace(shape, columns=column_types)):
                count += 1
                digest.update(line)
            row_hashes[shape.name] = (count, digest.hexdigest())
    return row_hashes


def list_triggers(connection: Connection) -> list[tuple[str, ...]]:
    """Every trigger and its action."""
    if connection.dialect.name == "sqlite":
        query = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name"
    else:
        query = (
            "SELECT tgname, tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger "
            "WHERE NOT tgisinternal ORDER BY 1, 2"
        )
    return [tuple(row) for row in connection.exec_driver_sql(query)]


def list_indexes(connection: Connection) -> list[tuple[str, str, tuple[str, ...]]]:
    """Every index: its table, name and columns."""
    inspector = inspect(connection)
    return sorted(
        (name, str(index["name"]), tuple(map(str, index["column_names"])))
        for name in inspector.get_table_names()
        for index in inspector.get_indexes(name)
    )


def _list_first_columns() -> dict[str, set[str]]:
    """The columns that the first migration creates."""
    with tempfile.TemporaryDirectory() as folder:
        engine = make_engine(f"sqlite:///{folder}/first.sqlite")
        try:
            upgrade(engine, list_revisions()[0])
            with engine.connect() as connection:
                return list_columns(connection)
        finally:
            engine.dispose()
