"""A release of 100,000 judged questions in all its forms, beside dumping the rows that it is made from.

Mark: at least twice as fast as the plain way, which reads SQLModel rows (questions, verdicts, exams,
radiographs) and writes each as a line of JSON: one file a table, no corrections, no other forms.
``python -m benchmarks.release [QUESTIONS]``.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Engine, insert
from sqlmodel import SQLModel, select

from accounts.service import command_line_person
from release.service import write_release
from storage.engine import make_engine
from storage.rows import ExamRow, QuestionRow, RadiographRow, VerdictRow
from storage.schema import upgrade
from storage.unit_of_work import reading, unit_of_work
from storage.workspace import Workspace
from tests.storage.worlds import NOW, World, make_world

QUESTIONS, REPEATS, MARK = 100_000, 3, 2.0
_ROWS: tuple[type[SQLModel], ...] = (QuestionRow, VerdictRow, ExamRow, RadiographRow)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="?", type=int, default=QUESTIONS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        engine = make_engine(f"sqlite:///{folder}/overread.sqlite")
        upgrade(engine)
        world = _judged(engine, args.questions)
        print(f"{args.questions:,} judged questions, a tenth of them corrected; medians of {REPEATS}")
        ours = _median(lambda place: _release(world, folder, place))
        plain = _median(lambda place: _dump(engine, folder / f"dump{place}"))
        size = sum(path.stat().st_size for path in (folder / "v0").rglob("*") if path.is_file())
        print(f"release, all forms      {ours:6.2f} s   {size / 1e6:,.0f} MB")
        print(f"dumping SQLModel rows   {plain:6.2f} s   {plain / ours:.2f} times ours (mark: {MARK})")
        print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")
        engine.dispose()


def _judged(engine: Engine, questions: int) -> World:
    world = make_world(engine, questions=questions, per_exam=5)
    opinion = {
        "batch_id": world.batch.id, "person_id": world.people["ruth"].id, "revision": 1, "decision": "accept",
        "clinical_quality": 4, "explanation_clarity": 4, "factual_correctness": 4, "image_alignment": 4,
        "domain_specific": True, "cognitive_depth": True, "difficulty": "medium", "seconds": 40.0,
        "seconds_looking": 30.0, "seconds_away": 5.0, "given_at": NOW, "correction": "{}",
    }  # fmt: skip
    changed = {**opinion, "decision": "revise", "errors": '["wrong key"]', "correction": '{"answer":[0]}'}
    with unit_of_work(engine) as db:
        db.execute(
            insert(VerdictRow),
            [
                {**(changed if number % 10 == 0 else opinion), "question_id": number}
                for number in world.questions
            ],
        )
    return world


def _release(world: World, folder: Path, place: int) -> None:
    with reading(world.engine) as db:
        write_release(
            db, by=command_line_person(), dataset="demo", name=f"v{place}", out=folder / f"v{place}",
            workspace=Workspace(home=folder, database_url=""),
        )  # fmt: skip


def _dump(engine: Engine, folder: Path) -> None:
    folder.mkdir()
    with reading(engine) as db:
        for row in _ROWS:
            with (folder / f"{row.__tablename__}.jsonl").open("w", encoding="utf-8") as file:
                for each in db.exec(select(row).execution_options(yield_per=1_000)):
                    file.write(each.model_dump_json(exclude={"record_hash"}) + "\n")


def _median(work: Callable[[int], None]) -> float:
    taken = []
    for place in range(REPEATS):
        start = time.perf_counter()
        work(place)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


if __name__ == "__main__":
    main()
