"""Measures searches among 1.6 million questions on SQLite: words, filters, status, next page, count, history.

Target: a median of at most 150 ms. A scan with LIKE is measured for comparison. Texts are made from a
vocabulary of 4,000 words with the frequencies of natural text (Zipf), so that there are common and rare
words. Run ``python -m benchmarks.browse [QUESTIONS]``. Filling the database takes minutes: ``--home FOLDER``
keeps the database in a folder, and ``--only-fill`` ends without measuring, so that the measurement can run
later.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path

from sqlalchemy import Engine, text
from sqlmodel import Session

from accounts.service import command_line_person
from browsing.service import (
    QuestionStatus,
    Search,
    count_matches,
    index_questions,
    load_filter_choices,
    load_history,
    search_questions,
)
from browsing.service.search import MAX_COUNTED
from domain.vocabulary import Difficulty, Task
from storage.engine import make_engine
from storage.intake.bulk import insert_rows
from storage.rows.datasets import DatasetRow, ImportRow
from storage.schema import upgrade
from storage.unit_of_work import read_only_session, unit_of_work

QUESTIONS, TARGET_MS, REPEATS = 1_600_000, 150.0, 15
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_TASKS = ("presence", "negation", "differential", "location", "geometric")
_TASK_SHARES = (0.365, 0.361, 0.208, 0.061, 0.005)  # ReXVQA's Table 1
_WORDS = [f"word{number:04d}" for number in range(4_000)]
_COLUMNS = (
    "id", "dataset_id", "key", "exam_id", "import_id", "format", "stem", "options", "answer", "also_right",
    "explanation", "boxes", "task", "category", "difficulty", "draw_hash", "record_hash",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="?", type=int, default=QUESTIONS)
    parser.add_argument("--home", type=Path, metavar="FOLDER", help="folder in which the database is kept")
    parser.add_argument("--only-fill", action="store_true", help="fill the database without measuring")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.home or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"browse-{args.questions}.sqlite"
        was_filled = file.is_file()
        engine = make_engine(f"sqlite:///{file}")
        upgrade(engine)
        if not was_filled:
            _fill_database(engine, args.questions)
        start, has_more = time.perf_counter(), True
        while has_more:
            with unit_of_work(engine) as db:
                has_more = index_questions(db)
        seconds = time.perf_counter() - start
        index_note = "existed already" if was_filled else f"took {seconds:.0f} s"
        size = file.stat().st_size / 1e6
        print(f"sqlite, {args.questions:,} questions, {size:,.0f} MB with the index, which {index_note}")
        if not args.only_fill:
            _measure_searches(engine, args.questions)
        engine.dispose()


def _measure_searches(engine: Engine, question_count: int) -> None:
    by, all_questions = command_line_person(), Search(dataset="many")
    middle = question_count // 2
    common, rare = _WORDS[0], _WORDS[-1]
    searches: dict[str, tuple[Search, int]] = {
        "the first page of all questions": (all_questions, 0),
        "a page in the middle of all questions": (all_questions, middle),
        "a common word": (Search(dataset="many", words=common), 0),
        "a rare word": (Search(dataset="many", words=rare), 0),
        "a rare word and a common one": (Search(dataset="many", words=f"{rare} {common}"), 0),
        "a phrase": (Search(dataset="many", words=f'"{_WORDS[1]} {_WORDS[2]}"'), 0),
        "the beginning of a word": (Search(dataset="many", words="word39*"), 0),
        "task and difficulty": (Search(dataset="many", task=Task.GEOMETRIC, difficulty=Difficulty.HARD), 0),
        "a category from the middle on": (Search(dataset="many", category="category 17"), middle),
        "rejected by somebody": (Search(dataset="many", status=QuestionStatus.REJECTED), 0),
        "rejected, with a common word": (
            Search(dataset="many", words=common, status=QuestionStatus.REJECTED),
            0,
        ),
        "accepted, with a common word": (
            Search(dataset="many", words=common, status=QuestionStatus.ACCEPTED),
            0,
        ),
        "drawn and not judged": (Search(dataset="many", status=QuestionStatus.DRAWN), middle),
        "not drawn, with a rare word": (
            Search(dataset="many", words=rare, status=QuestionStatus.NOT_DRAWN),
            0,
        ),
    }
    for name, (search, after) in searches.items():

        def find_page(search: Search = search, after: int = after) -> None:
            with read_only_session(engine) as db:
                search_questions(db, by=by, search=search, after=after, most=20)

        def count_once(search: Search = search) -> None:
            with read_only_session(engine) as db:
                count_matches(db, by=by, search=search)

        _print_duration(name, _median_milliseconds(find_page))
        _print_duration(f"   its count, up to {MAX_COUNTED:,}", _median_milliseconds(count_once))

    def read_history() -> None:
        with read_only_session(engine) as db:
            load_history(db, by=by, question_row_id=middle)

    _print_duration("the history of a question", _median_milliseconds(read_history))

    def load_choices() -> None:
        with read_only_session(engine) as db:
            load_filter_choices(db, by=by, dataset="many")

    def scan_with_like() -> None:
        with read_only_session(engine) as db:
            db.execute(text(f"SELECT id FROM question WHERE stem LIKE '%{rare}%' LIMIT 20")).all()

    print("cached after the first time, and the plain way:")
    _print_duration("the values to filter by", _median_milliseconds(load_choices, 1), target=None)
    _print_duration(
        "plain: a scan with LIKE for the rare word", _median_milliseconds(scan_with_like, 3), target=None
    )


def _fill_database(engine: Engine, question_count: int) -> None:
    rng = random.Random(7)
    weights = list(accumulate(1 / rank for rank in range(1, len(_WORDS) + 1)))
    with unit_of_work(engine) as db:
        db.add(DatasetRow(id=1, name="many", created_at=NOW))
        db.flush()
        db.add(
            ImportRow(
                id=1, dataset_id=1, file_name="many", file_sha256="", file_format="native", questions=0,
                known=0, refused=0, imported_at=NOW,
            )
        )  # fmt: skip
        db.flush()
        exam_count = -(-question_count // 10)
        insert_rows(
            db, table="exam", columns=("id", "dataset_id", "key"),
            rows=((number, 1, f"E{number}") for number in range(1, exam_count + 1)),
        )  # fmt: skip
        insert_rows(
            db, table="radiograph", columns=("exam_id", "key", "position", "file", "view"),
            rows=((number, "pa", 0, f"E{number}.dcm", "PA") for number in range(1, exam_count + 1)),
        )  # fmt: skip
        pool = rng.choices(_WORDS, cum_weights=weights, k=2_000_003)
        tasks = rng.choices(_TASKS, weights=_TASK_SHARES, k=100_003)

        def question_rows() -> Iterator[tuple[object, ...]]:
            for number in range(1, question_count + 1):
                start = number * 31 % (len(pool) - 40)
                stem, explanation = (
                    " ".join(pool[start : start + 12]),
                    " ".join(pool[start + 12 : start + 34]),
                )
                tier = ("easy", "medium", "hard")[number % 3]
                yield (
                    number, 1, f"Q{number}", (number - 1) // 10 + 1, 1, "single", stem,
                    '["Effusion","Nodule","Pneumothorax","None of these"]', "[0]", "[]", explanation, "[]",
                    tasks[number % len(tasks)], f"category {number % 34}", tier,
                    number * 2_654_435_761 % (1 << 62), number.to_bytes(16, "big"),
                )  # fmt: skip

        insert_rows(db, table="question", columns=_COLUMNS, rows=question_rows())
        _add_judged_batch(db, question_count)


def _add_judged_batch(db: Session, questions: int) -> None:
    """Add a batch with every tenth question; every tenth of these is judged, every tenth verdict rejects."""
    for statement in _JUDGED_BATCH_STATEMENTS:
        db.execute(text(statement.format(questions=questions)))


_JUDGED_BATCH_STATEMENTS = (
    """INSERT INTO person (id, name, display_name, created_at, demo)
    VALUES (1, 'ruth', 'Ruth', '2026-03-02', 0)""",
    """INSERT INTO batch (id, name, dataset_id, seed, plan, mode, parts, show_report, guideline, anchors,
        state, revision, created_at)
    VALUES (1, 'b', 1, 1, '{{}}', 'judge', 'all', 0, '', '{{}}', 'open', 1, '2026-03-02')""",
    """INSERT INTO draw (id, batch_id, number, frame_after, frame_through, frame_size, drawn_at)
    VALUES (1, 1, 1, 0, {questions}, {questions}, '2026-03-02')""",
    """INSERT INTO batch_question (batch_id, question_id, draw_id, stratum, inclusion_probability, position)
    SELECT 1, id, 1, difficulty, 0.1, id / 10 FROM question WHERE id % 10 = 0""",
    """INSERT INTO verdict (batch_id, question_id, person_id, revision, decision, errors, correction,
        clinical_reasoning, comment, why, seconds, seconds_looking, seconds_away, given_at)
    SELECT 1, id, 1, 1, CASE WHEN id % 1000 = 0 THEN 'reject' ELSE 'accept' END, '[]', '{{}}', '', 'no', '',
        30, 20, 0, '2026-03-02' FROM question WHERE id % 100 = 0""",
    "ANALYZE",
)


def _median_milliseconds(work: Callable[[], None], repeats: int = REPEATS) -> float:
    """Measure the median duration in milliseconds."""
    durations = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        durations.append(time.perf_counter() - start)
    return statistics.median(durations) * 1000


def _print_duration(name: str, milliseconds: float, *, target: float | None = TARGET_MS) -> None:
    target_note = "" if target is None or milliseconds <= target else f"   MISSED (target: {target:.0f} ms)"
    print(f"  {name:<45} {milliseconds:12,.1f} ms{target_note}", flush=True)


if __name__ == "__main__":
    main()
