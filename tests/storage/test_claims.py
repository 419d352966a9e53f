"""Shared queues on both databases: no question is claimed twice, none is lost, and no work is discarded."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from sqlalchemy import Engine, select

from domain.batches import AssignmentState
from domain.errors import DomainError, NotFound, Refused
from review import service as review
from storage.rows.claims import ClaimRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import load_assignment_state, make_acceptance, save_verdict
from tests.storage.worlds import NOW, World, close_batch, make_world

pytestmark = pytest.mark.database

HALF_AN_HOUR = timedelta(minutes=30)


def share_batch(world: World, *to: str, overlap: int = 1) -> review.ShareSummary:
    with unit_of_work(world.engine) as db:
        return review.share_batch(
            db, by=world.people["cora"], batch="first", to=to or ("ruth", "remo"), overlap=overlap, now=NOW
        )


def claim_question(world: World, person: str = "ruth", *, after: int | None = None, now: datetime = NOW):
    with unit_of_work(world.engine) as db:
        return review.claim_next(
            db, person=world.people[person], batch_id=world.batch.id, after=after, now=now
        )


def judge_question(world: World, person: str, question: int, *, now: datetime = NOW) -> None:
    save_verdict(world, make_acceptance(world, question=question, person=person, given_at=now), person)


def hand_back_question(world: World, person: str, question: int) -> None:
    with unit_of_work(world.engine) as db:
        review.hand_back(
            db, person=world.people[person], batch_id=world.batch.id, question_row_id=question, now=NOW
        )


@pytest.fixture
def world(engine: Engine) -> World:
    new_world = make_world(engine, questions=4)
    share_batch(new_world)
    return new_world


def test_unclaimed_questions_of_one_exam_stay_together(world):
    first = [claim_question(world, name).question for name in ("ruth", "remo")]
    for name, number in zip(("ruth", "remo"), first, strict=True):
        judge_question(world, name, number)
    second = [
        claim_question(world, name, after=question).question
        for name, question in zip(("ruth", "remo"), first, strict=True)
    ]
    assert (first, second) == ([1, 3], [2, 4])


def test_claiming_again_returns_the_same_question(world):
    assert [claim_question(world).question for _ in range(3)] == [1, 1, 1]


def test_reviewer_can_hold_several_open_claims(world):
    assert claim_question(world, after=claim_question(world).question).question == 2
    assert [load_assignment_state(world, number) for number in (1, 2)] == [AssignmentState.OPEN] * 2


def test_queue_with_all_questions_claimed_states_when_one_becomes_free(world):
    for after in (None, 1, 2, 3):
        claim_question(world, "ruth", after=after)
    result = claim_question(world, "remo")
    assert (result.question, result.free_at) == (None, NOW + HALF_AN_HOUR)


def test_queue_with_all_questions_judged_is_empty(world):
    for number in (1, 2, 3, 4):
        judge_question(world, "ruth", claim_question(world, after=number - 1 or None).question)
    result = claim_question(world, "remo")
    assert (result.question, result.free_at) == (None, None)


def test_expired_claim_goes_to_the_next_reviewer(world):
    for after in (None, 1, 2, 3):
        claim_question(world, "ruth", after=after)
    assert claim_question(world, "remo", now=NOW + HALF_AN_HOUR).question == 1
    assert load_assignment_state(world, 1) is AssignmentState.WITHDRAWN


def test_saving_a_draft_renews_the_claim(world):
    number = claim_question(world).question
    with unit_of_work(world.engine) as db:
        review.save_draft(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=number,
            part="form",
            revision=0,
            body={},
            now=NOW + timedelta(minutes=20),
        )
    with read_only_session(world.engine) as db:
        row = db.execute(select(ClaimRow).where(ClaimRow.question_id == number)).scalar_one()
    assert row.expires_at == NOW + timedelta(minutes=50)


def test_expired_claim_can_be_judged_while_nobody_else_has_it(world):
    number = claim_question(world).question
    judge_question(world, "ruth", number, now=NOW + timedelta(hours=2))
    assert load_assignment_state(world, number) is AssignmentState.DONE


def test_late_verdict_on_a_reclaimed_question_still_counts(world):
    for after in (None, 1, 2, 3):
        claim_question(world, "ruth", after=after)
    reclaimed = claim_question(world, "remo", now=NOW + HALF_AN_HOUR).question
    judge_question(world, "ruth", reclaimed, now=NOW + timedelta(hours=2))
    assert load_assignment_state(world, reclaimed) is AssignmentState.DONE
    assert load_assignment_state(world, reclaimed, "remo") is AssignmentState.OPEN


def test_returned_question_goes_to_another_reviewer(world):
    hand_back_question(world, "ruth", claim_question(world).question)
    assert claim_question(world, "ruth").question == 2
    assert claim_question(world, "remo").question == 3
    assert claim_question(world, "remo", after=3).question == 4
    assert claim_question(world, "remo", after=4).question == 1


def test_returned_question_is_offered_again_when_it_is_the_last(world):
    for after in (None, 1, 2):
        judge_question(world, "ruth", claim_question(world, after=after).question)
    last = claim_question(world, "ruth").question
    hand_back_question(world, "ruth", last)
    assert claim_question(world, "ruth").question == last


def test_judged_question_cannot_be_returned(world):
    number = claim_question(world).question
    judge_question(world, "ruth", number)
    with pytest.raises(Refused, match="Only a question from a shared queue"):
        hand_back_question(world, "ruth", number)


def test_skipped_question_goes_to_another_reviewer_only(world):
    number = claim_question(world).question
    with unit_of_work(world.engine) as db:
        review.skip_question(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_row_id=number,
            reason="x",
            now=NOW,
        )
    judged = []
    while (result := claim_question(world, "ruth")).question is not None:
        judged.append(result.question)
        judge_question(world, "ruth", result.question)
    assert sorted([number, *judged]) == [1, 2, 3, 4]
    assert claim_question(world, "remo").question == number


@pytest.mark.slow
def test_overlap_of_two_gives_each_question_two_different_reviewers(engine):
    world = make_world(engine, questions=6)
    share_batch(world, overlap=2)
    verdict_counts = Counter[int]()
    busy = True
    while busy:
        busy = False
        for name in ("ruth", "remo"):
            if (number := claim_question(world, name).question) is not None:
                judge_question(world, name, number)
                verdict_counts[number] += 1
                busy = True
    assert verdict_counts == dict.fromkeys(range(1, 7), 2)


def test_assigned_reviewers_count_towards_the_overlap(engine):
    world = make_world(engine, questions=4, assigned_to=["rea"])
    assert share_batch(world).added == 0
    assert share_batch(world, overlap=2).added == 4


def test_assigning_counts_the_reviewers_that_the_queue_will_provide(world):
    with unit_of_work(world.engine) as db:
        summary = review.assign(db, by=world.people["cora"], batch="first", to=["ruth"], now=NOW)
    assert summary.total == 0


def test_withdrawn_reviewer_gets_no_questions_and_loses_the_claim(world):
    number = claim_question(world).question
    with unit_of_work(world.engine) as db:
        assert review.withdraw(db, by=world.people["cora"], batch="first", from_="ruth", now=NOW) == 1
    assert claim_question(world, "ruth").question is None
    assert claim_question(world, "remo").question == number
    with pytest.raises(Refused, match="unassigned or reassigned"):
        judge_question(world, "ruth", number)


def test_closed_batch_offers_no_questions(world):
    close_batch(world.engine, world.batch)
    assert claim_question(world).question is None


def test_reviewer_outside_the_pool_gets_no_question(engine):
    world = make_world(engine, questions=4)
    share_batch(world, "ruth")
    assert claim_question(world, "remo").question is None


def test_unclaimed_question_cannot_be_opened(world):
    with read_only_session(world.engine) as db, pytest.raises(NotFound):
        review.load_sheet(db, person=world.people["ruth"], batch_id=world.batch.id, question=2, now=NOW)


def test_pool_members_see_the_batch_and_the_remaining_count(world):
    claim_question(world, "ruth")
    with read_only_session(world.engine) as db:
        [batch_of_ruth] = review.list_batches_for_reviewer(db, person=world.people["ruth"])
        [batch_of_remo] = review.list_batches_for_reviewer(db, person=world.people["remo"])
    assert (batch_of_ruth.progress.left, batch_of_remo.progress.left) == (4, 3)


@pytest.mark.slow
def test_concurrent_claims_cover_every_question_once(engine):
    world = make_world(engine, questions=60)
    share_batch(world)

    def claim_and_judge(name: str) -> list[int]:
        completed: list[int] = []
        while True:
            result = claim_question(world, name)
            if result.question is None:
                return completed
            try:
                judge_question(world, name, result.question)
            except DomainError:  # two windows of one person show the same question: it is judged once
                continue
            completed.append(result.question)

    with ThreadPoolExecutor(8) as threads:
        judged = [
            number for numbers in threads.map(claim_and_judge, ["ruth", "remo"] * 4) for number in numbers
        ]
    assert set(judged) == set(world.questions)
    with read_only_session(engine) as db:
        rows = db.execute(select(ClaimRow.question_id, ClaimRow.state)).all()
    assert sorted(row.question_id for row in rows) == sorted(world.questions)
    assert {row.state for row in rows} == {"done"}
