"""Measures the checks of 696,000 questions, and a rerun after 1,000 new ones.

Targets: at most 60 s for all structural and rule-based checks on two cores, and at most 2 s for the rerun.
Questions, explanations and reports are written from a seed: each text has its own findings, places and sizes,
so that caches of texts help as little as with real questions. Run
``python -m benchmarks.checks [QUESTIONS] [--processes N]``. The load of the machine is printed with the
figures, because other work on the same cores slows the checks down.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlmodel import Session

from accounts.service import command_line_person
from parallel.executors import open_executor
from quality.service import CheckRun, finish_run, load_check_report, run_checks
from storage.engine import make_engine
from storage.intake.bulk import insert_rows
from storage.rows.datasets import DatasetRow, ImportRow
from storage.schema import upgrade
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import driver_url
from terminology.findings import FindingTerm, load_findings

QUESTIONS, NEW, PER_EXAM, SEED = 696_000, 1_000, 4, 20
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_PLACES = [
    f"{side} {part}" for side in ("left", "right") for part in ("upper lobe", "lower lobe", "lung base")
]
_SIZES = ("small", "moderate", "large", "subtle", "ill-defined")
_TASKS = ("presence", "negation", "location", "differential")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="?", type=int, default=QUESTIONS)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        engine = make_engine(driver_url(f"sqlite:///{Path(folder) / 'checks.db'}"))
        upgrade(engine)
        rng = random.Random(SEED)
        with unit_of_work(engine) as db:
            _add_dataset(db)
            _add_questions(db, rng, first=1, count=args.questions)
        print(
            f"{args.questions:,} questions, {args.processes} processes, load {os.getloadavg()[0]:.1f} before"
        )
        run = _measure(engine, "all questions, structural and rule-based checks", args.processes)
        print(f"    {run.message}")
        with unit_of_work(engine) as db:
            _add_questions(db, rng, first=args.questions + 1, count=NEW)
        _measure(engine, f"rerun after {NEW:,} new questions", args.processes)
        _measure(engine, "rerun without new questions", args.processes)
        start = time.perf_counter()
        with read_only_session(engine) as db:
            load_check_report(db, by=command_line_person(), dataset="many")
        print(f"counts of the page: {time.perf_counter() - start:.1f} s")
        print(f"load {os.getloadavg()[0]:.1f} after, on {os.cpu_count()} processors")


def _measure(engine: Engine, name: str, processes: int) -> CheckRun:
    start, start_cpu = time.perf_counter(), _read_cpu_seconds()
    arguments: dict[str, Any] = {
        "by": command_line_person(),
        "dataset": "many",
        "clock": lambda: NOW,
        "read_session": lambda: read_only_session(engine),
        "transaction": lambda: unit_of_work(engine),
    }
    if processes == 1 or "rerun" in name:
        run = run_checks(**arguments)
    else:
        with open_executor(str(processes)) as executor:
            run = run_checks(**arguments, executor=executor)
    with unit_of_work(engine) as db:
        finish_run(db, by=command_line_person(), run=run, now=NOW)
    elapsed_seconds, used_cpu_seconds = time.perf_counter() - start, _read_cpu_seconds() - start_cpu
    print(f"{name}: {elapsed_seconds:.1f} s, {used_cpu_seconds:.1f} s of processor time")
    return run


def _read_cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _add_dataset(db: Session) -> None:
    db.add(DatasetRow(id=1, name="many", created_at=NOW))
    db.flush()
    db.add(
        ImportRow(
            id=1, dataset_id=1, file_name="many", file_sha256="", file_format="native", questions=0, known=0,
            refused=0, imported_at=NOW,
        )
    )  # fmt: skip
    db.flush()


def _add_questions(db: Session, rng: random.Random, *, first: int, count: int) -> None:
    """Add questions with ids from ``first`` on, and one exam with a report for every four questions."""
    terms = list(load_findings().values())
    exams = range(first, first + count, PER_EXAM)
    insert_rows(
        db,
        table="exam",
        columns=("id", "dataset_id", "key", "report"),
        rows=((number, 1, f"E{number}", _write_report(rng, terms)) for number in exams),
    )
    insert_rows(
        db,
        table="question",
        columns=(
            "id", "dataset_id", "key", "exam_id", "import_id", "format", "stem", "options", "answer",
            "also_right", "explanation", "boxes", "task", "category", "difficulty", "draw_hash",
            "record_hash",
        ),
        rows=_write_questions(rng, terms, first=first, count=count),
    )  # fmt: skip


def _write_questions(
    rng: random.Random, terms: list[FindingTerm], *, first: int, count: int
) -> Iterator[tuple[Any, ...]]:
    for number in range(first, first + count):
        key, *others = rng.sample(terms, 4)
        place, size = rng.choice(_PLACES), rng.choice(_SIZES)
        task = rng.choice(_TASKS)
        age = rng.randint(18, 95)
        stem = (
            f"Which of these findings is absent in this patient of {age} years with {others[0].noun} number "
            f"{number % 9973}?"
            if task == "negation"
            else f"Which finding is shown in the {place} at {age} years, exam {number % 99991}?"
        )
        options = [f"{size} {term.noun}".capitalize() for term in (key, *others)]
        explanation = (
            f"A {size} {key.noun} of {rng.randint(4, 60)} mm is seen in the {place}. {key.sign} "
            f"There is no {others[1].noun}."
        )
        yield (
            number, 1, f"Q{number}", first + (number - first) // PER_EXAM * PER_EXAM, 1, "single", stem,
            json.dumps(options), "[0]", "[]", explanation, "[]", task, key.category, "medium", number, b"",
        )  # fmt: skip


def _write_report(rng: random.Random, terms: list[FindingTerm]) -> str:
    stated, negated = rng.sample(terms, 3), rng.sample(terms, 3)
    sentences = [
        *(
            f"{rng.choice(_SIZES).capitalize()} {term.noun} in the {rng.choice(_PLACES)}, "
            f"about {rng.randint(4, 60)} mm."
            for term in stated
        ),
        *(f"No {term.noun}." for term in negated),
        f"Comparison: none. Heart size {rng.choice(('normal', 'at the upper limit'))}.",
    ]
    return " ".join(sentences)


if __name__ == "__main__":
    main()
