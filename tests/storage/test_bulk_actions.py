"""Apply one correction to many questions: selection, exclusions, draws, audit trail, and undo."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import Engine, select, text

from accounts.service import command_line_person
from accounts.service.audit_trail import AuditFilter, list_audit_entries
from browsing.service import (
    QuestionStatus,
    Search,
    describe_event,
    describe_search,
    index_questions,
    list_bulk_actions,
    load_history,
    preview_bulk_action,
    queue_matching,
    reject_matching,
    undo_bulk_action,
)
from cli import main
from domain.batches import BatchState, SamplingPlan
from domain.errors import AlreadyThere, InvalidValue, Refused
from domain.vocabulary import Difficulty
from review.service import list_estimable_batches
from review.service.sample_data import build_sample, load_sample_data
from sampling.service import draw_batch, preview_draw
from storage.rows.batches import BatchQuestionRow
from storage.sampling.batches import load_batch
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.worlds import NOW, World, make_world

HARD_QUESTIONS = Search(dataset="demo", difficulty=Difficulty.HARD)
BY = command_line_person()


@pytest.fixture
def world(sqlite_engine: Engine) -> World:
    """Twelve questions; the first batch has drawn 1 to 6. Four of the twelve are hard: 3, 6, 9, 12."""
    world_with_batch = make_world(sqlite_engine, assigned_to=("ruth",))
    with unit_of_work(sqlite_engine) as db:
        db.execute(text("DELETE FROM assignment WHERE question_id > 6"))
        db.execute(text("DELETE FROM batch_question WHERE question_id > 6"))
    with unit_of_work(sqlite_engine) as db:
        index_questions(db)
    return world_with_batch


def preview_rejection(world: World, search: Search = HARD_QUESTIONS):
    with read_only_session(world.engine) as db:
        return preview_bulk_action(db, by=BY, search=search)


def reject_questions(
    world: World,
    search: Search = HARD_QUESTIONS,
    *,
    expected: int = 2,
    reason: str = "Compares with a prior.",
):
    with unit_of_work(world.engine) as db:
        return reject_matching(db, by=BY, search=search, reason=reason, expected=expected, now=NOW)


def queue_questions(world: World, name: str = "again", *, expected: int = 2):
    with unit_of_work(world.engine) as db:
        return queue_matching(
            db,
            by=BY,
            search=HARD_QUESTIONS,
            reason="Look at them.",
            batch_name=name,
            expected=expected,
            now=NOW,
        )


def undo(world: World, number: int):
    with unit_of_work(world.engine) as db:
        return undo_bulk_action(db, by=BY, number=number, reason="It was too much.", now=NOW)


def list_batch_questions(db, batch_id: int) -> list[BatchQuestionRow]:
    rows = select(BatchQuestionRow).where(BatchQuestionRow.batch_id == batch_id)
    return list(db.execute(rows.order_by(BatchQuestionRow.position)).scalars())


def count_drawable(world: World) -> int:
    with read_only_session(world.engine) as db:
        return preview_draw(db, by=BY, dataset="demo", plan=SamplingPlan(seed=1, n=12, per_1000=None)).size


def test_preview_counts_matches_and_exclusions_with_reason(world: World) -> None:
    preview = preview_rejection(world)
    assert (preview.count, preview.numbers) == (2, (9, 12))
    assert [example.number for example in preview.examples] == [9, 12]
    assert preview.excluded == {"drawn": 2}


def test_judged_question_is_excluded_as_judged(world: World) -> None:
    save_verdict(world, make_acceptance(world, question=3))
    assert preview_rejection(world).excluded == {"drawn": 1, "judged": 1}


def test_later_draw_excludes_questions_rejected_in_bulk_and_notes_their_number(world: World) -> None:
    assert count_drawable(world) == 12
    reject_questions(world)
    assert count_drawable(world) == 10
    with unit_of_work(world.engine) as db:
        draw = draw_batch(
            db, by=BY, dataset="demo", plan=SamplingPlan(seed=1, n=12, per_1000=None), batch_name="second",
            now=NOW,
        )  # fmt: skip
        rows = list_batch_questions(db, draw.batch.id)
        assert {row.question_id for row in rows}.isdisjoint({9, 12})
    assert "2 questions of the dataset cannot be drawn: rejected by bulk actions." in draw.notes


def test_undone_rejection_makes_its_questions_drawable_again(world: World) -> None:
    rejection = reject_questions(world)
    assert preview_rejection(world).excluded == {"drawn": 2, "rejected by a bulk action": 2}
    assert undo(world, rejection.number).undone_at is not None
    assert count_drawable(world) == 12
    assert preview_rejection(world).count == 2
    with pytest.raises(Refused, match="already undone on"):
        undo(world, rejection.number)


def test_queued_questions_form_a_batch_without_estimates(world: World) -> None:
    bulk_action = queue_questions(world)
    with read_only_session(world.engine) as db:
        batch = load_batch(db, name="again")
        batch_questions = list_batch_questions(db, batch.id)
        assert [(row.question_id, row.stratum) for row in batch_questions] == [
            (9, "found by search"),
            (12, "found by search"),
        ]
        assert list_estimable_batches(db, by=BY) == {"demo": ["first"]}
    assert bulk_action.batch == "again"
    assert count_drawable(world) == 12, "they stay in the frame: a random draw may take them too"


def test_draw_into_a_batch_from_a_search_is_refused(world: World) -> None:
    queue_questions(world)
    with unit_of_work(world.engine) as db, pytest.raises(Refused, match="created from a search"):
        draw_batch(
            db, by=BY, dataset="demo", plan=SamplingPlan(seed=0, n=2, per_1000=None), batch_name="again",
            now=NOW,
        )  # fmt: skip


def test_estimates_of_exclusive_draws_exclude_the_questions_of_a_search(world: World) -> None:
    """Of 12 questions, 6 were drawn at random and 2 found by a search; two exclusive draws share the other 4.

    The 6 had the same chance as the 4, but the 2 had none: the exclusive batches represent 12 - 2 questions.
    """
    queue_questions(world)
    for name in ("one", "two"):
        with unit_of_work(world.engine) as db:
            plan = SamplingPlan(seed=1, n=2, per_1000=None, exclude_drawn=True)
            assert draw_batch(db, by=BY, dataset="demo", plan=plan, batch_name=name, now=NOW).added == 2
    with read_only_session(world.engine) as db:
        data = load_sample_data(db, dataset="demo", names=["one", "two"])
        assert sum(build_sample(db, data).sizes.values()) == 10


def test_undone_queue_closes_its_batch_and_frees_its_questions(
    world: World,
) -> None:
    undo(world, queue_questions(world).number)
    with read_only_session(world.engine) as db:
        assert load_batch(db, name="again").state is BatchState.CLOSED
    assert preview_rejection(world).count == 2


def test_bulk_actions_are_recorded_with_search_and_reason(world: World) -> None:
    number = reject_questions(world).number
    undo(world, number)
    with read_only_session(world.engine) as db:
        (bulk_action,) = list_bulk_actions(db, by=BY, dataset="demo")
        entries = list(list_audit_entries(db, by=BY, entry_filter=AuditFilter(subject=f"rule {number}")))
    assert bulk_action.search == {"dataset": "demo", "difficulty": "hard"}
    assert (bulk_action.reason, bulk_action.questions, bulk_action.undo_reason) == (
        "Compares with a prior.", 2, "It was too much."
    )  # fmt: skip
    assert len(entries) > 0


def test_bulk_action_is_refused_when_the_preview_is_outdated(world: World) -> None:
    with pytest.raises(Refused, match="The preview had 5 questions, but now there are 2"):
        reject_questions(world, expected=5)
    with read_only_session(world.engine) as db:
        assert list_bulk_actions(db, by=BY) == []


def test_bulk_action_on_the_whole_dataset_is_refused(world: World) -> None:
    with pytest.raises(Refused, match="Enter a search or choose a filter first"):
        reject_questions(world, Search(dataset="demo"), expected=6)


def test_bulk_action_needs_a_reason(world: World) -> None:
    with pytest.raises(InvalidValue, match="reason"):
        reject_questions(world, reason=" ")


def test_queue_needs_an_unused_name(world: World) -> None:
    with pytest.raises(AlreadyThere, match="'first'"):
        queue_questions(world, "first")


def test_status_is_stored_under_its_previous_name_and_described_under_the_new_one(world: World) -> None:
    """The stored key of the status remains "standing"; texts call it the status."""
    search = Search(dataset="demo", status=QuestionStatus.NOT_DRAWN)
    rejection = reject_questions(world, search, expected=preview_rejection(world, search).count)
    with read_only_session(world.engine) as db:
        stored = db.execute(text("SELECT search FROM applied_rule")).scalar_one()
    assert json.loads(stored) == {"dataset": "demo", "standing": "not drawn"}
    assert describe_search(rejection.search) == "status not drawn"


def test_bulk_actions_are_append_only_in_the_database(world: World) -> None:
    reject_questions(world)
    for statement in ("DELETE FROM applied_question", "UPDATE applied_question SET rule_id = 2"):
        with pytest.raises(Exception, match="append-only"), world.engine.begin() as connection:
            connection.execute(text(statement))
    with read_only_session(world.engine) as db:
        assert len(list_bulk_actions(db, by=BY)) == 1


def describe_history(world: World, question: int) -> list[tuple[str, list[str]]]:
    with read_only_session(world.engine) as db:
        history = load_history(db, by=BY, question_row_id=question)
    return [describe_event(event, history.question) for event in history.events]


def test_question_history_shows_a_bulk_action_and_that_it_was_undone(world: World) -> None:
    undo(world, reject_questions(world).number)
    lines = describe_history(world, 9)
    assert [line for line, _ in lines][-2:] == ["rejected by bulk action 1", "bulk action 1 was undone"]
    assert lines[-2][1] == [
        "Compares with a prior.", "matched by a search: difficulty hard"
    ]  # fmt: skip
    assert lines[-1][1] == ["It was too much."]


def test_history_of_a_queued_question_names_its_batch(world: World) -> None:
    queue_questions(world)
    assert "queued into batch again by bulk action 1" in [line for line, _ in describe_history(world, 12)]


@pytest.fixture
def command(world: World, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(world.engine.url))
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path))

    def run(*words: str) -> str:
        assert main(["apply", *words]) == 0
        return capsys.readouterr().out

    return run


def test_command_without_yes_only_previews(world: World, command) -> None:
    output = command("reject", "demo", "--difficulty", "hard", "--reason", "Compares with a prior.")
    assert "2 questions would be rejected." in output
    assert "2 excluded: drawn." in output
    assert preview_rejection(world).count == 2


@pytest.mark.parametrize("verb", ["undo", "back"])  # "back" is the command's previous name
def test_command_rejects_lists_and_undoes(world: World, command, verb) -> None:
    reason_options = ("--reason", "Compares with a prior.")
    assert "Bulk action 1: 2 questions rejected." in command(
        "reject", "demo", "--difficulty", "hard", *reason_options, "--yes"
    )
    assert preview_rejection(world).excluded == {"drawn": 2, "rejected by a bulk action": 2}
    assert "reject\t2 questions\tdifficulty hard\tCompares with a prior." in command("list", "demo")
    output = command(verb, "1", "--reason", "Too much.")
    assert "Bulk action 1 was undone; 2 questions can be drawn again." in output
    assert "undone" in command("list")
    assert preview_rejection(world).count == 2


def test_command_queues_into_a_new_batch(world: World, command) -> None:
    output = command(
        "queue", "demo", "--difficulty", "hard", "--into", "again", "--reason", "Look again.", "--yes"
    )
    assert "Bulk action 1: 2 questions queued in batch again." in output
    with read_only_session(world.engine) as db:
        assert [row.question_id for row in list_batch_questions(db, load_batch(db, name="again").id)] == [
            9,
            12,
        ]
