"""Tests concurrent claims of questions from one shared queue on both databases, compared with a naive method.

32 workers (processes and threads) claim 10,000 questions until none is left; one claim in twenty is returned.
Targets: no question is assigned to more people than the overlap requires, and no worker gets "nothing is
left" while a question is free or claimed by a person who may return it. The naive method reads the first free
question and then writes the claim without checking for other claims.

    python -m benchmarks.claims [--questions 10000] [--workers 32] [--overlap 1] [--databases sqlite postgres]

The naive method only uses the first --naive (1,000) questions: it assigns each of them many times and would
take much longer.
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
from benchmarks.soak_world import SoakWorkspace, open_postgres_workspace, open_sqlite_workspace
from domain.batches import AssignmentState
from domain.errors import NotNow
from domain.people import Person, Role
from review import service as review
from storage.accounts.people import insert_person
from storage.engine import make_engine
from storage.review import assignments, claims
from storage.rows.claims import ClaimRow
from storage.unit_of_work import read_only_session, unit_of_work
from tests.storage.worlds import make_world

BATCH = 1
_RELEASE_PROBABILITY = 0.05
_WORKSPACES = {"sqlite": open_sqlite_workspace, "postgres": open_postgres_workspace}


ClaimStrategy = Callable[[Engine, Person], "ClaimResults"]


@dataclass(slots=True, kw_only=True)
class ClaimResults:
    """The results of the workers: who kept which question, and how often "nothing is left" was wrong."""

    kept_claims: list[tuple[int, int]] = field(default_factory=list)
    claims: int = 0
    busy: int = 0
    false_empty_count: int = 0
    retries: int = 0
    seconds: list[float] = field(default_factory=list)

    def add(self, other_results: ClaimResults) -> None:
        """Merge the results of another worker."""
        self.kept_claims += other_results.kept_claims
        self.seconds += other_results.seconds
        self.claims += other_results.claims
        self.busy += other_results.busy
        self.false_empty_count += other_results.false_empty_count
        self.retries += other_results.retries

    def count_excess(self, overlap: int) -> int:
        """Count the assignments beyond ``overlap``, and repeated assignments of a question to one person."""
        people = Counter(question for _, question in self.kept_claims)
        return (
            sum(max(0, count - overlap) for count in people.values())
            + len(self.kept_claims)
            - len(set(self.kept_claims))
        )


def fill_queue(engine: Engine, *, questions: int, workers: int, overlap: int) -> list[Person]:
    """Create a batch of questions, five per exam, with a shared queue for the workers."""
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
            to=[person.name for person in people],
            overlap=overlap,
            now=now,
        )
    return people


def claim_and_judge(engine: Engine, person: Person) -> ClaimResults:
    """Claim questions and judge or return them until none is left."""
    results, previous_question, rng = ClaimResults(), None, random.Random(person.id)
    while True:
        start = time.perf_counter()
        try:
            claim, claimable_count = _claim_next(engine, person, previous_question)
        except NotNow:  # SQLite ends the wait of a writer after 30 s; the person tries again
            results.retries += 1
            continue
        results.seconds.append(time.perf_counter() - start)
        previous_question = None
        if claim.question is not None:
            results.claims += 1
            if rng.random() < _RELEASE_PROBABILITY and _release_claim(engine, person, claim.question):
                continue
            results.kept_claims.append((person.id, claim.question))
            previous_question = claim.question
        elif claim.free_at is not None:
            results.busy += 1
            time.sleep(0.02)
        else:
            results.false_empty_count += bool(claimable_count)
            return results


def _claim_next(
    engine: Engine, person: Person, previous_question: int | None
) -> tuple[review.NextClaim, int | None]:
    """Claim the next question; if there is none, count the questions that this person could have claimed."""
    with unit_of_work(engine) as db:
        if previous_question is not None:
            _finish_claim(db, person, previous_question)
        claim = review.claim_next(
            db, person=person, batch_id=BATCH, after=previous_question, now=datetime.now(UTC)
        )
        return claim, None if claim.question or claim.free_at else _count_claimable(db, person)


def _release_claim(engine: Engine, person: Person, question: int) -> bool:
    try:
        with unit_of_work(engine) as db:
            review.hand_back(
                db, person=person, batch_id=BATCH, question_row_id=question, now=datetime.now(UTC)
            )
    except NotNow:
        return False
    return True


def claim_naively(engine: Engine, person: Person) -> ClaimResults:
    """Read the first free question, then write the claim."""
    results = ClaimResults()
    while True:
        start = time.perf_counter()
        with read_only_session(engine) as db:
            free = select(ClaimRow.question_id, ClaimRow.turn).where(ClaimRow.state == claims.ClaimState.FREE)
            first_free = db.execute(free.order_by(ClaimRow.turn, ClaimRow.position).limit(1)).first()
        if first_free is None:
            return results
        first_conditions = (ClaimRow.question_id == first_free.question_id, ClaimRow.turn == first_free.turn)
        update_first = update(ClaimRow).where(*first_conditions)
        try:
            with unit_of_work(engine) as db:
                db.execute(update_first.values(state=claims.ClaimState.DONE.value, person_id=person.id))
        except NotNow:
            results.retries += 1
            continue
        results.seconds.append(time.perf_counter() - start)
        results.claims += 1
        results.kept_claims.append((person.id, first_free.question_id))


def run_workers(url: str, people: list[Person], strategy: ClaimStrategy, *, processes: int) -> ClaimResults:
    """Run all workers at once, distributed over several processes."""
    total = ClaimResults()
    groups = [people[number::processes] for number in range(processes)]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for group_results in pool.map(
            partial(_run_threads, url, strategy), [group for group in groups if group]
        ):
            total.add(group_results)
    return total


def _run_threads(url: str, strategy: ClaimStrategy, people: list[Person]) -> ClaimResults:
    engine, total = make_engine(url), ClaimResults()
    with ThreadPoolExecutor(len(people)) as threads:
        for thread_results in threads.map(partial(strategy, engine), people):
            total.add(thread_results)
    engine.dispose()
    return total


def _finish_claim(db: Session, person: Person, question: int) -> None:
    """Change the queue as a verdict does, without saving a verdict."""
    claims.finish_claim(db, batch_id=BATCH, question_id=question, person_id=person.id)
    assignments.set_state(
        db, person_id=person.id, batch_id=BATCH, question_ids=[question], state=AssignmentState.DONE,
        now=datetime.now(UTC),
    )  # fmt: skip


def _count_claimable(db: Session, person: Person) -> int:
    """Count the claimable judgements, plus 1 if another person has a claim that this person could get."""
    claimed_by_others = claims.find_next_expiry(db, batch_id=BATCH, person_id=person.id)
    return claims.count_claimable(db, batch_id=BATCH, person_id=person.id) + bool(claimed_by_others)


def measure_database(
    workspace: SoakWorkspace, *, questions: int, naive: int, workers: int, overlap: int, processes: int
) -> bool:
    """Measure and print both methods on one database; return whether the targets are met."""
    people = fill_queue(workspace.engine, questions=questions, workers=workers, overlap=overlap)
    start = time.perf_counter()
    results = run_workers(workspace.database_url, people, claim_and_judge, processes=processes)
    seconds = time.perf_counter() - start
    with read_only_session(workspace.engine) as db:
        done_count = db.execute(
            select(func.count()).where(ClaimRow.state == claims.ClaimState.DONE)
        ).scalar_one()
    is_complete = done_count == questions * overlap == len(results.kept_claims)
    _print_results("ours ", results, seconds, overlap)
    with unit_of_work(workspace.engine) as db:
        free_values = {"state": claims.ClaimState.FREE.value, "person_id": None, "expires_at": None}
        db.execute(
            update(ClaimRow).where(ClaimRow.position.in_(_first_positions(naive))).values(**free_values)
        )
    start = time.perf_counter()
    _print_results("naive", run_workers(workspace.database_url, people, claim_naively, processes=processes),
         time.perf_counter() - start, overlap)  # fmt: skip
    return is_complete and not results.count_excess(overlap) and not results.false_empty_count


def _first_positions(count: int) -> Select[int]:
    return select(ClaimRow.position).distinct().order_by(ClaimRow.position).limit(count)


def _print_results(label: str, results: ClaimResults, seconds: float, overlap: int) -> None:
    times = sorted(results.seconds)
    print(
        f"  {label}: {results.claims:,} claims in {seconds:.0f} s ({results.claims / seconds:,.0f} per s, "
        f"p95 {1000 * times[int(0.95 * (len(times) - 1))]:.0f} ms), {results.count_excess(overlap):,} "
        f"assigned twice, {results.false_empty_count} falsely empty, {results.busy:,} times all with "
        f"others, {results.retries} asked to try again"
    )


def main() -> int:
    """Return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description="Concurrent claims from a shared queue.")
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument(
        "--naive",
        type=int,
        default=1_000,
        help="number of questions for the naive method (it assigns each many times)",
    )
    parser.add_argument("--workers", type=int, default=32)
    parser.add_argument("--overlap", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--databases", nargs="+", choices=list(_WORKSPACES), default=list(_WORKSPACES))
    args = parser.parse_args()
    targets_met = True
    for name in args.databases:
        with (
            tempfile.TemporaryDirectory(prefix="overread-claims-") as folder,
            _WORKSPACES[name](Path(folder)) as workspace,
        ):
            print(f"{name}: {args.workers} workers, {args.questions:,} questions, overlap {args.overlap}")
            targets_met &= measure_database(
                workspace,
                questions=args.questions,
                naive=args.naive,
                workers=args.workers,
                overlap=args.overlap,
                processes=args.processes,
            )
    print("targets met: none assigned twice, none falsely empty" if targets_met else "a target is MISSED")
    return 0 if targets_met else 1


if __name__ == "__main__":
    raise SystemExit(main())
