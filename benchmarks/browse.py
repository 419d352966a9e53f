"""Finding questions among 1.6 million on SQLite: words, facets, standing, the next page, count, history.

Target: at most 150 ms, median. A scan with LIKE is measured for comparison. Texts are built from a vocabulary
of 4,000 words with frequencies as in natural text (Zipf), so that there are common and rare words. ``python
-m benchmarks.browse [QUESTIONS]``. Filling the database takes minutes: ``--home FOLDER`` keeps it there, and
``--only-fill`` stops before measuring, so that the measurement can run on a quiet machine.
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
from browsing.service import Search, Standing, choices, count_found, find, history, index_questions
from browsing.service.finding import COUNTED
from domain.vocabulary import Difficulty, Task
from storage.engine import make_engine
from storage.intake.bulk import insert_rows
from storage.rows import DatasetRow, ImportRow
from storage.schema import upgrade
from storage.unit_of_work import reading, unit_of_work

QUESTIONS, MARK_MS, REPEATS = 1_600_000, 150.0, 15
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
_TASKS = ("presence", "negation", "differential", "location", "geometric")
_SHARES = (0.365, 0.361, 0.208, 0.061, 0.005)  # ReXVQA's Table 1
_WORDS = [f"word{number:04d}" for number in range(4_000)]
_COLUMNS = (
    "id", "dataset_id", "key", "exam_id", "import_id", "format", "stem", "options", "answer", "also_right",
    "explanation", "boxes", "task", "category", "difficulty", "draw_hash", "record_hash",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="?", type=int, default=QUESTIONS)
    parser.add_argument("--home", type=Path, metavar="FOLDER", help="keep the database there")
    parser.add_argument("--only-fill", action="store_true", help="measure nothing")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as passing:
        folder = args.home or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"browse-{args.questions}.sqlite"
        filled = file.is_file()
        engine = make_engine(f"sqlite:///{file}")
        upgrade(engine)
        if not filled:
            _fill(engine, args.questions)
        start, more = time.perf_counter(), True
        while more:
            with unit_of_work(engine) as db:
                more = index_questions(db)
        seconds = time.perf_counter() - start
        built = "was there" if filled else f"took {seconds:.0f} s"
        size = file.stat().st_size / 1e6
        print(f"sqlite, {args.questions:,} questions, {size:,.0f} MB with the index, which {built}")
        if not args.only_fill:
            _measure(engine, args.questions)
        engine.dispose()


def _measure(engine: Engine, questions: int) -> None:
    by, here = command_line_person(), Search(dataset="many")
    middle = questions // 2
    common, rare = _WORDS[0], _WORDS[-1]
    searches: dict[str, tuple[Search, int]] = {
        "the first page of all": (here, 0),
        "a page in the middle of all": (here, middle),
        "a common word": (Search(dataset="many", words=common), 0),
        "a rare word": (Search(dataset="many", words=rare), 0),
        "a rare word and a common one": (Search(dataset="many", words=f"{rare} {common}"), 0),
        "a phrase": (Search(dataset="many", words=f'"{_WORDS[1]} {_WORDS[2]}"'), 0),
        "the beginning of a word": (Search(dataset="many", words="word39*"), 0),
        "task and difficulty": (Search(dataset="many", task=Task.GEOMETRIC, difficulty=Difficulty.HARD), 0),
        "a category from the middle on": (Search(dataset="many", category="category 17"), middle),
        "rejected by somebody": (Search(dataset="many", standing=Standing.REJECTED), 0),
        "rejected, with a common word": (
            Search(dataset="many", words=common, standing=Standing.REJECTED), 0,
        ),
        "accepted, with a common word": (
            Search(dataset="many", words=common, standing=Standing.ACCEPTED), 0,
        ),
        "drawn and not judged": (Search(dataset="many", standing=Standing.DRAWN), middle),
        "not drawn, with a rare word": (Search(dataset="many", words=rare, standing=Standing.NOT_DRAWN), 0),
    }  # fmt: skip
    for name, (search, after) in searches.items():

        def page(search: Search = search, after: int = after) -> None:
            with reading(engine) as db:
                find(db, by=by, search=search, after=after, most=20)

        def counted(search: Search = search) -> None:
            with reading(engine) as db:
                count_found(db, by=by, search=search)

        _line(name, _median(page))
        _line(f"   its count, up to {COUNTED:,}", _median(counted))

    def told() -> None:
        with reading(engine) as db:
            history(db, by=by, question_number=middle)

    _line("the history of a question", _median(told))

    def chosen_from() -> None:
        with reading(engine) as db:
            choices(db, by=by, dataset="many")

    def scanned() -> None:
        with reading(engine) as db:
            db.execute(text(f"SELECT id FROM question WHERE stem LIKE '%{rare}%' LIMIT 20")).all()

    print("once, and then remembered, or the plain way:")
    _line("what there is to choose from", _median(chosen_from, 1), mark=None)
    _line("plain: a scan with LIKE for the rare word", _median(scanned, 3), mark=None)


def _fill(engine: Engine, questions: int) -> None:
    chance = random.Random(7)
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
        exams = -(-questions // 10)
        insert_rows(
            db, table="exam", columns=("id", "dataset_id", "key"),
            rows=((number, 1, f"E{number}") for number in range(1, exams + 1)),
        )  # fmt: skip
        insert_rows(
            db, table="radiograph", columns=("exam_id", "key", "position", "file", "view"),
            rows=((number, "pa", 0, f"E{number}.dcm", "PA") for number in range(1, exams + 1)),
        )  # fmt: skip
        pool = chance.choices(_WORDS, cum_weights=weights, k=2_000_003)
        tasks = chance.choices(_TASKS, weights=_SHARES, k=100_003)

        def rows() -> Iterator[tuple[object, ...]]:
            for number in range(1, questions + 1):
                place = number * 31 % (len(pool) - 40)
                stem, explanation = (
                    " ".join(pool[place : place + 12]),
                    " ".join(pool[place + 12 : place + 34]),
                )
                tier = ("easy", "medium", "hard")[number % 3]
                yield (
                    number, 1, f"Q{number}", (number - 1) // 10 + 1, 1, "single", stem,
                    '["Effusion","Nodule","Pneumothorax","None of these"]', "[0]", "[]", explanation, "[]",
                    tasks[number % len(tasks)], f"category {number % 34}", tier,
                    number * 2_654_435_761 % (1 << 62), number.to_bytes(16, "big"),
                )  # fmt: skip

        insert_rows(db, table="question", columns=_COLUMNS, rows=rows())
        _judge(db, questions)


def _judge(db: Session, questions: int) -> None:
    """Add a batch of every tenth question; a tenth of it is judged, and a tenth of that rejected."""
    for statement in _JUDGED:
        db.execute(text(statement.format(questions=questions)))


_JUDGED = (
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


def _median(work: Callable[[], None], repeats: int = REPEATS) -> float:
    """The median in milliseconds."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


def _line(name: str, milliseconds: float, *, mark: float | None = MARK_MS) -> None:
    missed = "" if mark is None or milliseconds <= mark else f"   MISSED (mark: {mark:.0f} ms)"
    print(f"  {name:<45} {milliseconds:12,.1f} ms{missed}", flush=True)


if __name__ == "__main__":
    main()
