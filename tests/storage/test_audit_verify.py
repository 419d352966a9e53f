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
    """Three verdicts, the last of which replaces one, a skip, and a closed batch: five entries."""
    made = make_world(engine, assigned_to=["ruth"])
    save_verdict(made, make_acceptance(made, question=1))
    save_verdict(made, make_acceptance(made, question=2))
    save_verdict(
        made,
        make_acceptance(made, question=2, revision=2, comment="on second thoughts", why="saw the lateral"),
    )
    with unit_of_work(engine) as db:
        review.skip_question(
            db,
            person=made.people["ruth"],
            batch_id=made.batch.id,
            question_row_id=3,
            reason="too dark",
            now=NOW,
        )
        review.close_batch(db, by=made.people["cora"], batch="first", now=NOW)
    return made


def verified(engine: Engine, head: str | None = None) -> AuditCheck:
    with read_only_session(engine) as db:
        return verify_audit(db, by=BY, head=head)


def verified_after(engine: Engine, statement: str) -> AuditCheck:
    """The result of verification after a change without the triggers, which is rolled back."""
    with engine.connect() as connection:
        allow_change(connection, APPEND_ONLY)
        connection.exec_driver_sql(statement)
        with Session(connection) as db:
            found = verify_audit(db, by=BY)
        connection.rollback()
    return found


def behind_the_back(engine: Engine, statement: str) -> None:
    """Do what the database's own tools permit: drop the triggers, change rows, restore the triggers."""
    with engine.begin() as connection:
        allow_change(connection, APPEND_ONLY)
        connection.exec_driver_sql(statement)
        refuse_change(connection, APPEND_ONLY)


def test_a_trail_that_nobody_touched_is_whole(world):
    found = verified(world.engine)
    assert (found.fault, found.entries, found.judgements) == (None, 5, 4)


def test_an_empty_trail_is_whole(engine):
    assert verified(engine).fault is None


def test_an_altered_entry_is_named_whatever_was_altered(world):
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
        found = verified_after(world.engine, f"UPDATE audit_entry SET {change} WHERE number = 2")
        assert (found.number, found.fault) == (2, "its content was changed")


def test_an_entry_that_was_taken_out_is_named_by_the_one_behind_it(world):
    found = verified_after(world.engine, "DELETE FROM audit_entry WHERE number = 2")
    assert (found.number, found.fault) == (3, "entry 2 is missing before it")


def test_an_entry_with_another_hash_is_named(world):
    statement = f"UPDATE audit_entry SET hash = '{'f' * 64}' WHERE number = 2"
    assert verified_after(world.engine, statement).number == 2


def test_entries_taken_away_at_the_end_are_missed_by_their_judgements(world):
    found = verified_after(world.engine, "DELETE FROM audit_entry WHERE number > 3")
    assert "skip question, batch 1 question 3" in found.fault


def test_entries_taken_away_at_the_end_are_missed_by_a_head_that_was_noted(world):
    head = verified(world.engine).head
    behind_the_back(world.engine, "DELETE FROM audit_entry WHERE number = 5")
    assert verified(world.engine).fault is None
    assert "No entry has the stated head" in verified(world.engine, head).fault


def test_a_head_that_was_noted_is_found_again_when_more_was_done_since(world):
    head = verified(world.engine).head
    with unit_of_work(world.engine) as db:
        review.reopen_batch(db, by=world.people["cora"], batch="first", now=NOW)
    assert verified(world.engine, head).fault is None


def test_an_altered_judgement_is_found_whatever_was_altered(world):
    for statement in (
        "UPDATE verdict SET decision = 'reject' WHERE question_id = 1",
        "UPDATE verdict SET seconds_looking = 1 WHERE question_id = 1",
        "UPDATE verdict SET comment = 'x' WHERE question_id = 2 AND revision = 2",
        "UPDATE skip SET reason = 'x'",
    ):
        found = verified_after(world.engine, statement)
        assert "A saved judgement differs from the trail" in found.fault


def test_a_judgement_that_was_removed_is_found(world):
    found = verified_after(world.engine, "DELETE FROM verdict WHERE question_id = 1")
    assert (found.number, "was deleted or changed" in found.fault) == (1, True)


def test_what_was_judged_before_there_was_a_trail_is_counted_in_its_first_entry(world):
    downgrade(world.engine, "0001")
    upgrade(world.engine)
    with read_only_session(world.engine) as db:
        [first] = list_audit_entries(db, by=BY, entry_filter=AuditFilter())
    assert json.loads(first.entry.new) == {"verdict": 3, "own_answer": 0, "skip": 1, "report_opening": 0}
    assert verified(world.engine).fault is None


def test_filters_and_pages(world):
    def numbers(*, below=None, limit=50, **wanted):
        with read_only_session(world.engine) as db:
            found = list_audit_entries(
                db, by=BY, entry_filter=AuditFilter(**wanted), below=below, limit=limit
            )
        return [visible.entry.number for visible in found]

    assert numbers() == [5, 4, 3, 2, 1]
    assert numbers(limit=2) == [5, 4]
    assert numbers(limit=2, below=4) == [3, 2]
    assert numbers(person="cora") == [5]
    assert numbers(what="give verdict") == [3, 2, 1]
    assert numbers(subject="batch 1 question 2") == [3, 2]
    assert numbers(subject="batch 1") == [5, 4, 3, 2, 1]
    assert numbers(subject="batch") == [5, 4, 3, 2, 1]
    assert numbers(subject="batch 1 question") == [4, 3, 2, 1]
    assert numbers(since=NOW, before=NOW) == []


def test_a_reviewer_sees_nothing_of_it(world):
    with read_only_session(world.engine) as db:
        for look in (
            lambda: list_audit_entries(db, by=world.people["ruth"], entry_filter=AuditFilter()),
            lambda: export_audit(db, by=world.people["ruth"], entry_filter=AuditFilter()),
            lambda: verify_audit(db, by=world.people["ruth"]),
        ):
            with pytest.raises(NotAllowed, match="may not see the audit trail"):
                look()


def test_a_coordinator_who_judges_too_does_not_see_judgements_of_others(engine):
    world = make_world(engine, assigned_to=["ruth", "remo"])
    save_verdict(world, make_acceptance(world, question=1, comment="PLANTED", person="remo"), "remo")
    both = Person(
        id=world.people["ruth"].id,
        name="ruth",
        display_name="Ruth",
        roles=frozenset({Role.REVIEWER, Role.COORDINATOR}),
    )
    with read_only_session(engine) as db:
        [shown] = list_audit_entries(db, by=both, entry_filter=AuditFilter())
        _, entries = export_audit(db, by=both, entry_filter=AuditFilter())
        text = "".join(format_audit_lines(entries, file_format="jsonl"))
    assert (shown.withheld, shown.entry.new, "PLANTED" in text) == (True, None, False)


def test_a_spreadsheet_runs_nothing_of_the_csv(world):
    with unit_of_work(world.engine) as db:
        review.reopen_batch(db, by=world.people["cora"], batch="first", now=NOW)
    save_verdict(world, make_acceptance(world, question=4, why="=HYPERLINK(1)", revision=1))
    with read_only_session(world.engine) as db:
        _, entries = export_audit(db, by=BY, entry_filter=AuditFilter(what="give verdict"))
        rows = list(
            csv.DictReader("".join(format_audit_lines(entries, file_format="csv")).splitlines(keepends=True))
        )
    assert rows[-1]["why"] == "'=HYPERLINK(1)"


@pytest.fixture
def workspace(monkeypatch: pytest.MonkeyPatch, sqlite_engine: Engine) -> Engine:
    """The workspace that the commands use."""
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(sqlite_engine.url))
    return sqlite_engine


def test_the_commands_verify_and_export(workspace, capsys, tmp_path):
    world = make_world(workspace, assigned_to=["ruth"])
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


def test_the_command_names_the_broken_entry_and_fails(workspace, capsys):
    world = make_world(workspace, assigned_to=["ruth"])
    save_verdict(world, make_acceptance(world, question=1))
    behind_the_back(workspace, "UPDATE audit_entry SET why = 'x'")
    assert cli.main(["audit", "verify"]) == 1
    output = capsys.readouterr()
    assert "NOT intact" in output.out
    assert output.err == "Entry 1: its content was changed.\n"
