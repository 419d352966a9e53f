"""While the database cannot be written, people get a message that says so, and reads continue."""

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from accounts import service as accounts
from domain.errors import NotNow
from storage.engine import current_engine, get_engine, make_engine
from storage.rows.datasets import DatasetRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.sign_ins import NOON, add_person, find_signed_in_name, start_sign_in
from web.sign_in.presence import find_present_person


def test_lock_timeout_is_reported_as_a_locked_database(sqlite_engine):
    with unit_of_work(sqlite_engine) as writer:
        writer.connection()
        with (
            pytest.raises(NotNow, match="the database was locked"),
            _open_with_short_timeout(sqlite_engine) as db,
        ):
            db.connection()


def test_full_disk_is_reported_and_leaves_the_database_intact(sqlite_engine):
    with sqlite_engine.connect() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        connection.execute(text(f"PRAGMA max_page_count = {pages}"))
        connection.commit()
    with pytest.raises(NotNow, match="disk of the workspace is full"):
        _start_many_sign_ins(sqlite_engine)
    with sqlite_engine.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"


def test_unreadable_database_is_reported(tmp_path):
    unreadable_engine = make_engine(f"sqlite:///{tmp_path / 'overread.sqlite'}")
    (tmp_path / "overread.sqlite").mkdir()
    with pytest.raises(NotNow, match="could not be read"), read_only_session(unreadable_engine) as db:
        db.connection()


def test_signed_in_person_is_found_during_another_write(sqlite_template, tmp_path, monkeypatch):
    shutil.copyfile(sqlite_template, tmp_path / "overread.sqlite")
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path))
    monkeypatch.delenv("OVERREAD_DATABASE_URL", raising=False)
    engine = current_engine()
    try:
        person = add_person(engine)
        long_ago = (
            datetime.now(UTC) - 2 * accounts.LAST_SEEN_INTERVAL
        )  # so that the time last seen is written
        with unit_of_work() as db:
            accounts.start_sign_in(db, person=person, token="t1", previous_token=None, now=long_ago)
        with unit_of_work() as writer:
            writer.connection()
            present_person = find_present_person("t1")
        assert present_person is not None
        assert present_person.name == "anna"
    finally:
        engine.dispose()
        get_engine.cache_clear()


def test_short_lock_timeout_applies_to_one_write_only(sqlite_engine):
    start_sign_in(sqlite_engine, add_person(sqlite_engine))
    with _open_with_short_timeout(sqlite_engine) as db:
        accounts.update_last_seen(db, token="t1", now=NOON)
    with sqlite_engine.connect() as connection:
        assert connection.execute(text("PRAGMA busy_timeout")).scalar_one() == 30_000
    assert find_signed_in_name(sqlite_engine) == "anna"


def _start_many_sign_ins(engine):
    for number in range(2000):
        start_sign_in(engine, add_person(engine, f"anna{number}"), token=f"t{number}")


def _open_with_short_timeout(engine):
    return unit_of_work(engine, lock_timeout_ms=20)


@pytest.mark.slow
def test_concurrent_writers_of_one_process_all_succeed(sqlite_engine):
    def write(number):
        with unit_of_work(sqlite_engine, lock_timeout_ms=10_000) as db:
            db.add(DatasetRow(name=f"set {number}", created_at=NOON))

    with ThreadPoolExecutor(40) as writers:
        list(writers.map(write, range(400)))
    with sqlite_engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM dataset")).scalar_one() == 400


def test_failed_write_releases_its_turn(sqlite_engine):
    with closing(sqlite3.connect(sqlite_engine.url.database, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(NotNow), _open_with_short_timeout(sqlite_engine) as db:
            db.connection()
        connection.execute("ROLLBACK")
    with _open_with_short_timeout(sqlite_engine) as db:
        db.connection()
