"""Verifying the audit trail on both databases detects and names changes made outside the app."""

from __future__ import annotations

import csv
import json

import pytest
from sqlalchemy import Engine
from sqlmodel import Session

import cli
from accounts.audit_files import format_audit_lines
from accounts.service import command_line_person
from accounts.service.audit_trail import (
    AuditCheck,
    AuditFilter,
    export_audit,
    list_audit_entries,
    verify_audit,
)
from domain.errors import NotAllowed
from domain.people import Person, Role
from review import service as review
from storage.append_only import APPEND_ONLY, allow_change, refuse_change
from storage.schema import downgrade, upgrade
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.worlds import NOW, World, make_world

pytestmark = [pytest.mark.slow, pytest.mark.database]

BY = command_line_person()


@pytest.fixture
def world(engine: Engine) -> World:
    """Five entries: two verdicts, a revision of the second one, a skip, and the closing of the batch."""
    world = make_world(engine, assigned_to=["ruth"])
    save_verdict(world, make_acceptance(world, question=1))
    save_verdict(world, make_acceptance(world, question=2))
    save_verdict(
        world,
        make_acceptance(world, question=2, revision=2, comment="on second thoughts", why="saw the lateral"),
    )
    with unit_of_work(engine) as db:
        review.skip_question(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=3,
            reason="too dark",
            now=NOW,
        )
        review.close_batch(db, by=world.people["cora"], batch="first", now=NOW)
    return world


def verify(engine: Engine, head: str | None = None) -> AuditCheck:
    with read_only_session(engine) as db:
        return verify_audit(db, by=BY, head=head)


def verify_after_tampering(engine: Engine, statement: str) -> AuditCheck:
    """Verify after a change that the triggers would refuse, and roll the change back."""
    with engine.connect() as connection:
        allow_change(connection, APPEND_ONLY)
        connection.exec_driver_sql(statement)
        with Session(connection) as db:
            check = verify_audit(db, by=BY)
        connection.rollback()
    return check


def tamper(engine: Engine, statement: str) -> None:
    """Change rows as the database's own tools permit: drop the triggers, change, restore the triggers."""
    with engine.begin() as connection:
        allow_change(connection, APPEND_ONLY)
        connection.exec_driver_sql(statement)
        refuse_change(connection, APPEND_ONLY)


def test_an_unchanged_trail_is_intact(world):
    check = verify(world.engine)
    assert (check.fault, check.entries, check.judgements) == (None, 5, 4)


def test_an_empty_trail_is_intact(engine):
    assert verify(engine).fault is None


def test_a_change_of_any_field_of_an_entry_is_reported(world):
    for change in (
        "why = 'other'",
        "person_name = 'remo'",
        "person_id = 99",
        "at = '2026-01-01 00:00:00+00:00'",
        "what = 'look'",
        "subject = 'batch 9'",
        "old = '{}'",
        "new = '{}'",
    ):
        check = verify_after_tampering(world.engine, f"UPDATE audit_entry SET {change} WHERE number = 2")
        assert (check.number, check.fault) == (2, "its content was changed")


def test_a_deleted_entry_is_reported_at_the_next_entry(world):
    check = verify_after_tampering(world.engine, "DELETE FROM audit_entry WHERE number = 2")
    assert (check.number, check.fault) == (3, "entry 2 is missing before it")


def test_a_changed_hash_is_reported(world):
    statement = f"UPDATE audit_entry SET hash = '{'f' * 64}' WHERE number = 2"
    assert verify_after_tampering(world.engine, statement).number == 2


def test_truncation_is_detected_from_judgements(world):
    check = verify_after_tampering(world.engine, "DELETE FROM audit_entry WHERE number > 3")
    assert "skip question, batch 1 question 3" in check.fault


def test_truncation_is_detected_from_a_stated_head(world):
    head = verify(world.engine).head
    tamper(world.engine, "DELETE FROM audit_entry WHERE number = 5")
    assert verify(world.engine).fault is None
    assert "No entry has the stated head" in verify(world.engine, head).fault


def test_a_stated_head_is_accepted_after_more_entries(world):
    head = verify(world.engine).head
    with unit_of_work(world.engine) as db:
        review.reopen_batch(db, by=world.people["cora"], batch="first", now=NOW)
    assert verify(world.engine, head).fault is None


def test_a_change_of_any_field_of_a_judgement_is_detected(world):
    for statement in (
        "UPDATE verdict SET decision = 'reject' WHERE question_id = 1",
        "UPDATE verdict SET seconds_looking = 1 WHERE question_id = 1",
        "UPDATE verdict SET comment = 'x' WHERE question_id = 2 AND revision = 2",
        "UPDATE skip SET reason = 'x'",
    ):
        check = verify_after_tampering(world.engine, statement)
        assert "A saved judgement differs from the trail" in check.fault


def test_a_deleted_judgement_is_detected(world):
    check = verify_after_tampering(world.engine, "DELETE FROM verdict WHERE question_id = 1")
    assert (check.number, "was deleted or changed" in check.fault) == (1, True)


def test_first_entry_counts_judgements_older_than_the_trail(world):
    downgrade(world.engine, "0001")
    upgrade(world.engine)
    with read_only_session(world.engine) as db:
        [first] = list_audit_entries(db, by=BY, entry_filter=AuditFilter())
    assert json.loads(first.entry.new) == {"verdict": 3, "own_answer": 0, "skip": 1, "report_opening": 0}
    assert verify(world.engine).fault is None


def test_entries_are_filtered_and_paged(world):
    def list_numbers(*, below=None, limit=50, **filters):
        with read_only_session(world.engine) as db:
            visible_entries = list_audit_entries(
                db, by=BY, entry_filter=AuditFilter(**filters), below=below, limit=limit
            )
        return [visible.entry.number for visible in visible_entries]

    assert list_numbers() == [5, 4, 3, 2, 1]
    assert list_numbers(limit=2) == [5, 4]
    assert list_numbers(limit=2, below=4) == [3, 2]
    assert list_numbers(person="cora") == [5]
    assert list_numbers(action="give verdict") == [3, 2, 1]
    assert list_numbers(subject="batch 1 question 2") == [3, 2]
    assert list_numbers(subject="batch 1") == [5, 4, 3, 2, 1]
    assert list_numbers(subject="batch") == [5, 4, 3, 2, 1]
    assert list_numbers(subject="batch 1 question") == [4, 3, 2, 1]
    assert list_numbers(since=NOW, before=NOW) == []


def test_reviewers_cannot_read_the_trail(world):
    with read_only_session(world.engine) as db:
        for send_request in (
            lambda: list_audit_entries(db, by=world.people["ruth"], entry_filter=AuditFilter()),
            lambda: export_audit(db, by=world.people["ruth"], entry_filter=AuditFilter()),
            lambda: verify_audit(db, by=world.people["ruth"]),
        ):
            with pytest.raises(NotAllowed, match="may not see the audit trail"):
                send_request()


def test_a_coordinator_who_judges_too_does_not_see_judgements_of_others(engine):
    world = make_world(engine, assigned_to=["ruth", "remo"])
    save_verdict(world, make_acceptance(world, question=1, comment="PLANTED", person="remo"), "remo")
    reviewing_coordinator = Person(
        id=world.people["ruth"].id,
        name="ruth",
        display_name="Ruth",
        roles=frozenset({Role.REVIEWER, Role.COORDINATOR}),
    )
    with read_only_session(engine) as db:
        [visible_entry] = list_audit_entries(db, by=reviewing_coordinator, entry_filter=AuditFilter())
        _, entries = export_audit(db, by=reviewing_coordinator, entry_filter=AuditFilter())
        text = "".join(format_audit_lines(entries, file_format="jsonl"))
    assert (visible_entry.withheld, visible_entry.entry.new, "PLANTED" in text) == (True, None, False)


def test_csv_escapes_formulas(world):
    with unit_of_work(world.engine) as db:
        review.reopen_batch(db, by=world.people["cora"], batch="first", now=NOW)
    save_verdict(world, make_acceptance(world, question=4, why="=HYPERLINK(1)", revision=1))
    with read_only_session(world.engine) as db:
        _, entries = export_audit(db, by=BY, entry_filter=AuditFilter(action="give verdict"))
        rows = list(
            csv.DictReader("".join(format_audit_lines(entries, file_format="csv")).splitlines(keepends=True))
        )
    assert rows[-1]["why"] == "'=HYPERLINK(1)"


@pytest.fixture
def command_engine(monkeypatch: pytest.MonkeyPatch, sqlite_engine: Engine) -> Engine:
    """The engine of the database that the commands use."""
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(sqlite_engine.url))
    return sqlite_engine


def test_the_commands_verify_and_export(command_engine, capsys, tmp_path):
    world = make_world(command_engine, assigned_to=["ruth"])
    save_verdict(world, make_acceptance(world, question=1))
    assert cli.main(["audit", "verify"]) == 0
    output = capsys.readouterr().out.splitlines()
    assert output[0] == "The audit trail is consistent: 1 entry, 1 judgement compared."
    assert cli.main(["audit", "verify", "--head", output[-1].split()[1]]) == 0
    assert cli.main(["audit", "verify", "--head", "0" * 63 + "1"]) == 1
    out = tmp_path / "trail.jsonl"
    assert cli.main(["audit", "export", "--format", "jsonl", "--person", "ruth", "--out", str(out)]) == 0
    [line] = out.read_text().splitlines()
    assert json.loads(line)["what"] == "give verdict"


def test_the_command_names_the_changed_entry_and_exits_with_1(command_engine, capsys):
    world = make_world(command_engine, assigned_to=["ruth"])
    save_verdict(world, make_acceptance(world, question=1))
    tamper(command_engine, "UPDATE audit_entry SET why = 'x'")
    assert cli.main(["audit", "verify"]) == 1
    output = capsys.readouterr()
    assert "NOT intact" in output.out
    assert output.err == "Entry 1: its content was changed.\n"
