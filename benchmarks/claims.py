"""Many workers claim questions from one shared queue at once, on both databases, compared with a naive way.

32 workers (processes and threads) claim 10,000 questions until nothing is left; one claim in twenty is handed
back. Targets: no question goes to more people than the overlap requires, and no worker gets "nothing is left"
while a question is free or claimed by somebody who may hand it back. The naive way reads the first free
question and then writes that it is taken, ignoring the others.

    python -m benchmarks.claims [--questions 10000] [--workers 32] [--overlap 1] [--databases sqlite postgres]

The naive way has only the first --naive (1,000) questions: it gives each out many times, and would take far
longer.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from sqlalchemy import Engine, Select, func, select, update
from sqlmodel import Session

from accounts.service import command_line_person
from benchmarks.soak_world import Place, postgres_place, sqlite_place
from domain.batches import AssignmentState
from domain.errors import NotNow
from domain.people import Person, Role
from review import service as review
from storage.accounts.people import insert_person
from storage.engine import make_engine
from storage.review import assignments, claims
from storage.rows import ClaimRow
from storage.unit_of_work import reading, unit_of_work
from tests.storage.worlds import make_world

BATCH = 1
_HANDED_BACK = 0.05
_PLACES = {"sqlite": sqlite_place, "postgres": postgres_place}


Way = Callable[[Engine, Person], "Found"]


@dataclass(slots=True, kw_only=True)
class Found:
    """The workers' results: who kept which question, and how often "nothing is left" was wrong."""

    kept: list[tuple[int, int]] = field(default_factory=list)
    claims: int = 0
    busy: int = 0
    falsely_empty: int = 0
    tried_again: int = 0
    seconds: list[float] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Merge the results of another worker."""
        self.kept += other.kept
        self.seconds += other.seconds
        self.claims += other.claims
        self.busy += other.busy
        self.falsely_empty += other.falsely_empty
        self.tried_again += other.tried_again

    def beyond(self, overlap: int) -> int:
        """Questions that more people have than the overlap requires, or one person twice."""
        people = Counter(question for _, question in self.kept)
        return (
            sum(max(0, count - overlap) for count in people.values()) + len(self.kept) - len(set(self.kept))
        )


def furnish(engine: Engine, *, questions: int, workers: int, overlap: int) -> list[Person]:
    """A batch of that many questions, five per exam, with a shared queue for that many reviewers."""
    make_world(engine, questions=questions, per_exam=5)
    now = datetime.now(UTC)
    with unit_of_work(engine) as db:
        people = [
            insert_person(
                db, name=f"worker-{number:02d}", display_name=f"Worker {number}",
                roles=frozenset({Role.REVIEWER}), password_hash=None, demo=False, now=now,
            )
            for number in range(workers)
        ]  # fmt: skip
        review.share_batch(
            db,
            by=command_line_person(),
            batch="first",
            to=[each.name for each in people],
            overlap=overlap,
            now=now,
        )
    return people


def work(engine: Engine, person: Person) -> Found:
    """Claim questions and judge them or hand them back, until nothing is left."""
    found, before, chance = Found(), None, random.Random(person.id)
    while True:
        begun = time.perf_counter()
        try:
            claim, left = _claim(engine, person, before)
        except NotNow:  # SQLite ends the wait of a writer after 30 s; the person tries again
            found.tried_again += 1
            continue
        found.seconds.append(time.perf_counter() - begun)
        before = None
        if claim.question is not None:
            found.claims += 1
            if chance.random() < _HANDED_BACK and _handed_back(engine, person, claim.question):
                continue
            found.kept.append((person.id, claim.question))
            before = claim.question
        elif claim.free_at is not None:
            found.busy += 1
            time.sleep(0.02)
        else:
            found.falsely_empty += bool(left)
            return found


def _claim(engine: Engine, person: Person, before: int | None) -> tuple[review.NextClaim, int | None]:
    """The next question; if there is none, the number that this person could still have had."""
    with unit_of_work(engine) as db:
        if before is not None:
            _judged(db, person, before)
        claim = review.claim_next(db, person=person, batch_id=BATCH, after=before, now=datetime.now(UTC))
        return claim, None if claim.question or claim.free_at else _left(db, person)


def _handed_back(engine: Engine, person: Person, question: int) -> bool:
    try:
        with unit_of_work(engine) as db:
            review.hand_back(
                db, person=person, batch_id=BATCH, question_number=question, now=datetime.now(UTC)
            )
    except NotNow:
        return False
    return True


def work_naively(engine: Engine, person: Person) -> Found:
    """Read the first free question, then write that it is taken."""
    found = Found()
    while True:
        begun = time.perf_counter()
        with reading(engine) as db:
            free = select(ClaimRow.question_id, ClaimRow.turn).where(ClaimRow.state == claims.ClaimState.FREE)
            first = db.execute(free.order_by(ClaimRow.turn, ClaimRow.position).limit(1)).first()
        if first is None:
            return found
        this = (ClaimRow.question_id == first.question_id, ClaimRow.turn == first.turn)
        taken = update(ClaimRow).where(*this)
        try:
            with unit_of_work(engine) as db:
                db.execute(taken.values(state=claims.ClaimState.DONE.value, person_id=person.id))
        except NotNow:
            found.tried_again += 1
            continue
        found.seconds.append(time.perf_counter() - begun)
        found.claims += 1
        found.kept.append((person.id, first.question_id))


def all_together(url: str, people: list[Person], way: Way, *, processes: int) -> Found:
    """Run all workers at once, spread over that many processes."""
    total = Found()
    parts = [people[number::processes] for number in range(processes)]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for part in pool.map(partial(_one_process, url, way), [part for part in parts if part]):
            total.add(part)
    return total


def _one_process(url: str, way: Way, people: list[Person]) -> Found:
    engine, total = make_engine(url), Found()
    with ThreadPoolExecutor(len(people)) as threads:
        for part in threads.map(partial(way, engine), people):
            total.add(part)
    engine.dispose()
    return total


def _judged(db: Session, person: Person, question: int) -> None:
    """Change the queue as a verdict does, without saving one."""
    claims.finish(db, batch_id=BATCH, question_id=question, person_id=person.id)
    assignments.set_state(
        db, person_id=person.id, batch_id=BATCH, question_ids=[question], state=AssignmentState.DONE,
        now=datetime.now(UTC),
    )  # fmt: skip


def _left(db: Session, person: Person) -> int:
    """Open judgements, free or claimed by somebody, that this person could take."""
    mine = claims.others_hold(db, batch_id=BATCH, person_id=person.id)
    return claims.count_takeable(db, batch_id=BATCH, person_id=person.id) + bool(mine)


def measure(place: Place, *, questions: int, naive: int, workers: int, overlap: int, processes: int) -> bool:
    """Measure and print both ways on one database; return whether the targets are met."""
    people = furnish(place.engine, questions=questions, workers=workers, overlap=overlap)
    begun = time.perf_counter()
    found = all_together(place.database_url, people, work, processes=processes)
    took = time.perf_counter() - begun
    with reading(place.engine) as db:
        done = db.execute(select(func.count()).where(ClaimRow.state == claims.ClaimState.DONE)).scalar_one()
    whole = done == questions * overlap == len(found.kept)
    _say("ours ", found, took, overlap)
    with unit_of_work(place.engine) as db:
        again = {"state": claims.ClaimState.FREE.value, "person_id": None, "expires_at": None}
        db.execute(update(ClaimRow).where(ClaimRow.position.in_(_first_positions(naive))).values(**again))
    begun = time.perf_counter()
    _say("naive", all_together(place.database_url, people, work_naively, processes=processes),
         time.perf_counter() - begun, overlap)  # fmt: skip
    return whole and not found.beyond(overlap) and not found.falsely_empty


def _first_positions(count: int) -> Select[int]:
    return select(ClaimRow.position).distinct().order_by(ClaimRow.position).limit(count)


def _say(way: str, found: Found, took: float, overlap: int) -> None:
    ordered = sorted(found.seconds)
    print(
        f"  {way}: {found.claims:,} claims in {took:.0f} s ({found.claims / took:,.0f} a second, p95 "
        f"{1000 * ordered[int(0.95 * (len(ordered) - 1))]:.0f} ms), {found.beyond(overlap):,} given out "
        f"twice, {found.falsely_empty} falsely empty, {found.busy:,} times all with others, "
        f"{found.tried_again} told to try again"
    )


def main() -> int:
    """Return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description="Claims from a shared queue, many at once.")
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument(
        "--naive", type=int, default=1_000, help="questions of the naive way (it takes each many times)"
    )
    parser.add_argument("--workers", type=int, default=32)
    parser.add_argument("--overlap", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--databases", nargs="+", choices=list(_PLACES), default=list(_PLACES))
    args = parser.parse_args()
    held = True
    for name in args.databases:
        with (
            tempfile.TemporaryDirectory(prefix="overread-claims-") as folder,
            _PLACES[name](Path(folder)) as place,
        ):
            print(f"{name}: {args.workers} workers, {args.questions:,} questions, overlap {args.overlap}")
            held &= measure(
                place, questions=args.questions, naive=args.naive, workers=args.workers, overlap=args.overlap,
                processes=args.processes,
            )  # fmt: skip
    print("marks held: none twice, none falsely empty" if held else "a mark does NOT hold")
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())
