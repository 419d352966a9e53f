"""Concurrent saves by two clicks, tabs or coordinators: one row each, or a clear refusal."""

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
from storage.rows.batches import AssignmentRow
from storage.rows.verdicts import OwnAnswerRow, VerdictRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.judgements import make_acceptance, save_verdict
from tests.storage.worlds import NOW, World, make_world

pytestmark = pytest.mark.database

CONCURRENT_CALLS = 6


@pytest.fixture
def world(engine: Engine) -> World:
    return make_world(engine, assigned_to=["ruth"])


def run_concurrently(*functions: Callable[[], object]) -> list[Any]:
    """Run all functions at the same moment; return each result or the domain error that was raised."""
    start = Barrier(len(functions))

    def run(work: Callable[[], object]) -> object:
        start.wait()
        try:
            return work()
        except DomainError as error:
            return error

    with ThreadPoolExecutor(len(functions)) as threads:
        return list(threads.map(run, functions))


def count_rows(world: World, table) -> int:
    with read_only_session(world.engine) as db:
        return db.execute(select(func.count()).select_from(table)).scalar_one()


def test_same_verdict_saved_concurrently_is_one_row(world):
    verdict = make_acceptance(world, question=1)
    results = run_concurrently(*[lambda: save_verdict(world, verdict)] * CONCURRENT_CALLS)
    assert results == [verdict] * CONCURRENT_CALLS
    assert count_rows(world, VerdictRow) == 1


def test_only_one_of_concurrent_different_verdicts_is_saved(world):
    verdicts = [make_acceptance(world, question=1, comment=f"tab {tab}") for tab in range(CONCURRENT_CALLS)]
    results = run_concurrently(
        *[lambda verdict=verdict: save_verdict(world, verdict) for verdict in verdicts]
    )
    kinds = Counter(type(result) for result in results)
    assert kinds == {Verdict: 1, StaleRevision: CONCURRENT_CALLS - 1}
    assert count_rows(world, VerdictRow) == 1


def test_only_one_of_concurrent_own_answers_is_saved(engine):
    world = make_world(engine, assigned_to=["ruth"], settings=BatchSettings(mode=Mode.ANSWER_FIRST))

    def save_own_answer(confidence: int) -> OwnAnswer:
        with unit_of_work(engine) as db:
            return review.save_own_answer(
                db,
                person=world.people["ruth"],
                batch_id=world.batch.id,
                question_row_id=1,
                answer=(0,),
                confidence=confidence,
                now=NOW,
            )

    results = run_concurrently(*[lambda value=value: save_own_answer(value) for value in (1, 2, 3, 4, 5)])
    assert Counter(type(result) for result in results) == {OwnAnswer: 1, StaleRevision: 4}
    assert count_rows(world, OwnAnswerRow) == 1


def test_concurrent_drafts_are_saved_once(world):
    def save_draft(body: str) -> int:
        with unit_of_work(world.engine) as db:
            return review.save_draft(
                db,
                person=world.people["ruth"],
                batch_id=world.batch.id,
                question_row_id=1,
                part="form",
                revision=0,
                body=body,
                now=NOW,
            )

    results = run_concurrently(*[lambda tab=tab: save_draft(f"tab {tab}") for tab in range(CONCURRENT_CALLS)])
    assert Counter(type(result) for result in results) == {int: 1, StaleRevision: CONCURRENT_CALLS - 1}


def test_concurrent_assignments_assign_every_question_once(engine):
    world = make_world(engine, questions=24)

    def assign(name: str) -> int:
        with unit_of_work(engine) as db:
            return review.assign(db, by=world.people["cora"], batch="first", to=[name], now=NOW).total

    assert sorted(run_concurrently(lambda: assign("ruth"), lambda: assign("remo"))) == [0, 24]
    assert count_rows(world, AssignmentRow) == 24


def test_verdict_concurrent_with_closing_is_saved_or_refused(world):
    def close_first_batch() -> str:
        with unit_of_work(world.engine) as db:
            return review.close_batch(db, by=world.people["cora"], batch="first", now=NOW).state

    verdict, state = run_concurrently(
        lambda: save_verdict(world, make_acceptance(world, question=1)), close_first_batch
    )
    assert state == "closed"
    assert count_rows(world, VerdictRow) == (1 if isinstance(verdict, Verdict) else 0)
