"""The message that a person gets while the database cannot be written, and that reads continue meanwhile."""

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
from storage.rows import DatasetRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.signing_in import NOON, add, begin, who
from web.sign_in.presence import find_present_person


def test_a_writer_that_does_not_end_is_told_of_after_the_patience(sqlite_engine):
    with unit_of_work(sqlite_engine) as writer:
        writer.connection()
        with pytest.raises(NotNow, match="something else has been writing"), _impatient(sqlite_engine) as db:
            db.connection()


def test_a_full_disk_is_said_plainly_and_leaves_nothing_half(sqlite_engine):
    with sqlite_engine.connect() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        connection.execute(text(f"PRAGMA max_page_count = {pages}"))
        connection.commit()
    with pytest.raises(NotNow, match="disk of the workspace is full"):
        _sign_many_in(sqlite_engine)
    with sqlite_engine.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"


def test_a_database_that_cannot_be_read_is_said_plainly(tmp_path):
    unreadable = make_engine(f"sqlite:///{tmp_path / 'overread.sqlite'}")
    (tmp_path / "overread.sqlite").mkdir()
    with pytest.raises(NotNow, match="could not be read"), read_only_session(unreadable) as db:
        db.connection()


def test_who_is_signed_in_is_known_while_somebody_else_writes(sqlite_template, tmp_path, monkeypatch):
    shutil.copyfile(sqlite_template, tmp_path / "overread.sqlite")
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path))
    monkeypatch.delenv("OVERREAD_DATABASE_URL", raising=False)
    engine = current_engine()
    try:
        person = add(engine)
        long_ago = (
            datetime.now(UTC) - 2 * accounts.LAST_SEEN_INTERVAL
        )  # so that the time last seen is written
        with unit_of_work() as db:
            accounts.start_sign_in(db, person=person, token="t1", previous_token=None, now=long_ago)
        with unit_of_work() as writer:
            writer.connection()
            found = find_present_person("t1")
        assert found is not None
        assert found.name == "anna"
    finally:
        engine.dispose()
        get_engine.cache_clear()


def test_patience_for_one_write_does_not_outlive_it(sqlite_engine):
    begin(sqlite_engine, add(sqlite_engine))
    with _impatient(sqlite_engine) as db:
        accounts.update_last_seen(db, token="t1", now=NOON)
    with sqlite_engine.connect() as connection:
        assert connection.execute(text("PRAGMA busy_timeout")).scalar_one() == 30_000
    assert who(sqlite_engine) == "anna"


def _sign_many_in(engine):
    for number in range(2000):
        begin(engine, add(engine, f"anna{number}"), token=f"t{number}")


def _impatient(engine):
    return unit_of_work(engine, lock_timeout_ms=20)


def test_writers_of_one_process_take_turns_and_none_is_kept_out(sqlite_engine):
    def write(number):
        with unit_of_work(sqlite_engine, lock_timeout_ms=10_000) as db:
            db.add(DatasetRow(name=f"set {number}", created_at=NOON))

    with ThreadPoolExecutor(40) as writers:
        list(writers.map(write, range(400)))
    with sqlite_engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM dataset")).scalar_one() == 400


def test_a_turn_that_was_not_used_is_given_back(sqlite_engine):
    with closing(sqlite3.connect(sqlite_engine.url.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(NotNow), _impatient(sqlite_engine) as db:
            db.connection()
        other.execute("ROLLBACK")
    with _impatient(sqlite_engine) as db:
        db.connection()
