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
from storage.rows import ClaimRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import accept, give, state
from tests.storage.worlds import NOW, World, close, make_world

HALF_AN_HOUR = timedelta(minutes=30)


def share(world: World, *to: str, overlap: int = 1) -> review.ShareSummary:
    with unit_of_work(world.engine) as db:
        return review.share_batch(
            db, by=world.people["cora"], batch="first", to=to or ("ruth", "remo"), overlap=overlap, now=NOW
        )


def claim(world: World, person: str = "ruth", *, after: int | None = None, now: datetime = NOW):
    with unit_of_work(world.engine) as db:
        return review.claim_next(
            db, person=world.people[person], batch_id=world.batch.id, after=after, now=now
        )


def judge(world: World, person: str, question: int, *, now: datetime = NOW) -> None:
    give(world, accept(world, question=question, person=person, given_at=now), person)


def hand_back(world: World, person: str, question: int) -> None:
    with unit_of_work(world.engine) as db:
        review.hand_back(
            db, person=world.people[person], batch_id=world.batch.id, question_number=question, now=NOW
        )


@pytest.fixture
def world(engine: Engine) -> World:
    made = make_world(engine, questions=4)
    share(made)
    return made


def test_the_questions_of_one_exam_stay_together_while_they_are_free(world):
    first = [claim(world, name).question for name in ("ruth", "remo")]
    for name, number in zip(("ruth", "remo"), first, strict=True):
        judge(world, name, number)
    second = [
        claim(world, name, after=each).question for name, each in zip(("ruth", "remo"), first, strict=True)
    ]
    assert (first, second) == ([1, 3], [2, 4])


def test_who_asks_again_has_the_same_question(world):
    assert [claim(world).question for _ in range(3)] == [1, 1, 1]


def test_who_leaves_a_question_open_gets_another_and_keeps_the_first(world):
    assert claim(world, after=claim(world).question).question == 2
    assert [state(world, number) for number in (1, 2)] == [AssignmentState.OPEN] * 2


def test_with_all_claimed_by_others_the_queue_is_not_empty_but_busy(world):
    for after in (None, 1, 2, 3):
        claim(world, "ruth", after=after)
    found = claim(world, "remo")
    assert (found.question, found.free_at) == (None, NOW + HALF_AN_HOUR)


def test_with_all_judged_nothing_is_left(world):
    for number in (1, 2, 3, 4):
        judge(world, "ruth", claim(world, after=number - 1 or None).question)
    found = claim(world, "remo")
    assert (found.question, found.free_at) == (None, None)


def test_a_claim_that_ran_out_goes_to_whoever_asks(world):
    for after in (None, 1, 2, 3):
        claim(world, "ruth", after=after)
    assert claim(world, "remo", now=NOW + HALF_AN_HOUR).question == 1
    assert state(world, 1) is AssignmentState.WITHDRAWN


def test_a_draft_gives_a_claim_its_full_time_again(world):
    number = claim(world).question
    with unit_of_work(world.engine) as db:
        review.save_draft(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_number=number,
            part="form",
            revision=0,
            body={},
            now=NOW + timedelta(minutes=20),
        )
    with read_only_session(world.engine) as db:
        row = db.execute(select(ClaimRow).where(ClaimRow.question_id == number)).scalar_one()
    assert row.expires_at == NOW + timedelta(minutes=50)


def test_who_comes_back_late_keeps_a_question_that_nobody_took(world):
    number = claim(world).question
    judge(world, "ruth", number, now=NOW + timedelta(hours=2))
    assert state(world, number) is AssignmentState.DONE


def test_a_verdict_that_comes_late_still_counts(world):
    for after in (None, 1, 2, 3):
        claim(world, "ruth", after=after)
    taken = claim(world, "remo", now=NOW + HALF_AN_HOUR).question
    judge(world, "ruth", taken, now=NOW + timedelta(hours=2))
    assert state(world, taken) is AssignmentState.DONE
    assert state(world, taken, "remo") is AssignmentState.OPEN


def test_a_question_handed_back_is_somebody_elses(world):
    hand_back(world, "ruth", claim(world).question)
    assert claim(world, "ruth").question == 2
    assert claim(world, "remo").question == 3
    assert claim(world, "remo", after=3).question == 4
    assert claim(world, "remo", after=4).question == 1


def test_a_question_handed_back_comes_back_when_it_is_the_last(world):
    for after in (None, 1, 2):
        judge(world, "ruth", claim(world, after=after).question)
    last = claim(world, "ruth").question
    hand_back(world, "ruth", last)
    assert claim(world, "ruth").question == last


def test_a_judged_question_is_not_handed_back(world):
    number = claim(world).question
    judge(world, "ruth", number)
    with pytest.raises(Refused, match="Only a question from a shared queue"):
        hand_back(world, "ruth", number)


def test_a_skipped_question_is_asked_of_somebody_else_and_not_again_of_the_same(world):
    number = claim(world).question
    with unit_of_work(world.engine) as db:
        review.skip_question(
            db,
            person=world.people["ruth"],
            batch_id=world.batch.id,
            question_number=number,
            reason="x",
            now=NOW,
        )
    rest = []
    while (found := claim(world, "ruth")).question is not None:
        rest.append(found.question)
        judge(world, "ruth", found.question)
    assert sorted([number, *rest]) == [1, 2, 3, 4]
    assert claim(world, "remo").question == number


def test_with_an_overlap_of_two_each_question_is_judged_by_two_people_and_by_nobody_twice(engine):
    world = make_world(engine, questions=6)
    share(world, overlap=2)
    given = Counter[int]()
    busy = True
    while busy:
        busy = False
        for name in ("ruth", "remo"):
            if (number := claim(world, name).question) is not None:
                judge(world, name, number)
                given[number] += 1
                busy = True
    assert given == dict.fromkeys(range(1, 7), 2)


def test_whoever_a_question_is_assigned_to_counts(engine):
    world = make_world(engine, questions=4, assigned_to=["rea"])
    assert share(world).added == 0
    assert share(world, overlap=2).added == 4


def test_assigning_counts_what_the_queue_asks_for(world):
    with unit_of_work(world.engine) as db:
        summary = review.assign(db, by=world.people["cora"], batch="first", to=["ruth"], now=NOW)
    assert summary.total == 0


def test_who_is_taken_out_of_the_pool_gets_nothing_more_and_their_claim_is_free(world):
    number = claim(world).question
    with unit_of_work(world.engine) as db:
        assert review.withdraw(db, by=world.people["cora"], batch="first", from_="ruth", now=NOW) == 1
    assert claim(world, "ruth").question is None
    assert claim(world, "remo").question == number
    with pytest.raises(Refused, match="unassigned or reassigned"):
        judge(world, "ruth", number)


def test_a_closed_batch_hands_nothing_out(world):
    close(world.engine, world.batch)
    assert claim(world).question is None


def test_who_is_not_in_the_pool_gets_nothing(engine):
    world = make_world(engine, questions=4)
    share(world, "ruth")
    assert claim(world, "remo").question is None


def test_a_question_of_the_queue_is_nobodys_before_it_is_claimed(world):
    with read_only_session(world.engine) as db, pytest.raises(NotFound):
        review.load_sheet(db, person=world.people["ruth"], batch_id=world.batch.id, question=2, now=NOW)


def test_the_pool_sees_the_batch_and_how_much_is_left(world):
    claim(world, "ruth")
    with read_only_session(world.engine) as db:
        [mine] = review.list_batches_for_reviewer(db, person=world.people["ruth"])
        [remos] = review.list_batches_for_reviewer(db, person=world.people["remo"])
    assert (mine.progress.left, remos.progress.left) == (4, 3)


def test_many_at_once_get_every_question_once(engine):
    world = make_world(engine, questions=60)
    share(world)

    def work(name: str) -> list[int]:
        done: list[int] = []
        while True:
            found = claim(world, name)
            if found.question is None:
                return done
            try:
                judge(world, name, found.question)
            except DomainError:  # two windows of one person show the same question: it is judged once
                continue
            done.append(found.question)

    with ThreadPoolExecutor(8) as threads:
        given = [number for part in threads.map(work, ["ruth", "remo"] * 4) for number in part]
    assert set(given) == set(world.questions)
    with read_only_session(engine) as db:
        rows = db.execute(select(ClaimRow.question_id, ClaimRow.state)).all()
    assert sorted(row.question_id for row in rows) == sorted(world.questions)
    assert {row.state for row in rows} == {"done"}
