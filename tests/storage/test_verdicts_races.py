"""Concurrent saves by two clicks, tabs or coordinators: one row each, or a clear refusal. Both databases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import Engine, func, select

from domain.batches import BatchSettings, Mode
from domain.errors import DomainError, StaleRevision
from domain.verdicts import OwnAnswer, Verdict
from review import service as review
from storage.rows import AssignmentRow, OwnAnswerRow, VerdictRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import accept, give
from tests.storage.worlds import NOW, World, make_world

AT_ONCE = 6


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, assigned_to=["ruth"])


def at_once(*works: Callable[[], object]) -> list[Any]:
    """Run all functions at the same moment; each result, or the domain error that was raised."""
    start = Barrier(len(works))

    def run(work: Callable[[], object]) -> object:
        start.wait()
        try:
            return work()
        except DomainError as error:
            return error

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(run, works))


def rows(world: World, table) -> int:
    with read_only_session(world.engine) as db:
        return db.execute(select(func.count()).select_from(table)).scalar_one()


def test_one_verdict_clicked_many_times_at_once_is_one_row_and_every_click_gets_it(world):
    verdict = accept(world, question=1)
    found = at_once(*[lambda: give(world, verdict)] * AT_ONCE)
    assert found == [verdict] * AT_ONCE
    assert rows(world, VerdictRow) == 1


def test_of_many_different_verdicts_at_once_one_is_saved_and_the_others_are_told(world):
    verdicts = [accept(world, question=1, comment=f"tab {tab}") for tab in range(AT_ONCE)]
    found = at_once(*[lambda verdict=verdict: give(world, verdict) for verdict in verdicts])
    kinds = Counter(type(each) for each in found)
    assert kinds == {Verdict: 1, StaleRevision: AT_ONCE - 1}
    assert rows(world, VerdictRow) == 1


def test_of_many_own_answers_at_once_one_is_kept(engine):
    world = make_world(engine, assigned_to=["ruth"], settings=BatchSettings(mode=Mode.ANSWER_FIRST))

    def commit(confidence: int) -> OwnAnswer:
        with unit_of_work(engine) as db:
            return review.save_own_answer(
                db,
                person=world.people["ruth"],
                batch_id=world.batch.id,
                question_number=1,
                answer=(0,),
                confidence=confidence,
                now=NOW,
            )

    found = at_once(*[lambda value=value: commit(value) for value in (1, 2, 3, 4, 5)])
    assert Counter(type(each) for each in found) == {OwnAnswer: 1, StaleRevision: 4}
    assert rows(world, OwnAnswerRow) == 1


def test_drafts_from_two_tabs_at_once_are_kept_once(world):
    def keep(body: str) -> int:
        with unit_of_work(world.engine) as db:
            return review.save_draft(
                db,
                person=world.people["ruth"],
                batch_id=world.batch.id,
                question_number=1,
                part="form",
                revision=0,
                body=body,
                now=NOW,
            )

    found = at_once(*[lambda tab=tab: keep(f"tab {tab}") for tab in range(AT_ONCE)])
    assert Counter(type(each) for each in found) == {int: 1, StaleRevision: AT_ONCE - 1}


def test_two_coordinators_at_once_give_no_question_out_twice(engine):
    world = make_world(engine, questions=24)

    def assign(name: str) -> int:
        with unit_of_work(engine) as db:
            return review.assign(db, by=world.people["cora"], batch="first", to=[name], now=NOW).total

    assert sorted(at_once(lambda: assign("ruth"), lambda: assign("remo"))) == [0, 24]
    assert rows(world, AssignmentRow) == 24


def test_a_verdict_and_the_closing_of_its_batch_at_once_leave_one_truth(world):
    def close() -> str:
        with unit_of_work(world.engine) as db:
            return review.close_batch(db, by=world.people["cora"], batch="first", now=NOW).state

    verdict, state = at_once(lambda: give(world, accept(world, question=1)), close)
    assert state == "closed"
    assert rows(world, VerdictRow) == (1 if isinstance(verdict, Verdict) else 0)
