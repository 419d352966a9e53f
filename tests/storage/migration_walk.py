"""Migrate a filled database down and up again, one migration at a time, and compare what must not change."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import Connection, Engine, insert, inspect

from storage.backup.tables import inspect_tables, iterate_lines
from storage.engine import make_engine
from storage.rows import DraftRow, OwnAnswerRow, ProblemRow, ReportOpeningRow, SkipRow
from storage.schema import downgrade, list_revisions, read_revision, upgrade
from storage.unit_of_work import unit_of_work
from tests.storage.judgements import accept, give, reject
from tests.storage.worlds import NOW, make_world


def fill(engine: Engine, *, questions: int, judged: int) -> None:
    """A world with that many questions, open for ruth and remo; ruth has judged some of them.

    Each question also has one batch row, two assignments, one problem, half an exam, one radiograph and one
    image; every fifth also has a draft, an own answer, a skip and an opened report.
    """
    world = make_world(engine, questions=questions, assigned_to=["ruth", "remo"])
    for number in range(1, judged + 1):
        give(world, (accept if number % 2 else reject)(world, question=number))
    remo = world.people["remo"].id
    place = [{"batch_id": world.batch.id, "question_id": each, "person_id": remo} for each in world.questions]
    some = place[::5]
    with unit_of_work(engine) as db:
        for row, rows in {
            ProblemRow: [
                {
                    "question_id": each,
                    "check_name": "duplicate",
                    "field": "stem",
                    "reason": "as another",
                    "dataset_id": world.dataset_id,
                }
                for each in world.questions
            ],
            DraftRow: [
                {**each, "part": "form", "revision": 1, "body": "{}", "changed_at": NOW} for each in some
            ],
            OwnAnswerRow: [{**each, "answer": "[1]", "confidence": 4, "committed_at": NOW} for each in some],
            SkipRow: [{**each, "number": 1, "reason": "image missing", "skipped_at": NOW} for each in some],
            ReportOpeningRow: [{**each, "image_alignment": 3, "opened_at": NOW} for each in some],
        }.items():
            db.execute(insert(row), rows)


def walk(engine: Engine, *, say: Callable[[str, int], None] = lambda *_: None) -> int:
    """Migrate from head to the first migration and back; return the number of rows compared at each step.

    At each step, the rows of every table that exists at both ends are unchanged in the columns that exist at
    both ends. At the end, the database has the same triggers and indexes as before.

    Raises:
        AssertionError: something changed; the message states what.
    """
    steps, both = list_revisions(), _columns_of_the_first()
    with engine.connect() as connection:
        both = {
            name: columns & both[name] for name, columns in columns_of(connection).items() if name in both
        }
        before, guarded, indexed = hashes(connection, both), triggers(connection), indexes(connection)
    rows = sum(count for count, _ in before.values())
    for revision in [*reversed(steps[:-1]), *steps[1:]]:
        with engine.connect() as connection:
            down = steps.index(revision) < steps.index(read_revision(connection))
        (downgrade if down else upgrade)(engine, revision)
        with engine.connect() as connection:
            now = hashes(connection, both)
        changed = [name for name in before if now[name] != before[name]]
        assert not changed, (
            f"{'down' if down else 'up'} to {revision} changed the rows of {', '.join(changed)}"
        )
        say(f"{'down' if down else 'up'} to {revision}", rows)
    with engine.connect() as connection:
        assert triggers(connection) == guarded
        assert indexes(connection) == indexed
    return rows


def columns_of(connection: Connection) -> dict[str, set[str]]:
    """The columns of each table."""
    return {shape.name: set(shape.columns) for shape in inspect_tables(connection)}


def hashes(connection: Connection, columns: dict[str, set[str]]) -> dict[str, tuple[int, str]]:
    """(rows, SHA-256 of their lines) of each of those tables, in those columns."""
    found = {}
    for shape in inspect_tables(connection):
        if shape.name in columns:
            kinds = {name: shape.columns[name] for name in sorted(columns[shape.name])}
            count, digest = 0, hashlib.sha256()
            for line in iterate_lines(connection, replace(shape, columns=kinds)):
                count += 1
                digest.update(line)
            found[shape.name] = (count, digest.hexdigest())
    return found


def triggers(connection: Connection) -> list[tuple[str, ...]]:
    """Every trigger and its action."""
    if connection.dialect.name == "sqlite":
        asked = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name"
    else:
        asked = (
            "SELECT tgname, tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger "
            "WHERE NOT tgisinternal ORDER BY 1, 2"
        )
    return [tuple(row) for row in connection.exec_driver_sql(asked)]


def indexes(connection: Connection) -> list[tuple[str, str, tuple[str, ...]]]:
    """Every index: its table, name and columns."""
    inspector = inspect(connection)
    return sorted(
        (name, str(each["name"]), tuple(map(str, each["column_names"])))
        for name in inspector.get_table_names()
        for each in inspector.get_indexes(name)
    )


def _columns_of_the_first() -> dict[str, set[str]]:
    """The columns that the first migration creates."""
    with tempfile.TemporaryDirectory() as folder:
        engine = make_engine(f"sqlite:///{folder}/first.sqlite")
        try:
            upgrade(engine, list_revisions()[0])
            with engine.connect() as connection:
                return columns_of(connection)
        finally:
            engine.dispose()
