"""The audit trail: one chain on both databases, written in the transaction of the action, immutable."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import Engine, select

from accounts.service.audit import record
from domain.audit import NO_ENTRY, AuditEntry
from domain.people import Person, Role
from storage.rows import AuditRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.worlds import NOW

RUTH = Person(id=7, name="ruth", display_name="Ruth", roles=frozenset({Role.REVIEWER}))


def entries(engine: Engine) -> list[AuditEntry]:
    with read_only_session(engine) as db:
        rows = db.execute(select(AuditRow).order_by(AuditRow.number)).scalars().all()
    return [AuditEntry(**{name: getattr(row, name) for name in AuditEntry.__slots__}) for row in rows]


def do(engine: Engine, subject: str) -> None:
    with unit_of_work(engine) as db:
        record(db, by=RUTH, what="look", subject=subject, new={"b": 1, "a": [1.5, None]}, now=NOW)


def test_an_entry_says_who_when_what_old_new_and_why(engine):
    with unit_of_work(engine) as db:
        record(
            db, by=RUTH, what="close batch", subject="batch 3", old="open", new="closed", why="done", now=NOW
        )
    [entry] = entries(engine)
    assert (entry.number, entry.at, entry.person_id, entry.person_name) == (1, NOW, 7, "ruth")
    assert (entry.what, entry.subject, entry.why) == ("close batch", "batch 3", "done")
    assert (entry.old, entry.new) == ('"open"', '"closed"')


def test_values_are_kept_in_one_spelling(engine):
    do(engine, "one")
    assert entries(engine)[0].new == '{"a":[1.5,null],"b":1}'


def test_each_entry_is_chained_to_the_one_before(engine):
    for subject in ("one", "two", "three"):
        do(engine, subject)
    found = entries(engine)
    assert [entry.previous_hash for entry in found] == [NO_ENTRY, found[0].hash, found[1].hash]
    assert [entry.hash for entry in found] == [entry.compute_hash() for entry in found]


def test_a_transaction_that_fails_leaves_no_entry(engine):
    def fail() -> None:
        with unit_of_work(engine) as db:
            record(db, by=RUTH, what="look", subject="one", now=NOW)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    do(engine, "after")
    assert [entry.subject for entry in entries(engine)] == ["after"]


def test_a_savepoint_that_fails_takes_its_own_entries_with_it_and_no_others(engine):
    with unit_of_work(engine) as db:
        record(db, by=RUTH, what="look", subject="before", now=NOW)
        outer = db.begin_nested()
        with db.begin_nested():
            record(db, by=RUTH, what="look", subject="inside", now=NOW)
        outer.rollback()
        with db.begin_nested():
            record(db, by=RUTH, what="look", subject="kept", now=NOW)
    assert [entry.subject for entry in entries(engine)] == ["before", "kept"]


def test_the_order_is_a_sequence_and_not_the_clock(engine):
    for hours in (2, 0, 1):
        with unit_of_work(engine) as db:
            record(db, by=RUTH, what="look", subject=str(hours), now=NOW + timedelta(hours=hours))
    assert [(entry.number, entry.subject) for entry in entries(engine)] == [(1, "2"), (2, "0"), (3, "1")]


def test_many_writers_at_once_make_one_chain(engine):
    def write(writer: int) -> None:
        for number in range(10):
            with unit_of_work(engine) as db:
                record(db, by=RUTH, what="look", subject=f"{writer} {number} first", now=NOW)
                record(db, by=RUTH, what="look", subject=f"{writer} {number} second", now=NOW)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(8)))
    found = entries(engine)
    assert [entry.number for entry in found] == list(range(1, 161))
    assert [entry.previous_hash for entry in found[1:]] == [entry.hash for entry in found[:-1]]
    assert [entry.hash for entry in found] == [entry.compute_hash() for entry in found]


def test_an_entry_is_not_replaced_and_the_table_not_emptied(engine):
    do(engine, "one")
    connection = engine.raw_connection()
    cursor = connection.cursor()
    if engine.dialect.name == "sqlite":
        statement = "INSERT OR REPLACE INTO audit_entry SELECT * FROM audit_entry"
    else:
        statement = "TRUNCATE audit_entry"
    with pytest.raises((sqlite3.IntegrityError, psycopg.Error), match="audit_entry is append-only"):
        cursor.execute(statement)
    connection.close()
    assert [entry.subject for entry in entries(engine)] == ["one"]
