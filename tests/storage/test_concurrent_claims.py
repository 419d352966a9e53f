"""A short run of benchmarks/claims.py: concurrent claims give no duplicate and no false "empty"."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from sqlalchemy import Engine, func, select

from benchmarks.claims import ClaimResults, claim_and_judge, fill_queue
from storage.rows.claims import ClaimRow
from storage.unit_of_work import read_only_session

pytestmark = pytest.mark.database


@pytest.mark.slow
def test_eight_concurrent_workers_claim_every_question_twice(
    engine: Engine,
) -> None:
    people, total = fill_queue(engine, questions=30, workers=8, overlap=2), ClaimResults()
    with ThreadPoolExecutor(len(people)) as threads:
        for results in threads.map(partial(claim_and_judge, engine), people):
            total.add(results)
    with read_only_session(engine) as db:
        done_count = db.execute(select(func.count()).where(ClaimRow.state == "done")).scalar_one()
    assert (len(total.kept_claims), done_count, total.count_excess(2), total.false_empty_count) == (
        60,
        60,
        0,
        0,
    )
