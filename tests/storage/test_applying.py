"""Apply one correction to many questions: selection, exclusions, draws, audit trail, and withdrawal."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, select, text

from accounts.service import command_line_person
from accounts.service.audit_trail import AuditFilter, list_audit_entries
from browsing.service import (
    Search,
    describe_event,
    index_questions,
    list_applied_rules,
    load_history,
    preview_bulk_action,
    queue_matching,
    reject_matching,
    revert_rule,
)
from cli import main
from domain.batches import BatchState, SamplingPlan
from domain.errors import AlreadyThere, InvalidValue, Refused
from domain.vocabulary import Difficulty
from review.service import list_estimable_batches
from sampling.service import draw_batch, preview_draw
from storage.rows import BatchQuestionRow
from storage.sampling.batches import load_batch
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import accept, give
from tests.storage.worlds import NOW, World, make_world

HARD = Search(dataset="demo", difficulty=Difficulty.HARD)
BY = command_line_person()


@pytest.fixture
def world(sqlite_engine: Engine) -> World:
    """Twelve questions; the first batch has drawn 1 to 6. Four of the twelve are hard: 3, 6, 9, 12."""
    made = make_world(sqlite_engine, assigned_to=("ruth",))
    with unit_of_work(sqlite_engine) as db:
        db.execute(text("DELETE FROM assignment WHERE question_id > 6"))
        db.execute(text("DELETE FROM batch_question WHERE question_id > 6"))
    with unit_of_work(sqlite_engine) as db:
        index_questions(db)
    return made


def seen(world: World, search: Search = HARD):
    with read_only_session(world.engine) as db:
        return preview_bulk_action(db, by=BY, search=search)


def reject(world: World, search: Search = HARD, *, expected: int = 2, reason: str = "Compares with a prior."):
    with unit_of_work(world.engine) as db:
        return reject_matching(db, by=BY, search=search, reason=reason, expected=expected, now=NOW)


def queue(world: World, name: str = "again", *, expected: int = 2):
    with unit_of_work(world.engine) as db:
        return queue_matching(
            db, by=BY, search=HARD, reason="Look at them.", batch_name=name, expected=expected, now=NOW
        )


def back(world: World, rule: int):
    with unit_of_work(world.engine) as db:
        return revert_rule(db, by=BY, rule=rule, reason="It was too much.", now=NOW)


def questions_of(db, batch_id: int) -> list[BatchQuestionRow]:
    rows = select(BatchQuestionRow).where(BatchQuestionRow.batch_id == batch_id)
    return list(db.execute(rows.order_by(BatchQuestionRow.position)).scalars())


def drawable(world: World) -> int:
    with read_only_session(world.engine) as db:
        return preview_draw(db, by=BY, dataset="demo", plan=SamplingPlan(seed=1, n=12, per_1000=None)).size


def test_a_preview_counts_what_is_left_and_why_the_rest_is_not(world: World) -> None:
    found = seen(world)
    assert (found.count, found.numbers) == (2, (9, 12))
    assert [each.number for each in found.examples] == [9, 12]
    assert found.excluded == {"drawn": 2}


def test_a_judged_question_is_left_out_as_judged(world: World) -> None:
    give(world, accept(world, question=3))
    assert seen(world).excluded == {"drawn": 1, "judged": 1}


def test_rejected_by_rule_is_in_no_later_draw_and_the_draw_says_so(world: World) -> None:
    assert drawable(world) == 12
    reject(world)
    assert drawable(world) == 10
    with unit_of_work(world.engine) as db:
        drawn = draw_batch(
            db, by=BY, dataset="demo", plan=SamplingPlan(seed=1, n=12, per_1000=None), batch_name="second",
            now=NOW,
        )  # fmt: skip
        rows = questions_of(db, drawn.batch.id)
        assert {row.question_id for row in rows}.isdisjoint({9, 12})
    assert any("2 questions of the dataset are rejected by rule" in note for note in drawn.notes)


def test_a_rule_that_is_taken_back_gives_its_questions_back(world: World) -> None:
    rule = reject(world)
    assert seen(world).excluded == {"drawn": 2, "rejected by rule": 2}
    assert back(world, rule.number).reverted_at is not None
    assert drawable(world) == 12
    assert seen(world).count == 2
    with pytest.raises(Refused, match="already undone on"):
        back(world, rule.number)


def test_queued_questions_are_a_batch_that_is_no_sample_of_the_whole(world: World) -> None:
    rule = queue(world)
    with read_only_session(world.engine) as db:
        batch = load_batch(db, name="again")
        held = questions_of(db, batch.id)
        assert [(row.question_id, row.stratum) for row in held] == [
            (9, "found by search"),
            (12, "found by search"),
        ]
        assert list_estimable_batches(db, by=BY) == {"demo": ["first"]}
    assert rule.batch == "again"
    assert drawable(world) == 12, "they stay in the frame: a random draw may take them too"


def test_nothing_is_drawn_into_a_batch_that_a_search_made(world: World) -> None:
    queue(world)
    with unit_of_work(world.engine) as db, pytest.raises(Refused, match="created from a search"):
        draw_batch(
            db, by=BY, dataset="demo", plan=SamplingPlan(seed=0, n=2, per_1000=None), batch_name="again",
            now=NOW,
        )  # fmt: skip


def test_a_queue_that_is_taken_back_closes_its_batch_and_its_questions_can_be_taken_again(
    world: World,
) -> None:
    back(world, queue(world).number)
    with read_only_session(world.engine) as db:
        assert load_batch(db, name="again").state is BatchState.CLOSED
    assert seen(world).count == 2


def test_each_step_is_on_record_with_its_search_and_reason(world: World) -> None:
    rule = reject(world)
    back(world, rule.number)
    with read_only_session(world.engine) as db:
        (kept,) = list_applied_rules(db, by=BY, dataset="demo")
        entries = list(list_audit_entries(db, by=BY, entry_filter=AuditFilter(subject=f"rule {rule.number}")))
    assert kept.search == {"dataset": "demo", "difficulty": "hard"}
    assert (kept.reason, kept.questions, kept.revert_reason) == (
        "Compares with a prior.", 2, "It was too much."
    )  # fmt: skip
    assert len(entries) > 0


def test_a_step_takes_what_the_preview_had_or_nothing(world: World) -> None:
    with pytest.raises(Refused, match="The preview had 5 questions, now there are 2"):
        reject(world, expected=5)
    with read_only_session(world.engine) as db:
        assert list_applied_rules(db, by=BY) == []


def test_the_whole_dataset_is_too_much_for_one_step(world: World) -> None:
    with pytest.raises(Refused, match="Enter a search or choose a filter first"):
        reject(world, Search(dataset="demo"), expected=6)


def test_a_step_needs_its_reason(world: World) -> None:
    with pytest.raises(InvalidValue, match="reason"):
        reject(world, reason=" ")


def test_a_queue_needs_a_name_that_is_free(world: World) -> None:
    with pytest.raises(AlreadyThere, match="'first'"):
        queue(world, "first")


def test_what_was_applied_is_refused_any_change_by_the_database(world: World) -> None:
    reject(world)
    for statement in ("DELETE FROM applied_question", "UPDATE applied_question SET rule_id = 2"):
        with pytest.raises(Exception, match="append-only"), world.engine.begin() as connection:
            connection.execute(text(statement))
    with read_only_session(world.engine) as db:
        assert len(list_applied_rules(db, by=BY)) == 1


def told_of(world: World, question: int) -> list[tuple[str, list[str]]]:
    with read_only_session(world.engine) as db:
        found = load_history(db, by=BY, question_number=question)
    return [describe_event(event, found.question) for event in found.events]


def test_the_history_of_a_question_tells_the_rule_and_its_taking_back(world: World) -> None:
    back(world, reject(world).number)
    lines = told_of(world, 9)
    assert [line for line, _ in lines][-2:] == ["rejected by rule 1", "rule 1 was undone"]
    assert lines[-2][1] == [
        "Compares with a prior.", "matched by a search: difficulty hard"
    ]  # fmt: skip
    assert lines[-1][1] == ["It was too much."]


def test_the_history_of_a_queued_question_names_its_batch(world: World) -> None:
    queue(world)
    assert "queued into batch again by rule 1" in [line for line, _ in told_of(world, 12)]


@pytest.fixture
def command(world: World, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("OVERREAD_DATABASE_URL", str(world.engine.url))
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path))

    def run(*words: str) -> str:
        assert main(["apply", *words]) == 0
        return capsys.readouterr().out

    return run


def test_the_command_only_says_what_it_would_take_until_it_is_told_to_do_it(world: World, command) -> None:
    said = command("reject", "demo", "--difficulty", "hard", "--reason", "Compares with a prior.")
    assert "2 questions would be taken." in said
    assert "2 are left out: drawn." in said
    assert seen(world).count == 2


def test_the_command_rejects_lists_and_takes_back(world: World, command) -> None:
    why = ("--reason", "Compares with a prior.")
    assert "Rule 1: 2 questions are rejected." in command(
        "reject", "demo", "--difficulty", "hard", *why, "--yes"
    )
    assert seen(world).excluded == {"drawn": 2, "rejected by rule": 2}
    assert "reject\t2 questions\tdifficulty hard\tCompares with a prior." in command("list", "demo")
    assert "Rule 1 holds no more; 2 questions can be drawn again." in command(
        "back", "1", "--reason", "Too much."
    )
    assert "taken back" in command("list")
    assert seen(world).count == 2


def test_the_command_queues_into_a_new_batch(world: World, command) -> None:
    said = command(
        "queue", "demo", "--difficulty", "hard", "--into", "again", "--reason", "Look again.", "--yes"
    )
    assert "Rule 1: 2 questions are queued in batch again." in said
    with read_only_session(world.engine) as db:
        assert [row.question_id for row in questions_of(db, load_batch(db, name="again").id)] == [9, 12]
