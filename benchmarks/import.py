"""Compares the import of question records with SQLModel's `add_all` and with the bare database driver.

Targets: at least 10 times as many rows per second as `add_all`, which reads JSON into rows without checks; at
least 0.65 of the rows per second of a bare `executemany`, which gets the same rows prepared and creates the
same indexes afterwards; constant memory. All three write exams, radiographs and questions in one transaction.
Our import validates and checks the records, and it parses in a second process, so it needs two free cores.
Peak memory is measured for a new process that imports and for the process that parses. Run ``python -m
benchmarks.import [--questions N] [--full]``; ``--full`` also imports 1.6 million questions.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text
from sqlmodel import Session

from accounts.service import command_line_person
from intake.service import import_questions
from storage.engine import make_engine
from storage.intake.bulk import defer_indexes, insert_rows
from storage.rows.datasets import DatasetRow, ExamRow, ImportRow, QuestionRow, RadiographRow
from storage.schema import upgrade
from storage.unit_of_work import unit_of_work
from storage.workspace import Workspace

QUESTIONS = 800_000  # half of the real size; with fewer, starting the second process takes a larger share
FULL = 1_600_000
ROUNDS = 3
ADD_ALL_ROWS = 10_000
PER_EXAM = 10
NOW = datetime(2026, 3, 2, tzinfo=UTC)
TABLES = ("exam", "radiograph", "question")


def main(questions: int, *, full: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "many.jsonl"
        write_questions(file, questions)
        size = file.stat().st_size / questions
        print(f"{questions:,} questions, {size:.0f} bytes each, {ROUNDS} times alternately")
        prepared_rows = _load_imported_rows(folder, file)
        gc.freeze()  # the prepared rows are not part of an import: the garbage collector must not scan them
        times: dict[str, list[float]] = {"ours": [], "executemany": []}
        for _ in range(ROUNDS):
            times["ours"].append(_time_import(folder, lambda engine: _import_with_service(engine, file)))
            times["executemany"].append(
                _time_import(folder, lambda engine: _import_with_executemany(engine, prepared_rows))
            )
        records = [json.loads(line) for line in file.read_text().splitlines()[:ADD_ALL_ROWS]]
        add_all_seconds = statistics.median(
            _time_import(folder, lambda engine: _import_with_add_all(engine, records)) for _ in range(3)
        )
        our_rate, bare_rate = (questions / statistics.median(times[name]) for name in ("ours", "executemany"))
        for method, durations in times.items():
            low, high = questions / max(durations), questions / min(durations)
            rate = questions / statistics.median(durations)
            print(f"  {method:<12} {rate:9,.0f} rows/s   ({low:,.0f} to {high:,.0f})")
        print(f"  {'add_all':<12} {ADD_ALL_ROWS / add_all_seconds:9,.0f} rows/s   ({ADD_ALL_ROWS:,} rows)")
        print(f"  ours / executemany  {our_rate / bare_rate:6.2f}     target: at least 0.65")
        print(
            f"  ours / add_all      {our_rate * add_all_seconds / ADD_ALL_ROWS:6.1f}     target: at least 10"
        )
        print("peak memory of a new process, and (upper bound) of the process that parses")
        _print_memory(file, questions)
        if full:
            write_questions(file, FULL)
            _print_memory(file, FULL)


def write_questions(path: Path, count: int) -> None:
    """Write native records of ReXVQA's usual length: ten per exam, and two radiographs per exam."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            exam = number // PER_EXAM
            record = {
                "id": f"q{number:08d}",
                "exam": {
                    "id": f"e{exam:07d}",
                    "patient": f"p{exam // 2:07d}",
                    "indication": "Cough and fever for three days, crackles on the left.",
                    "age": "058Y",
                    "sex": "F",
                    "radiographs": [
                        {"id": "1", "file": f"{exam % 100:02d}/{exam}-1.png", "view": "PA"},
                        {"id": "2", "file": f"{exam % 100:02d}/{exam}-2.png", "view": "LATERAL"},
                    ],
                },
                "format": "single",
                "stem": "Which of the following findings is present in the left lower lung zone?",
                "options": [
                    "Pleural effusion",
                    "Pneumothorax",
                    "Consolidation",
                    "None of the findings named",
                ],
                "answer": [number % 4],
                "explanation": "An airspace opacity with air bronchograms lies in the left lower zone.",
                "boxes": [{"radiograph": "1", "label": "left lower zone", "box": [100.5, 200, 300, 400.25]}],
                "task": "location",
                "category": "Lung opacity",
                "subcategory": "Consolidation",
                "difficulty": ("easy", "medium", "hard")[number % 3],
                "source": {"generator": "a model", "version": "1", "prompt_version": "12"},
            }
            file.write(json.dumps(record) + "\n")


def _import_with_service(engine: Engine, file: Path) -> None:
    workspace = Workspace(home=file.parent / "home", database_url=str(engine.url))
    with unit_of_work(engine) as db:
        import_questions(
            db, by=command_line_person(), path=file, dataset="many", images=None, workspace=workspace, now=NOW
        )


def _import_with_executemany(
    engine: Engine, rows: dict[str, tuple[list[str], list[tuple[Any, ...]]]]
) -> None:
    with unit_of_work(engine) as db:
        _add_parents(db)
        with defer_indexes(db, enabled=True):
            for table, (columns, values) in rows.items():
                for start in range(0, len(values), 10_000):
                    insert_rows(db, table=table, columns=columns, rows=values[start : start + 10_000])


def _import_with_add_all(engine: Engine, records: list[dict[str, Any]]) -> None:
    with unit_of_work(engine) as db:
        _add_parents(db)
        row_id_by_exam: dict[str, int] = {}
        rows: list[ExamRow | RadiographRow | QuestionRow] = []
        for number, record in enumerate(
            (json.loads(json.dumps(source_record)) for source_record in records), start=1
        ):
            exam = record["exam"]
            if exam["id"] not in row_id_by_exam:
                row_id_by_exam[exam["id"]] = len(row_id_by_exam) + 1
                exam_values = {name: exam[name] for name in ("patient", "indication", "age", "sex")}
                rows.append(ExamRow(id=len(row_id_by_exam), dataset_id=1, key=exam["id"], **exam_values))
                for position, radiograph in enumerate(exam["radiographs"]):
                    rows.append(
                        RadiographRow(
                            exam_id=len(row_id_by_exam),
                            key=radiograph["id"],
                            position=position,
                            file=radiograph["file"],
                            view=radiograph["view"],
                        )
                    )
            rows.append(
                QuestionRow(
                    id=number,
                    dataset_id=1,
                    key=record["id"],
                    exam_id=row_id_by_exam[exam["id"]],
                    import_id=1,
                    format=record["format"],
                    stem=record["stem"],
                    options=json.dumps(record["options"]),
                    answer=json.dumps(record["answer"]),
                    explanation=record["explanation"],
                    boxes=json.dumps(record["boxes"]),
                    task=record["task"],
                    category=record["category"],
                    subcategory=record["subcategory"],
                    difficulty=record["difficulty"],
                    generator=record["source"]["generator"],
                    generator_version=record["source"]["version"],
                    prompt_version=record["source"]["prompt_version"],
                    draw_hash=number,
                    record_hash=b"0" * 16,
                )
            )
        db.add_all(rows)


def _add_parents(db: Session) -> None:
    db.add(DatasetRow(id=1, name="many", created_at=NOW))
    db.flush()
    db.add(
        ImportRow(
            id=1, dataset_id=1, file_name="", file_sha256="", file_format="", questions=0, known=0, refused=0,
            imported_at=NOW,
        )
    )  # fmt: skip
    db.flush()


def _load_imported_rows(folder: Path, file: Path) -> dict[str, tuple[list[str], list[tuple[Any, ...]]]]:
    """Load the rows that an import writes, by table."""
    with _open_fresh_database(folder) as engine:
        _import_with_service(engine, file)
        rows_by_table = {}
        with engine.connect() as connection:
            for table in TABLES:
                result = connection.execute(text(f"SELECT * FROM {table}"))
                rows_by_table[table] = (list(result.keys()), [tuple(row) for row in result])
    return rows_by_table


@contextmanager
def _open_fresh_database(folder: Path) -> Iterator[Engine]:
    path = folder / "overread.sqlite"
    engine = make_engine(f"sqlite:///{path}")
    upgrade(engine)
    yield engine
    engine.dispose()
    for database_file in folder.glob("overread.sqlite*"):
        database_file.unlink()


def _time_import(folder: Path, work: Any) -> float:  # noqa: ANN401 - a function of an engine
    with _open_fresh_database(folder) as engine:
        start = time.perf_counter()
        work(engine)
        return time.perf_counter() - start


def _print_memory(file: Path, questions: int) -> None:
    command = [sys.executable, "-m", "benchmarks.import", "--one", str(file)]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, cwd=Path.cwd()).stdout)  # noqa: S603 - this module
    rate = questions / result["seconds"]
    print(
        f"  {questions:9,} questions  {result['own']:5.0f} MB  {result['parser']:5.0f} MB   {rate:9,.0f}"
        " rows/s"
    )


def _measure_one_import(file: Path) -> None:
    """Import once and print the seconds and the peak of resident memory in MB."""
    seconds = _time_import(file.parent, lambda engine: _import_with_service(engine, file))
    # getrusage would report the peak of the parent process if that was higher.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    own_memory = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024
    parser_memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "own": own_memory, "parser": parser_memory}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        _measure_one_import(args.one)
    else:
        main(args.questions, full=args.full)
