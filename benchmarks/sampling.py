"""Compares a draw of 160,000 of 1.6 million questions, evenly over three tiers, with pandas.

Target: at most 0.25 of pandas' time. Both sides start from columns in memory; pandas has the tier as a
categorical column, which is its fastest type. The faster methods of pandas draw by position, so the result
depends on the order of rows. The pandas method that is equivalent to ours, sorting by a hash, is measured
too. Then the whole draw from a SQLite database is measured. Run ``python -m benchmarks.sampling
[QUESTIONS]``.
"""

from __future__ import annotations

import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd
from sqlalchemy import Engine, func, select

from accounts.service import command_line_person
from domain.batches import RiskDesign, SamplingPlan
from domain.vocabulary import Difficulty
from sampling.allocation import allocate
from sampling.draw import draw_questions
from sampling.service import draw_batch, preview_draw
from storage.engine import make_engine
from storage.rows.batches import BatchQuestionRow
from storage.schema import upgrade
from storage.unit_of_work import read_only_session, unit_of_work

QUESTIONS = 1_600_000
REPEATS = 16
TARGET_RATIO = 0.25
TIERS = list(Difficulty)
PLAN = SamplingPlan(seed=7)


def main(questions: int) -> None:
    rng = np.random.default_rng(1)
    hashes = rng.integers(-(2**63), 2**63 - 1, questions, dtype=np.int64)
    tiers = rng.integers(0, 3, questions).astype(np.int32)
    sizes = np.bincount(tiers, minlength=3).tolist()
    tier_column = pd.Categorical.from_codes(tiers, pd.Index([str(tier) for tier in TIERS]))
    frame = pd.DataFrame({"hash": hashes, "tier": tier_column})

    def draw_ours() -> int:
        strata = allocate({(tier, ()): size for tier, size in zip(TIERS, sizes, strict=True)}, plan=PLAN)
        counts = [stratum.drawn for stratum in strata]
        return len(
            draw_questions(
                hashes, tiers, counts_to_draw=counts, sizes=sizes, seed=PLAN.seed, question_id_at=str
            )
        )

    def sample_by_position() -> int:
        return len(frame.groupby("tier", observed=True).sample(n=questions // 30, random_state=7))

    def sample_by_tier() -> int:
        parts = [frame[frame["tier"] == tier].sample(n=questions // 30, random_state=7) for tier in TIERS]
        return len(pd.concat(parts))

    def sample_by_hash() -> int:
        return len(frame.sort_values("hash").groupby("tier", observed=True).head(questions // 30))

    print(f"{draw_ours():,} of {questions:,} questions, {REPEATS} times alternately; median (range)")
    times = _run_alternately([draw_ours, sample_by_tier, sample_by_position, sample_by_hash])
    names = ("ours", "pandas, tier by tier", "pandas, groupby.sample", "pandas, sort and head")
    for name, durations in zip(names, times, strict=True):
        print(f"  {name:<24} {_median(durations):7.1f} ms  ({min(durations):.1f} to {max(durations):.1f})")
    ratio = _median(times[0]) / min(_median(durations) for durations in times[1:])
    print(f"  ratio to the fastest     {ratio:7.3f}     target: at most {TARGET_RATIO}")
    with tempfile.TemporaryDirectory() as folder:
        _measure_database(Path(folder), hashes, tiers)


def _run_alternately(functions: list[Callable[[], int]]) -> list[list[float]]:
    """Measure each function in milliseconds. They run alternately, so that load affects all of them."""
    times: list[list[float]] = [[] for _ in functions]
    for start in range(REPEATS):
        for index in range(start, start + len(functions)):
            times[index % len(functions)].append(_time_once(functions[index % len(functions)]))
    return times


def _time_once(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def _median(times: list[float]) -> float:
    return statistics.median(times)


def _measure_database(folder: Path, hashes: np.ndarray, tiers: np.ndarray) -> None:
    engine = make_engine(f"sqlite:///{folder / 'overread.sqlite'}")
    upgrade(engine)
    _fill_database(engine, hashes, tiers)
    by = command_line_person()

    def run_preview() -> None:
        with read_only_session(engine) as db:
            preview_draw(db, by=by, dataset="many", plan=PLAN)

    def run_draw() -> None:
        with unit_of_work(engine) as db:
            draw_batch(
                db, by=by, dataset="many", plan=PLAN, batch_name="first", now=datetime(2026, 3, 2, tzinfo=UTC)
            )

    print("from SQLite, questions with text of a usual length")
    print(f"  preview                  {_median([_time_once(run_preview) for _ in range(3)]):7.0f} ms")
    print(f"  draw, and store it       {_time_once(run_draw):7.0f} ms")
    with read_only_session(engine) as db:
        count = db.execute(select(func.count(BatchQuestionRow.position))).scalar_one()
        print(f"  questions in the batch   {count:,}")
    _measure_risk_draw(engine, len(hashes))
    engine.dispose()


def _measure_risk_draw(engine: Engine, question_count: int) -> None:
    """Draw a tenth by risk, from checks and two models."""
    _fill_risk_sources(engine, question_count)
    plan = SamplingPlan(seed=8, risk=RiskDesign())

    def run_draw() -> None:
        with unit_of_work(engine) as db:
            draw_batch(
                db, by=command_line_person(), dataset="many", plan=plan, batch_name="by risk",
                now=datetime(2026, 3, 2, tzinfo=UTC),
            )  # fmt: skip

    processor_start = time.process_time()
    print(f"  draw by risk, and store  {_time_once(run_draw):7.0f} ms     target for 696,000: 10,000 ms")
    print(f"  of it processor time     {1000 * (time.process_time() - processor_start):7.0f} ms")


def _fill_database(engine: Engine, hashes: np.ndarray, tiers: np.ndarray) -> None:
    """Add questions of ReXVQA's usual length, ten per exam."""
    count = len(hashes)
    columns = (
        "id, dataset_id, key, exam_id, import_id, format, stem, options, answer, also_right, explanation, "
        "boxes, task, category, difficulty, draw_hash, record_hash"
    )
    stem = "Which of the following findings is present on this chest radiograph of an adult patient?"
    options = '["Right pleural effusion","Left lower lobe consolidation","Pneumothorax","Cardiomegaly"]'
    explanation = (
        "There is blunting of the right costophrenic angle with a meniscus, in keeping with an effusion. " * 3
    )
    with engine.begin() as connection:
        driver_connection = cast("sqlite3.Connection", connection.connection.driver_connection)
        driver_connection.execute(
            "INSERT INTO dataset (id, name, minimum_explanation, created_at) "
            "VALUES (1, 'many', 20, '2026-01-01')"
        )
        driver_connection.execute(
            "INSERT INTO import_run (id, dataset_id, file_name, file_sha256, file_format, questions, known, "
            f"refused, imported_at) VALUES (1, 1, 'many', '', 'native', {count}, 0, 0, '2026-01-01')"
        )
        driver_connection.executemany(
            "INSERT INTO exam (id, dataset_id, key) VALUES (?, 1, ?)",
            ((i, f"e{i}") for i in range(1, count // 10 + 2)),
        )
        driver_connection.executemany(
            f"INSERT INTO question ({columns}) VALUES ({', '.join('?' * 17)})",
            (
                (
                    i + 1,
                    1,
                    f"q{i:07d}",
                    i // 10 + 1,
                    1,
                    "single",
                    stem,
                    options,
                    "[0]",
                    "[]",
                    explanation,
                    "[]",
                    "presence",
                    "pleura",
                    str(TIERS[tier]),
                    draw_hash,
                    b"0" * 16,
                )
                for i, (draw_hash, tier) in enumerate(zip(hashes.tolist(), tiers.tolist(), strict=True))
            ),
        )


def _fill_risk_sources(engine: Engine, count: int) -> None:
    """Add the problems of a check in every eighth question, and the answers of two models to all."""
    with engine.begin() as connection:
        driver_connection = cast("sqlite3.Connection", connection.connection.driver_connection)
        driver_connection.executemany(
            "INSERT INTO problem (question_id, check_name, field, dataset_id, reason) "
            "VALUES (?, 'comparison', 'stem', 1, 'unchanged')",
            ((number,) for number in range(1, count + 1, 8)),
        )
        for model in (1, 2):
            driver_connection.execute(
                "INSERT INTO model (id, dataset_id, name, simulated, created_at) "
                f"VALUES ({model}, 1, 'm{model}', 0, '2026-01-01')"
            )
            driver_connection.execute(
                "INSERT INTO prediction_run (id, model_id, file_name, file_sha256, predictions, failed, "
                f"refused, imported_at) VALUES ({model}, {model}, '', '', {count}, 0, 0, '2026-01-01')"
            )
            driver_connection.executemany(
                "INSERT INTO prediction (model_id, question_id, run_id, answer, rule, explanation, boxes) "
                f"VALUES ({model}, ?, {model}, ?, '', '', '[]')",
                ((number, f"[{int(number % (5 + 2 * model) == 0)}]") for number in range(1, count + 1)),
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else QUESTIONS)
