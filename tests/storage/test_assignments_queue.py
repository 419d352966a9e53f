"""The queries of the queue use an index and scan no large table."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, event, text

from review import service as review
from storage.review.assignments import find_first_open, find_neighbours, has_question_on_exam
from storage.unit_of_work import read_only_session
from tests.storage.worlds import NOW, World, make_world


@pytest.fixture
def world(sqlite_engine: Engine) -> World:
    return make_world(sqlite_engine, assigned_to=["ruth"])


def explain_queries(world: World, send_queries) -> list[str]:
    """SQLite's query plan of each SELECT that ``send_queries`` sends, one line per step."""
    statements = []

    def record_statement(_connection, _cursor, statement, parameters, *_rest):
        statements.append((statement, parameters))

    event.listen(world.engine, "before_cursor_execute", record_statement)
    with read_only_session(world.engine) as db:
        send_queries(db)
    event.remove(world.engine, "before_cursor_execute", record_statement)
    with world.engine.connect() as connection:
        return [
            row[3]
            for statement, parameters in statements
            if statement.lstrip().startswith("SELECT")
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        ]


def test_next_question_is_found_by_one_index_lookup(world):
    ruth = world.people["ruth"].id
    (step,) = explain_queries(world, lambda db: find_first_open(db, person_id=ruth, batch_id=1))
    assert "USING INDEX assignment_queue (person_id=? AND batch_id=? AND state=?)" in step


def test_neighbours_are_found_by_the_index(world):
    ruth = world.people["ruth"].id
    steps = explain_queries(world, lambda db: find_neighbours(db, person_id=ruth, batch_id=1, position=5))
    for condition in ("state=? AND position>?", "state=? AND position<?"):
        assert len([step for step in steps if condition in step]) == 3  # open, done, skipped


def test_exam_access_is_checked_without_a_scan(world):
    ruth = world.people["ruth"].id
    steps = explain_queries(
        world, lambda db: has_question_on_exam(db, person_id=ruth, exam_row_id=1, batch_ids=[1])
    )
    assert [step for step in steps if step.startswith("SCAN")] == []


def test_loading_a_sheet_scans_no_large_table(world):
    steps = explain_queries(
        world,
        lambda db: review.load_sheet(db, person=world.people["ruth"], batch_id=1, now=NOW),
    )
    scans = {step for step in steps if step.startswith("SCAN")}
    # Subqueries: a row's neighbours, a few next questions, one row per batch and state, the last verdicts.
    subqueries = (
        "SCAN before_", "SCAN after_", "SCAN next_open", "SCAN first_open", "SCAN states",
        "SCAN mine", "SCAN recent",
    )  # fmt: skip
    # The only scanned table has one row per person and batch with a shared queue.
    assert {step for step in scans if not step.startswith(subqueries)} <= {"SCAN pool_member"}


def test_table_scan_appears_in_the_query_plan(world):
    """The tests above search for SQLite's own words; this one shows that they would detect a scan."""
    steps = explain_queries(
        world, lambda db: db.execute(text("SELECT stem FROM question WHERE stem = 'x'")).all()
    )
    assert steps == ["SCAN question"]
