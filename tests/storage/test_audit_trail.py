"""The audit trail: one chain on both databases, written in the transaction of the action, immutable."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import Engine

from accounts.service.audit import record_action
from domain.audit import NO_ENTRY, AuditEntry
from domain.people import Person, Role
from storage.audit.entries import iterate_entries
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.worlds import NOW

pytestmark = pytest.mark.database

RUTH = Person(id=7, name="ruth", display_name="Ruth", roles=frozenset({Role.REVIEWER}))


def list_entries(engine: Engine) -> list[AuditEntry]:
    with read_only_session(engine) as db:
        return list(iterate_entries(db))


def record_look(engine: Engine, subject: str) -> None:
    with unit_of_work(engine) as db:
        record_action(db, by=RUTH, action="look", subject=subject, new={"b": 1, "a": [1.5, None]}, now=NOW)


def test_entry_has_person_time_action_values_and_reason(engine):
    with unit_of_work(engine) as db:
        record_action(
            db,
            by=RUTH,
            action="close batch",
            subject="batch 3",
            old="open",
            new="closed",
            reason="done",
            now=NOW,
        )
    [entry] = list_entries(engine)
    assert (entry.number, entry.at, entry.person_id, entry.person_name) == (1, NOW, 7, "ruth")
    assert (entry.action, entry.subject, entry.reason) == ("close batch", "batch 3", "done")
    assert (entry.old, entry.new) == ('"open"', '"closed"')


def test_values_are_stored_as_canonical_json(engine):
    record_look(engine, "one")
    assert list_entries(engine)[0].new == '{"a":[1.5,null],"b":1}'


def test_each_entry_contains_the_hash_of_the_previous_one(engine):
    for subject in ("one", "two", "three"):
        record_look(engine, subject)
    entries_in_order = list_entries(engine)
    assert [entry.previous_hash for entry in entries_in_order] == [
        NO_ENTRY,
        entries_in_order[0].hash,
        entries_in_order[1].hash,
    ]
    assert [entry.hash for entry in entries_in_order] == [entry.compute_hash() for entry in entries_in_order]


def test_failed_transaction_leaves_no_entry(engine):
    def fail() -> None:
        with unit_of_work(engine) as db:
            record_action(db, by=RUTH, action="look", subject="one", now=NOW)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    record_look(engine, "after")
    assert [entry.subject for entry in list_entries(engine)] == ["after"]


def test_rolled_back_savepoint_removes_only_its_own_entries(engine):
    with unit_of_work(engine) as db:
        record_action(db, by=RUTH, action="look", subject="before", now=NOW)
        outer = db.begin_nested()
        with db.begin_nested():
            record_action(db, by=RUTH, action="look", subject="inside", now=NOW)
        outer.rollback()
        with db.begin_nested():
            record_action(db, by=RUTH, action="look", subject="kept", now=NOW)
    assert [entry.subject for entry in list_entries(engine)] == ["before", "kept"]


def test_entries_are_ordered_by_number_not_by_time(engine):
    for hours in (2, 0, 1):
        with unit_of_work(engine) as db:
            record_action(db, by=RUTH, action="look", subject=str(hours), now=NOW + timedelta(hours=hours))
    assert [(entry.number, entry.subject) for entry in list_entries(engine)] == [(1, "2"), (2, "0"), (3, "1")]


def test_concurrent_writers_make_one_chain(engine):
    def write(writer: int) -> None:
        for number in range(10):
            with unit_of_work(engine) as db:
                record_action(db, by=RUTH, action="look", subject=f"{writer} {number} first", now=NOW)
                record_action(db, by=RUTH, action="look", subject=f"{writer} {number} second", now=NOW)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(8)))
    entries_in_order = list_entries(engine)
    assert [entry.number for entry in entries_in_order] == list(range(1, 161))
    assert [entry.previous_hash for entry in entries_in_order[1:]] == [
        entry.hash for entry in entries_in_order[:-1]
    ]
    assert [entry.hash for entry in entries_in_order] == [entry.compute_hash() for entry in entries_in_order]


def test_entries_cannot_be_replaced_or_truncated(engine):
    record_look(engine, "one")
    connection = engine.raw_connection()
    cursor = connection.cursor()
    if engine.dialect.name == "sqlite":
        statement = "INSERT OR REPLACE INTO audit_entry SELECT * FROM audit_entry"
    else:
        statement = "TRUNCATE audit_entry"
    with pytest.raises((sqlite3.IntegrityError, psycopg.Error), match="audit_entry is append-only"):
        cursor.execute(statement)
    connection.close()
    assert [entry.subject for entry in list_entries(engine)] == ["one"]
