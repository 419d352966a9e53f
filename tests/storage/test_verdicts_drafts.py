"""What is stored before a verdict: skips, drafts, time on a question. On both databases."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from domain.batches import AssignmentState
from domain.errors import InvalidValue, Refused, StaleRevision
from review import service as review
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import load_assignment_state, make_acceptance, save_verdict
from tests.storage.worlds import NOW, World, make_world


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, assigned_to=["ruth", "remo"])


def skip_question(world: World, reason="burned-in answer", question=1):
    with unit_of_work(world.engine) as db:
        review.skip_question(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=question,
            reason=reason,
            now=NOW,
        )


def test_skipped_question_leaves_the_queue_and_shows_its_reason(world):
    skip_question(world)
    with read_only_session(world.engine) as db:
        next_sheet = review.load_sheet(db, person=world.people["ruth"], batch_id=world.batch.id, now=NOW)
        skipped_sheet = review.load_sheet(
            db, person=world.people["ruth"], batch_id=world.batch.id, question=1, now=NOW
        )
    assert next_sheet.question_row_id == 2
    assert skipped_sheet.skipped == "burned-in answer"
    assert (skipped_sheet.progress.skipped, skipped_sheet.progress.left) == (1, 11)


def test_a_skipped_question_can_be_judged_later(world):
    skip_question(world)
    save_verdict(world, make_acceptance(world, question=1))
    assert load_assignment_state(world) is AssignmentState.DONE


def test_a_second_click_on_skip_changes_nothing(world):
    skip_question(world)
    skip_question(world)
    assert load_assignment_state(world) is AssignmentState.SKIPPED


def test_judged_question_cannot_be_skipped(world):
    save_verdict(world, make_acceptance(world, question=1))
    with pytest.raises(Refused, match="already has a verdict"):
        skip_question(world)


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501])
def test_a_skip_needs_a_reason_of_1_to_500_characters(world, reason):
    with pytest.raises(InvalidValue, match="1 to 500 characters"):
        skip_question(world, reason=reason)


def save_draft(world: World, body, revision=0, part="form", question=1):
    with unit_of_work(world.engine) as db:
        return review.save_draft(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=question,
            part=part,
            revision=revision,
            body=body,
            now=NOW,
        )


def load_drafts(world: World, question=1):
    with read_only_session(world.engine) as db:
        return review.load_sheet(
            db, person=world.people["ruth"], batch_id=world.batch.id, question=question, now=NOW
        ).drafts


def test_drafts_are_loaded_by_part(world):
    save_draft(world, {"comment": "hm"})
    save_draft(world, [{"radiograph": "pa", "label": "n", "box": [1, 2, 3, 4]}], part="boxes")
    assert load_drafts(world) == {
        "form": (1, {"comment": "hm"}),
        "boxes": (1, [{"radiograph": "pa", "label": "n", "box": [1, 2, 3, 4]}]),
    }


def test_draft_saved_by_another_tab_is_not_overwritten(world):
    assert save_draft(world, {"comment": "one"}) == 1
    assert save_draft(world, {"comment": "two"}, revision=1) == 2
    with pytest.raises(StaleRevision, match="is at revision 2, but this form has revision 1"):
        save_draft(world, {"comment": "old tab"}, revision=1)


def test_same_draft_sent_twice_is_saved_once(world):
    assert save_draft(world, {"comment": "one"}) == 1
    assert save_draft(world, {"comment": "one"}) == 1


def test_a_verdict_clears_the_drafts_of_its_question_only(world):
    save_draft(world, {"comment": "one"})
    save_draft(world, {"comment": "other"}, question=2)
    save_verdict(world, make_acceptance(world, question=1))
    assert (load_drafts(world), load_drafts(world, question=2)) == ({}, {"form": (1, {"comment": "other"})})


def test_draft_after_its_verdict_is_refused(world):
    save_draft(world, {"comment": "one"})
    save_verdict(world, make_acceptance(world, question=1))
    with pytest.raises(StaleRevision, match="its verdict was saved"):
        save_draft(world, {"comment": "one more letter"}, revision=1)


def test_time_on_a_question_only_grows(world):
    with unit_of_work(world.engine) as db:
        for seconds, looking, away in ((10, 8, 0), (30, 20, 5), (12, 9, 0)):
            review.record_viewing_times(
                db,
                person=world.people["ruth"],
                batch_id=world.batch.id,
                question_row_id=1,
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
