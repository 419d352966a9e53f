"""What is stored before a verdict: skips, drafts, time on a question. On both databases."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from domain.batches import AssignmentState
from domain.errors import InvalidValue, Refused, StaleRevision
from review import service as review
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import accept, give, state
from tests.storage.worlds import NOW, World, make_world


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, assigned_to=["ruth", "remo"])


def skip(world: World, reason="burned-in answer", question=1):
    with unit_of_work(world.engine) as db:
        review.skip_question(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_number=question,
            reason=reason,
            now=NOW,
        )


def test_a_skipped_question_leaves_the_queue_and_shows_its_reason(world):
    skip(world)
    with read_only_session(world.engine) as db:
        first = review.load_sheet(db, person=world.people["ruth"], batch_id=world.batch.id, now=NOW)
        back = review.load_sheet(
            db, person=world.people["ruth"], batch_id=world.batch.id, question=1, now=NOW
        )
    assert first.question_number == 2
    assert back.skipped == "burned-in answer"
    assert (back.progress.skipped, back.progress.left) == (1, 11)


def test_a_skipped_question_can_be_judged_later(world):
    skip(world)
    give(world, accept(world, question=1))
    assert state(world) is AssignmentState.DONE


def test_a_second_click_on_skip_changes_nothing(world):
    skip(world)
    skip(world)
    assert state(world) is AssignmentState.SKIPPED


def test_a_judged_question_is_not_skipped(world):
    give(world, accept(world, question=1))
    with pytest.raises(Refused, match="has a verdict already"):
        skip(world)


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501])
def test_a_skip_needs_a_reason_of_a_readable_length(world, reason):
    with pytest.raises(InvalidValue, match="1 to 500 characters"):
        skip(world, reason=reason)


def keep(world: World, body, revision=0, part="form", question=1):
    with unit_of_work(world.engine) as db:
        return review.save_draft(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_number=question,
            part=part,
            revision=revision,
            body=body,
            now=NOW,
        )


def drafts(world: World, question=1):
    with read_only_session(world.engine) as db:
        return review.load_sheet(
            db, person=world.people["ruth"], batch_id=world.batch.id, question=question, now=NOW
        ).drafts


def test_drafts_come_back_by_part(world):
    keep(world, {"comment": "hm"})
    keep(world, [{"radiograph": "pa", "label": "n", "box": [1, 2, 3, 4]}], part="boxes")
    assert drafts(world) == {
        "form": (1, {"comment": "hm"}),
        "boxes": (1, [{"radiograph": "pa", "label": "n", "box": [1, 2, 3, 4]}]),
    }


def test_a_draft_that_another_tab_kept_since_is_not_overwritten(world):
    assert keep(world, {"comment": "one"}) == 1
    assert keep(world, {"comment": "two"}, revision=1) == 2
    with pytest.raises(StaleRevision, match="is at revision 2, but this form has revision 1"):
        keep(world, {"comment": "old tab"}, revision=1)


def test_the_same_draft_sent_twice_is_kept_once(world):
    assert keep(world, {"comment": "one"}) == 1
    assert keep(world, {"comment": "one"}) == 1


def test_a_verdict_clears_the_drafts_of_its_question_only(world):
    keep(world, {"comment": "one"})
    keep(world, {"comment": "other"}, question=2)
    give(world, accept(world, question=1))
    assert (drafts(world), drafts(world, question=2)) == ({}, {"form": (1, {"comment": "other"})})


def test_a_draft_that_comes_after_its_verdict_is_refused(world):
    keep(world, {"comment": "one"})
    give(world, accept(world, question=1))
    with pytest.raises(StaleRevision, match="its verdict was saved"):
        keep(world, {"comment": "one more letter"}, revision=1)


def test_time_on_a_question_only_grows(world):
    with unit_of_work(world.engine) as db:
        for seconds, looking, away in ((10, 8, 0), (30, 20, 5), (12, 9, 0)):
            review.record_viewing_times(
                db,
                person=world.people["ruth"],
                batch_id=world.batch.id,
                question_number=1,
                seconds=seconds,
                seconds_looking=looking,
                seconds_away=away,
                now=NOW,
            )
        sheet = review.load_sheet(db, person=world.people["ruth"], batch_id=world.batch.id, now=NOW)
    assert (
        sheet.viewing_times.seconds,
        sheet.viewing_times.seconds_looking,
        sheet.viewing_times.seconds_away,
    ) == (30, 20, 5)
