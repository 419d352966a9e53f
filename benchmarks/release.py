"""Compares a release of 100,000 judged questions with dumping the SQLModel rows of the same questions.

The plain method is what a user of the tables would write without the release. It loads the rows of all judged
questions with SQLModel (question, exam, radiographs with the sizes of their images, position in the batch,
verdicts) in blocks of a thousand questions with one query per table. It writes one line of JSON per question,
and converts each row with ``model_dump_json``. Python's garbage collector is on, as by default; the release
turns it off (intake/garbage_collector.py), which contributes to the ratio. The plain method resolves no
verdicts, applies no corrections, computes no hashes, and does not sync to the disk.

Target: the release in the native format (gold.jsonl, gold.csv, corrections.jsonl, left_out.jsonl,
images.jsonl, data card, Croissant, manifest, all hashed and synced) is at least twice as fast. The time with
each other format is printed, unless excluded: ``python -m benchmarks.release [QUESTIONS] [--native-only]``.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Engine, insert
from sqlmodel import Session, SQLModel, select

from accounts.service import command_line_person
from release.service import FormatName, write_release
from storage.engine import make_engine
from storage.rows.batches import BatchQuestionRow
from storage.rows.datasets import ExamRow, ImageRow, QuestionRow, RadiographRow
from storage.rows.verdicts import VerdictRow
from storage.schema import upgrade
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import Workspace
from tests.storage.worlds import NOW, World, make_world

QUESTIONS, REPEATS, TARGET_RATIO = 100_000, 3, 2.0
Row = TypeVar("Row", bound=SQLModel)
_QUESTIONS_PER_QUERY = 1_000  # questions in memory at a time, in the plain method


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="?", type=int, default=QUESTIONS)
    parser.add_argument("--native-only", action="store_true", help="leave out the other formats")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        engine = make_engine(f"sqlite:///{folder}/overread.sqlite")
        upgrade(engine)
        world = _add_verdicts(engine, args.questions)
        print(f"{args.questions:,} judged questions, a tenth corrected; medians of {REPEATS}, alternately")
        methods: dict[str, Callable[[Path], None]] = {
            "dumping SQLModel rows": partial(_dump_rows, engine),
            "release, native": partial(_write_release, world, folder, formats=()),
        }
        if not args.native_only:
            for export_format in FormatName:
                methods[f"release, native and {export_format}"] = partial(
                    _write_release, world, folder, formats=(export_format,)
                )
            methods["release, all formats"] = partial(
                _write_release, world, folder, formats=tuple(FormatName)
            )
        durations: dict[str, list[float]] = {name: [] for name in methods}
        for round_number in range(REPEATS):
            for index, (name, run_method) in enumerate(methods.items()):
                start = time.perf_counter()
                run_method(folder / f"v{round_number}-{index}")
                durations[name].append(time.perf_counter() - start)
                if index == 1:
                    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        dump_seconds = statistics.median(durations["dumping SQLModel rows"])
        for index, (name, times) in enumerate(durations.items()):
            seconds = statistics.median(times)
            size = sum(path.stat().st_size for path in (folder / f"v0-{index}").rglob("*") if path.is_file())
            target_note = f"(target: {TARGET_RATIO})" if name == "release, native" else ""
            ratio = f"{dump_seconds / seconds:5.2f} times as fast {target_note}"
            print(f"{name:<30} {seconds:6.2f} s  {size / 1e6:5,.0f} MB  {ratio}")
        print(f"peak memory {peak:,.0f} MB")
        engine.dispose()


def _add_verdicts(engine: Engine, questions: int) -> World:
    """Add verdicts that vary like real verdicts: ratings of 3 to 5, comments on a fifth, varying times."""
    world = make_world(engine, questions=questions, per_exam=5)
    rng = random.Random(7)

    def verdict_values(number: int) -> dict[str, object]:
        is_revised = number % 10 == 0
        return {
            "batch_id": world.batch.id, "person_id": world.people["ruth"].id, "revision": 1,
            "question_id": number, "decision": "revise" if is_revised else "accept",
            "clinical_quality": rng.randint(3, 5), "explanation_clarity": rng.randint(3, 5),
            "factual_correctness": rng.randint(3, 5), "image_alignment": rng.randint(3, 5),
            "domain_specific": True, "cognitive_depth": rng.random() < 0.5, "difficulty": "medium",
            "errors": '["wrong key"]' if is_revised else "[]",
            "correction": '{"answer":[0]}' if is_revised else "{}",
            "comment": f"Seen on the lateral view too, case {number}." if number % 5 == 0 else "",
            "seconds": rng.uniform(20, 90), "seconds_looking": rng.uniform(10, 20),
            "seconds_away": 0.0, "given_at": NOW,
        }  # fmt: skip

    with unit_of_work(engine) as db:
        db.execute(insert(VerdictRow), [verdict_values(number) for number in world.questions])
    return world


def _write_release(world: World, folder: Path, out: Path, formats: Sequence[FormatName]) -> None:
    with read_only_session(world.engine) as db:
        write_release(
            db, by=command_line_person(), dataset="demo", name=out.name, out=out, formats=formats,
            workspace=Workspace(home=folder, database_url=""),
        )  # fmt: skip


def _dump_rows(engine: Engine, folder: Path) -> None:
    folder.mkdir()
    with read_only_session(engine) as db, (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        last_id = 0
        while questions := db.exec(
            select(QuestionRow)
            .where(QuestionRow.id > last_id, QuestionRow.id.in_(select(VerdictRow.question_id)))
            .order_by(QuestionRow.id)
            .limit(_QUESTIONS_PER_QUERY)
        ).all():
            last_id = questions[-1].id or 0
            _write_questions(db, questions, file.write)
            db.expunge_all()


def _write_questions(db: Session, questions: Sequence[QuestionRow], write: Callable[[str], object]) -> None:
    question_ids = [question.id for question in questions]
    exam_ids = {question.exam_id for question in questions}
    exams = {exam.id: exam for exam in db.exec(select(ExamRow).where(ExamRow.id.in_(exam_ids)))}
    radiographs = _group_by(
        db.exec(select(RadiographRow).where(RadiographRow.exam_id.in_(exam_ids))).all(), "exam_id"
    )
    files = {
        radiograph.image_sha256
        for exam_radiographs in radiographs.values()
        for radiograph in exam_radiographs
    }
    images = {
        image_row.sha256: image_row
        for image_row in db.exec(select(ImageRow).where(ImageRow.sha256.in_(files)))
    }
    batch_rows = _group_by(
        db.exec(select(BatchQuestionRow).where(BatchQuestionRow.question_id.in_(question_ids))).all(),
        "question_id",
    )
    verdicts = _group_by(
        db.exec(select(VerdictRow).where(VerdictRow.question_id.in_(question_ids))).all(), "question_id"
    )
    for question in questions:
        exam_radiographs = radiographs[question.exam_id]
        parts = (
            question.model_dump_json(exclude={"record_hash"}),
            exams[question.exam_id].model_dump_json(),
            _rows_to_json(exam_radiographs),
            _rows_to_json(
                [
                    images[radiograph.image_sha256]
                    for radiograph in exam_radiographs
                    if radiograph.image_sha256 in images
                ]
            ),
            _rows_to_json(batch_rows[question.id]),
            _rows_to_json(verdicts[question.id]),
        )
        write(
            '{{"question":{},"exam":{},"radiographs":{},"images":{},"batches":{},"verdicts":{}}}\n'.format(
                *parts
            )
        )


def _group_by(rows: Sequence[Row], column: str) -> dict[int, list[Row]]:
    groups: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        groups[getattr(row, column)].append(row)
    return groups


def _rows_to_json(rows: Sequence[SQLModel]) -> str:
    return f"[{','.join(row.model_dump_json() for row in rows)}]"


if __name__ == "__main__":
    main()
