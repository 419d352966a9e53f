"""Comments between reviewers and coordinators: who sees them, and that they stay as written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

import cli
from accounts.service import command_line_person
from browsing.service import describe_event, load_history
from domain.batches import BatchSettings, Mode
from domain.errors import InvalidValue, NotFound, Refused
from domain.image_display import ImageDisplay
from domain.people import Role
from privacy.service import find_hits, list_hits, record_hits
from review import service as review
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.worlds import NOW, World, make_world

ASKED, ANSWERED = "Is the lateral view missing?", "No, it was never taken."


@pytest.fixture
def world(engine) -> World:
    return make_world(engine, questions=4, assigned_to=["ruth", "remo"])


def ask(world: World, name: str = "ruth", text: str = ASKED, question: int | None = None):
    with unit_of_work(world.engine) as db:
        return review.write_comment(
            db,
            person=world.people[name],
            batch_id=world.batch.id,
            question_row_id=question or world.questions[0],
            text=text,
            now=NOW,
        )


def answer(world: World, by=None, to: str = "ruth", text: str = ANSWERED) -> None:
    with unit_of_work(world.engine) as db:
        review.write_to_reviewer(
            db,
            by=by or world.people["cora"],
            batch="first",
            question_row_id=world.questions[0],
            reviewer=to,
            text=text,
            now=NOW,
        )


def load_own_thread(world: World, name: str = "ruth"):
    with read_only_session(world.engine) as db:
        thread = review.load_own_comments(
            db, person=world.people[name], batch_id=world.batch.id, question_row_id=world.questions[0]
        )
    return [(comment.by_reviewer, comment.text) for comment in thread]


def list_threads(world: World, by=None, **filters):
    with read_only_session(world.engine) as db:
        return review.list_comment_threads(db, by=by or world.people["cora"], **filters)


def count_sheet_comments(world: World, name: str = "ruth") -> tuple[int, int]:
    with read_only_session(world.engine) as db:
        sheet = review.load_sheet(
            db, person=world.people[name], batch_id=world.batch.id, question=world.questions[0], now=NOW
        )
    return sheet.comments, sheet.unread_comments


def test_a_question_is_asked_answered_and_read(world):
    ask(world)
    [thread] = list_threads(world, open_only=True)
    assert (thread.question_id, thread.reviewer, thread.unread, thread.is_answered) == (
        "Q1",
        "ruth",
        1,
        False,
    )
    answer(world)
    assert list_threads(world, open_only=True) == []
    assert list_threads(world)[0].unread == 0  # a person who answers has read the thread
    assert count_sheet_comments(world) == (2, 1)
    with read_only_session(world.engine) as db:
        [own_thread] = review.list_own_unread_threads(db, person=world.people["ruth"])
    assert own_thread.comments[-1].text == ANSWERED
    with unit_of_work(world.engine) as db:
        review.mark_comments_read(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=world.questions[0],
            now=NOW,
        )
    assert count_sheet_comments(world) == (2, 0)
    assert load_own_thread(world) == [(True, ASKED), (False, ANSWERED)]


def test_another_reviewer_of_the_question_never_gets_the_thread(world):
    ask(world)
    answer(world)
    assert (load_own_thread(world, "remo"), count_sheet_comments(world, "remo")) == ([], (0, 0))
    for name in ("ruth", "remo"):
        save_verdict(world, make_acceptance(world, question=world.questions[0], person=name), name)
    assert (load_own_thread(world, "remo"), count_sheet_comments(world, "remo")) == ([], (0, 0))


def test_a_coordinator_who_has_to_judge_the_question_sees_the_thread_after_the_verdict(world):
    ask(world)
    reviewing_coordinator = replace(world.people["remo"], roles=frozenset({Role.REVIEWER, Role.COORDINATOR}))
    assert list_threads(world, by=reviewing_coordinator) == []
    with read_only_session(world.engine) as db:
        events = load_history(db, by=reviewing_coordinator, question_row_id=world.questions[0]).events
    assert not any(event.kind == "comment" for event in events)
    with pytest.raises(Refused, match="Judge it first"):
        answer(world, by=reviewing_coordinator)
    save_verdict(world, make_acceptance(world, question=world.questions[0], person="remo"), "remo")
    assert len(list_threads(world, by=reviewing_coordinator)) == 1
    answer(world, by=reviewing_coordinator)


def test_answers_of_coordinators_stay_hidden_until_the_reviewers_own_answer(engine):
    world = make_world(
        engine, questions=2, assigned_to=["ruth"], settings=BatchSettings(mode=Mode.ANSWER_FIRST)
    )
    ask(world)
    answer(world, text="The key is C.")
    assert load_own_thread(world) == [(True, ASKED)]
    with unit_of_work(world.engine) as db:
        review.save_own_answer(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=world.questions[0],
            answer=(1,),
            confidence=3,
            image=ImageDisplay.DRAWN,
            now=NOW,
        )
    assert load_own_thread(world) == [(True, ASKED), (False, "The key is C.")]


@pytest.mark.parametrize("invalid_comment", ["", "  \n ", "x" * 4_001])
def test_an_empty_or_too_long_comment_is_refused(world, invalid_comment):
    with pytest.raises(InvalidValue, match="comment"):
        ask(world, text=invalid_comment)


def test_comments_on_unknown_questions_to_unassigned_reviewers_or_oneself_are_refused(world):
    with pytest.raises(NotFound):
        ask(world, question=999)
    with pytest.raises(Refused, match="was not assigned to rea"):
        answer(world, to="rea")
    reviewing_coordinator = replace(world.people["ruth"], roles=frozenset({Role.REVIEWER, Role.COORDINATOR}))
    with pytest.raises(Refused, match="your own thread"):
        answer(world, by=reviewing_coordinator)


def test_comments_are_append_only_audited_and_part_of_the_history(world):
    ask(world)
    answer(world)
    for statement in ("UPDATE question_comment SET text = 'x'", "DELETE FROM question_comment"):
        with pytest.raises(DBAPIError, match="append-only"), world.engine.begin() as connection:
            connection.execute(text(statement))
    with read_only_session(world.engine) as db:
        history = load_history(db, by=world.people["cora"], question_row_id=world.questions[0])
        entries = db.execute(
            text(
                "SELECT person_name, subject, new FROM audit_entry"
                " WHERE what = 'write comment' ORDER BY number"
            )
        ).all()
    descriptions = [
        describe_event(event, history.question) for event in history.events if event.kind == "comment"
    ]
    assert descriptions == [
        ("commented to the coordinators in batch first", [ASKED]),
        ("commented to Ruth in batch first", [ANSWERED]),
    ]
    assert [(entry.person_name, ASKED in entry.new) for entry in entries] == [("ruth", True), ("cora", False)]
    assert {entry.subject for entry in entries} == {f"batch {world.batch.id} question {world.questions[0]}"}


def test_patient_data_in_comments_is_found(world, tmp_path):
    ask(world, text="Mr. John Planted, call 555-123-4567")
    workspace = Workspace(home=tmp_path, database_url="")
    by = command_line_person()
    with read_only_session(world.engine) as db:
        result = find_hits(db, by=by, dataset="demo", workspace=workspace)
    with unit_of_work(world.engine) as db:
        record_hits(db, by=by, result=result, now=NOW)
    with read_only_session(world.engine) as db:
        hits = [row for row in list_hits(db, by=by, dataset="demo") if row.hit.field.startswith("comment ")]
    assert "555-123-4567" in {row.text[row.hit.start : row.hit.end] for row in hits}


def test_comments_are_listed_and_written_by_command(workspace_engine, capsys):
    world = make_world(workspace_engine, questions=2, assigned_to=["ruth"])
    assert cli.main(["comment", "list"]) == 0
    assert "No open comments." in capsys.readouterr().err
    ask(world)
    assert cli.main(["comment", "list"]) == 0
    assert f"Ruth: {ASKED}" in capsys.readouterr().out
    arguments = ["comment", "write", "demo", "Q1", "--batch", "first", "--to", "ruth", "--text", ANSWERED]
    assert cli.main(arguments) == 0
    assert cli.main(["comment", "list", "--all"]) == 0
    assert f"Command line: {ANSWERED}" in capsys.readouterr().out
    assert cli.main(["history", "demo", "Q1"]) == 0
    assert ASKED in capsys.readouterr().out
